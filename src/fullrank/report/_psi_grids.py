"""Tables and sentences of Psi."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fullrank.core.brief import count
from fullrank.experiment.psi import PsiResults
from fullrank.experiment.psi.run import metrics_of
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import (
    UNDEFINED,
    interval_text,
    joules_text,
    known,
    p_text,
    percent_text,
    seconds_text,
    value_text,
)
from fullrank.subsample.psi import Comparison, Value

UNITS = {"split": "splits", "sampler": "draws of the samplers", "training": "trainings"}
SHOWN = 12
"""Rows of long tables that the text shows; the page and JSON have all."""


def reading(found: PsiResults) -> list[str]:
    """What was measured, what is missing, and what it comes to."""
    terms, spec = found.terms, found.spec
    models = "; ".join(
        f"{s.name}: {', '.join(m.title for m in s.model)}, by {', '.join(s.metrics)}"
        for s in spec.scenario
    )
    out = [
        f"{spec.data.name}. {models}. {count(len(terms.samplers), 'sampler')}, "
        f"sizes {', '.join(percent_text(keep) for keep in spec.keep)} of the training rows.",
        f"Psi is the mean of tau-b over lambda = {len(terms.common)} of "
        f"{count(len(terms.places), 'term')} (scenario × metric × size) that every sampler has, "
        f"each the mean of {_repeats(found)}.",
    ]
    if terms.missing:
        lost = len(terms.places) - len(terms.common)
        out.append(
            f"{count(len(terms.missing), 'agreement')} could not be had, which takes "
            f"{count(lost, 'term')} from all samplers; the table of missing terms says why."
        )
    return [*out, *_verdict(found)]


def _repeats(found: PsiResults) -> str:
    n = len(found.terms.repeats)
    if n == 1:
        return "one repeat: nothing is known of how another split or draw would come out"
    return f"{n} repeats ({found.terms.units} {UNITS[found.terms.unit]})"


def _verdict(found: PsiResults) -> list[str]:
    """The best sampler, what it is told apart from, and who is no better than chance."""
    rows = [row for row in found.standings if known(row.psi["tau"].value)]
    if not rows:
        return ["No term is left that every sampler has, so that there is no Psi."]
    top = max(rows, key=lambda row: row.psi["tau"].value or -2.0)
    told = [c for c in found.comparisons if top.sampler in (c.first, c.second) and _told(c)]
    names = [c.second if c.first == top.sampler else c.first for c in told]
    out = [f"Highest: {top.sampler}, Psi {_value(top.psi['tau'])}."]
    if found.comparisons:
        test = found.comparisons[0].test
        out[0] += f" Told apart from it: {', '.join(names) or 'none'} (Holm, 5 %; {test})."
    chance = [s for s, null in found.nulls.items() if null.p_value > 0.05]
    if chance:
        out.append(
            f"No better than permuted labels of the algorithms (p > 0.05): {', '.join(chance)}."
        )
    return out


def _told(row: Comparison) -> bool:
    return row.adjusted is not None and row.adjusted <= 0.05


def _value(value: Value) -> str:
    ends = interval_text(value.low, value.high, 3)
    return f"{value_text(value.value, 3)} {ends}".rstrip()


def _cell(value: Value, best: bool = False) -> Cell:
    ends = interval_text(value.low, value.high, 3)
    return Cell(value_text(value.value, 3), more=(ends,) if ends else (), best=best)


def psi_grid(found: PsiResults) -> Grid:
    """One row a sampler."""
    terms = found.terms
    repeated, apart = terms.units > 1, any(t.warm is not None for t in terms.terms)
    lacking = any(row.own_terms != len(terms.common) for row in found.standings)
    top = _top(row.psi["tau"].value for row in found.standings)
    rows = []
    for row in found.standings:
        tau, null = row.psi["tau"], found.nulls.get(row.sampler)
        rows.append(
            (
                Cell(row.sampler),
                _cell(tau, best=known(tau.value) and tau.value == top),
                *([Cell(interval_text(tau.low_repeats, tau.high_repeats, 3) or UNDEFINED)]
                  if repeated else []),
                *(Cell(value_text(row.psi[name].value, 3))
                  for name in ("weighted_tau", "top1", "top3")),
                *([Cell(value_text(row.warm, 3))] if apart else []),
                Cell(UNDEFINED if null is None else p_text(null.p_value).removeprefix("p = ")),
                *([Cell(value_text(row.own, 3), more=(f"({row.own_terms})",))] if lacking else []),
            )
        )  # fmt: skip
    header = (
        "sampler", "Psi", *(["over repeats"] if repeated else []), "weighted tau", "top 1", "top 3",
        *(["warm users"] if apart else []), "chance p", *(["own terms"] if lacking else []),
    )  # fmt: skip
    return Grid("Psi", header, tuple(rows), _psi_notes(found, repeated, apart, lacking))


def _top(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None and known(value)), default=None)


def _psi_notes(found: PsiResults, repeated: bool, apart: bool, lacking: bool) -> tuple[str, ...]:
    terms, level = found.terms, percent_text(found.terms.level)
    exact = all(null.exact for null in found.nulls.values())
    return (
        f"Psi: mean tau-b; behind it the {level} interval over users: {found.spec.resamples:,} "
        "resamples, a user drawn alike on the full data and all samples. Resampled orders are "
        "noisier than the measured ones, so that it leans to 0.",
        *([f"over repeats: {level} t interval over {terms.units} {UNITS[terms.unit]}."]
          if repeated else []),
        "top k: expected share, among the k algorithms that the sample puts first, of those with "
        "fewer than k better ones on the full data; only where there are more than k.",
        *(["warm users: Psi over the users that a sample leaves a training row, on both sides."]
          if apart else []),
        "chance p: share of relabelled algorithms with as high a Psi "
        f"({'all relabellings' if exact else 'drawn'}, one permutation a scenario).",
        *(["own terms: mean over all terms that the sampler has, and how many; no comparison."]
          if lacking else []),
        *(["Algorithms tie if the paired interval of their difference holds 0."]
          if found.spec.ties == "intervals" else []),
    )  # fmt: skip


def group_grid(found: PsiResults, by: str) -> Grid | None:
    """Psi by size, scenario or metric; None where there is one group."""
    spec = found.spec
    names: dict[str, Sequence[Any]] = {
        "size": spec.keep,
        "scenario": [scenario.name for scenario in spec.scenario],
        "metric": metrics_of(spec),
    }
    if len(names[by]) < 2:
        return None
    tables = [getattr(row, f"by_{by}") for row in found.standings]
    rows = tuple(
        (Cell(row.sampler), *(_cell(table.get(name, Value(None))) for name in names[by]))
        for row, table in zip(found.standings, tables, strict=True)
    )
    texts = [percent_text(n) if by == "size" else str(n) for n in names[by]]
    return Grid(f"Tau by {by}", ("sampler", *texts), rows)


def comparison_grid(found: PsiResults, most: int | None = None) -> Grid | None:
    """Samplers against each other, the surest difference first."""
    pairs = found.comparisons
    if not pairs:
        return None
    shown = sorted(pairs, key=lambda c: 2.0 if c.p_value is None else c.p_value)[:most]
    rows = tuple(
        (
            Cell(f"{c.first} − {c.second}"),
            Cell(
                value_text(c.difference, 3, sign=True),
                more=tuple(t for t in (interval_text(c.low, c.high, 3),) if t),
            ),
            Cell(p_text(c.p_value).removeprefix("p = ")),
            Cell(p_text(c.adjusted).removeprefix("p = ")),
        )
        for c in shown
    )
    cut = len(shown) < len(pairs)
    notes = (
        f"Differences of Psi over the same terms and repeats. p and interval: {pairs[0].test}; "
        f"Holm: adjusted over {count(len(pairs), 'comparison')}.",
        *(
            ["Two repeats hardly tell how far repeats differ: a small p may be luck."]
            if found.terms.units == 2
            else []
        ),
        *([f"The {most} surest of {len(pairs)}; --json and --report have all."] if cut else []),
    )
    return Grid("Samplers compared", ("samplers", "difference", "p", "Holm"), rows, notes)


def cost_grid(found: PsiResults) -> Grid:
    """Time of a study on a sample against that on the full data."""
    energy = any(row.joules is not None for row in found.costs)
    rows = tuple(
        (
            Cell(f"{row.sampler} {percent_text(row.keep)}" if row.sampler else "full data"),
            Cell(seconds_text(row.draw_seconds) if row.sampler else UNDEFINED),
            Cell(seconds_text(row.study_seconds)),
            Cell(UNDEFINED if row.share is None else percent_text(row.share)),
            *([Cell(joules_text(row.joules))] if energy else []),
        )
        for row in found.costs
    )
    header = ("study", "drawing", "models", "of the full data", *(["energy"] if energy else []))
    notes = (
        "Wall time of all scenarios on the machine that each cell was made on, mean over splits "
        "and draws. drawing: the sample, with a proxy's training; models: searches, final fits and "
        "ranking. The share has both.",
        *([] if energy else ["Energy: this machine has no counter that can be read."]),
    )
    return Grid("Cost", header, rows, notes)


def missing_grid(found: PsiResults) -> Grid | None:
    """Missing terms by sampler, size and scenario; the first reason of each stands below."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in found.terms.missing:
        key = (one.sampler, percent_text(one.place.keep), one.place.scenario)
        groups.setdefault(key, []).append(one.reason)
    if not groups:
        return None
    reasons = list(dict.fromkeys(group[0] for group in groups.values()))
    rows = tuple(
        (*map(Cell, key), Cell(str(len(group))), Cell(f"({reasons.index(group[0]) + 1})"))
        for key, group in groups.items()
    )
    header = ("sampler", "size", "scenario", "agreements", "why")
    notes = tuple(f"({j}) {reason}" for j, reason in enumerate(reasons, start=1))
    return Grid("Missing terms", header, rows, notes, left=3)


