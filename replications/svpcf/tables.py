"""Tables of the page as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

import polars as pl

from fullrank.subsample.psi import Standing, Value, compare_samplers, standings
from replications.svpcf import numbers, parts
from replications.svpcf.numbers import Found, Gap

LABELS = tuple(str(one["label"]) for one in parts.SAMPLERS)
RANDOM = "rows, random"


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def signed(value: float | None) -> str:
    """Three digits and a sign; nothing for what is not known."""
    return "" if value is None or isnan(value) else f"{value:+.3f}"


def ranged(value: Value | None) -> str:
    """A value with the interval over repeats, where there are several."""
    if value is None or value.value is None:
        return ""
    if value.low_repeats is None:
        return signed(value.value)
    return f"{signed(value.value)} [{signed(value.low_repeats)}, {signed(value.high_repeats)}]"


def bold(cells: Mapping[str, float | None]) -> Mapping[str, str]:
    """Three digits, the largest in bold."""
    known = [value for value in cells.values() if value is not None]
    best = max(known, default=None)
    return {k: f"**{signed(v)}**" if v == best and known else signed(v) for k, v in cells.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    """Of all; None where one is missing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _standings(sets: Sequence[Found]) -> dict[str, dict[str, Standing]]:
    return {one.name: {row.sampler: row for row in standings(one.terms)} for one in sets}


def psi(sets: Sequence[Found]) -> str:
    """Psi by sampler and data set, with the mean over data sets."""
    found = _standings(sets)
    mean = {
        label: _mean([rows[label].psi["tau"].value for rows in found.values()]) for label in LABELS
    }
    shown = bold(mean)
    heads = ["sampler", *(f"{one.name} ({len(one.terms.common)} terms)" for one in sets), "mean"]
    rows = [
        [label, *(ranged(found[name][label].psi["tau"]) for name in found), shown[label]]
        for label in LABELS
    ]
    return markdown(heads, rows)


def others(sets: Sequence[Found]) -> str:
    """Weighted tau, agreement at the top, warm users: means over data sets."""
    found = _standings(sets)
    rows = []
    for label in LABELS:
        mine = [by_label[label] for by_label in found.values()]
        cells = [_mean([row.psi[name].value for row in mine]) for name in numbers.MEASURES]
        cells.append(_mean([row.warm for row in mine]))
        rows.append([label, *map(signed, cells)])
    return markdown(["sampler", "tau", "weighted tau", "top 1", "top 3", "tau, warm users"], rows)


def sizes(sets: Sequence[Found]) -> str:
    """Tau by size: means over data sets."""
    found = _standings(sets)
    columns = {
        keep: bold(
            {
                label: _mean([_of(rows[label].by_size, keep) for rows in found.values()])
                for label in LABELS
            }
        )
        for keep in parts.KEEP
    }
    rows = [[label, *(columns[keep][label] for keep in parts.KEEP)] for label in LABELS]
    return markdown(["sampler", *(f"{100 * keep:g} %" for keep in parts.KEEP)], rows)


def scenarios(sets: Sequence[Found]) -> str:
    """Tau by scenario: means over the data sets that have it."""
    found = _standings(sets)
    columns = {}
    for scenario in parts.SPLITS:
        has = [
            rows
            for rows in found.values()
            if any(scenario in row.by_scenario for row in rows.values())
        ]
        columns[scenario] = bold(
            {
                label: _mean([_of(rows[label].by_scenario, scenario) for rows in has])
                for label in LABELS
            }
        )
    rows = [[label, *(columns[name][label] for name in columns)] for label in LABELS]
    return markdown(["sampler", *columns], rows)


def _of(values: Mapping[Any, Value], key: Any) -> float | None:
    found = values.get(key)
    return None if found is None else found.value


def compared(sets: Sequence[Found]) -> str:
    """Each sampler less random rows: on each data set over splits, Holm-adjusted."""
    known = {
        one.name: {c.first: c for c in compare_samplers(one.terms, baseline=RANDOM)}
        for one in sets
        if one.terms.units > 1
    }
    if not known:
        return "No data set has two seeds yet."
    rows = []
    for label in LABELS:
        if label == RANDOM:
            continue
        cells = []
        for by_label in known.values():
            one = by_label[label]
            p = "" if one.adjusted is None else f" (p {one.adjusted:.2f})"
            cells.append(f"{signed(one.difference)} [{signed(one.low)}, {signed(one.high)}]{p}")
        rows.append([label, *cells])
    return markdown(["sampler", *known], rows)


def across(sets: Sequence[Found], *, warm: bool = False) -> str:
    """Each sampler less random rows and less random users, over data sets.

    Args:
        sets: the data sets.
        warm: of the users that the samples leave a row.
    """
    gaps = [numbers.against(sets, base, warm=warm) for base in (RANDOM, parts.BASELINE)]
    mean = bold(numbers.means(sets, warm=warm))
    rows = []
    for label in LABELS:
        cells = [cell for against in gaps for cell in _gap(against.get(label))]
        rows.append([label, mean.get(label, ""), *cells, str(_best(sets, label, warm=warm))])
    heads = ["sampler", "mean", "less random rows", "p (Holm)", "less random users", "p (Holm)"]
    return markdown([*heads, "best on"], rows)


def kinds(sets: Sequence[Found]) -> str:
    """Each sampler less random rows by scenario, over data sets."""
    counts = {
        name: sum(any(place.scenario == name for place in one.shared) for one in sets)
        for name in parts.SPLITS
    }
    rows = [
        [label, *(str(numbers.by_scenario(sets, name, label, RANDOM)) for name in parts.SPLITS)]
        for label in LABELS
        if label != RANDOM
    ]
    heads = [f"{name} ({n} data sets)" for name, n in counts.items()]
    return markdown(["sampler", *heads], rows)


def _gap(found: Gap | None) -> tuple[str, str]:
    """A difference and its adjusted p; nothing for a sampler and itself."""
    if found is None or not found.n:
        return "", ""
    return str(found), "" if isnan(found.adjusted) else f"{found.adjusted:.3f}"


def _best(sets: Sequence[Found], label: str, *, warm: bool) -> int:
    """Data sets on which the sampler is the best."""
    count = 0
    for one in sets:
        values = {name: one.worth(name, warm=warm) for name in one.terms.samplers}
        known = {name: value for name, value in values.items() if value is not None}
        count += bool(known) and max(known, key=lambda name: known[name]) == label
    return count


def data(sets: Sequence[Found]) -> str:
    """What each data set is and what it has."""
    rows = []
    for one in sets:
        values = {name: one.psi(name, one.shared) for name in one.terms.samplers}
        known = {name: value for name, value in values.items() if value is not None}
        best = max(known, key=lambda name: known[name]) if known else ""
        scenarios = dict.fromkeys(place.scenario for place in one.terms.places)
        rows.append(
            [
                one.name,
                ", ".join(scenarios),
                f"{one.rows_a_user:.1f}",
                str(len(one.terms.repeats)),
                f"{len(one.terms.common)} of {len(one.terms.places)}",
                best,
                signed(known.get(best)),
                signed(known.get(RANDOM)),
            ]
        )
    heads = ["data set", "scenarios", "training rows a user", "seeds", "terms in common"]
    return markdown([*heads, "best sampler", "its Psi", "random rows"], rows)


def missing(sets: Sequence[Found]) -> str:
    """Terms that are missing, by reason."""
    rows = []
    for one in sets:
        reasons = Counter((m.sampler, m.place.keep, m.reason) for m in one.terms.missing)
        for (sampler, keep, reason), count in sorted(reasons.items()):
            rows.append([one.name, sampler, f"{100 * keep:g} %", str(count), reason])
    if not rows:
        return "No term is missing."
    return markdown(["data set", "sampler", "size", "terms", "reason"], rows)


def costs(sets: Sequence[Found]) -> str:
    """Time on a sample in percent of that on the full data, without and with the drawing."""
    found = {(row["sampler"], row["keep"]): row for row in numbers.shares(sets)}
    keeps = sorted({keep for _, keep in found}, reverse=True)  # type: ignore[type-var]
    rows = []
    for label in LABELS:
        cells = []
        for keep in keeps:
            row = found.get((label, keep))
            cells.append(
                "" if row is None else f"{_percent(row['study'])} / {_percent(row['both'])}"
            )
        rows.append([label, *cells])
    return markdown(["sampler", *(f"{100 * keep:g} %" for keep in keeps)], rows)  # type: ignore[operator]


def _percent(value: object) -> str:
    return "" if value is None else f"{100 * float(str(value)):.0f}"


def traps(table: pl.DataFrame) -> str:
    """Psi without and with each trap: means over seeds, and the range of differences."""
    rows = []
    for (trap, sampler), part in table.group_by("trap", "sampler", maintain_order=True):
        change = (part["with"] - part["without_same_terms"]).drop_nulls()
        rows.append(
            [
                str(trap),
                str(sampler),
                signed(part["without"].mean()),  # type: ignore[arg-type]
                signed(part["with"].mean()),  # type: ignore[arg-type]
                f"{_count(part, 'terms_without')} → {_count(part, 'terms_with')}",
                signed(change.mean()),  # type: ignore[arg-type]
                f"{signed(change.min())} … {signed(change.max())}" if len(change) else "",  # type: ignore[arg-type]
            ]
        )
    heads = ["trap", "sampler", "Psi without", "with", "terms", "change over the same terms"]
    seeds = ", ".join(map(str, table["seed"].unique().sort()))
    return f"Means over the seeds {seeds}.\n\n{markdown([*heads, 'by seed'], rows)}"


def _count(part: pl.DataFrame, column: str) -> str:
    return f"{float(str(part[column].mean())):g}"