def pair_grid(found: PsiResults) -> Grid | None:
    """Pairs of algorithms by sampler: share of terms in which their order is reversed."""
    keys = dict.fromkeys((p.scenario, p.first, p.second) for p in found.pairs)
    if not keys:
        return None
    share = {(p.sampler, p.scenario, p.first, p.second): p.reversed for p in found.pairs}
    rows = tuple(
        (
            Cell(f"{scenario}: {a}, {b}"),
            *(Cell(percent_text(share[s, scenario, a, b])) for s in found.terms.samplers),
        )
        for scenario, a, b in keys
    )
    title = "Pairs of algorithms: terms in which their order is reversed"
    return Grid(title, ("pair", *found.terms.samplers), rows)


def sample_grid(found: PsiResults) -> Grid:
    """What was kept: rows, users and items, and who is left cold; the first split and draw."""
    first = found.spec.seeds
    rows = tuple(
        (
            Cell(f"{d.which.scenario}: {d.which.sampler} {percent_text(d.which.keep)}"),
            *(
                Cell(f"{d.manifest['realised'][what]['kept']:,}")
                for what in ("rows", "users", "items")
            ),
            Cell(f"{d.manifest['cold_users']['count']:,}"),
        )
        for d in found.grid
        if d.manifest and (d.which.split, d.which.draw) == (first.split[0], first.sampler[0])
    )
    header = ("sample", "rows", "users", "items", "cold users")
    notes = ("Of the first split and draw; --json has all.",)
    return Grid("Samples", header, rows, notes)
