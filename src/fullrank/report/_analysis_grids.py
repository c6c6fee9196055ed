"""Tables of an analysis: rounded, with notes that say what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullrank.core.brief import count
from fullrank.experiment.analyse import (
    Analysis,
    Effect,
    FactorStability,
    MetricMatrix,
    Share,
    Stability,
)
from fullrank.experiment.analyse._factors import shortened
from fullrank.experiment.analyse.co_optimality import TIE_RULES
from fullrank.experiment.analyse.effects import PAIRINGS
from fullrank.experiment.analyse.matrix import ALL
from fullrank.report._costs import HEADER, cost_texts
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import (
    UNDEFINED,
    decimals_for,
    interval_text,
    percent_text,
    value_text,
)
from fullrank.report.board import BETTER, WORSE

RESAMPLED = (
    "Intervals: {level} percentiles of {n} resamples of users; a user is drawn alike under all "
    "models and conditions of a data set. Resampled orders are noisier than the measured one, so "
    "that intervals of tau lean to lower values."
)


_OTHER_TASK = (
    "No mark where other queries are tested or other items are candidates: there a difference is "
    "of the task as much as of the models, and the stability of ranks says whether conclusions "
    "hold."
)
_ORDERS = (
    "Order of a fit, as the model's class states it: |R| rows, m users, n items, d factors, |S_u| "
    "items of a user."
)


def resampled_note(analysis: Analysis) -> str:
    """How intervals over users are made."""
    level = percent_text(analysis.study.level)
    return RESAMPLED.format(level=level, n=f"{analysis.study.resamples:,}")


def split_titles(matrices: Sequence[MetricMatrix]) -> list[str]:
    """What the title of each matrix ends in: the split, without settings if that is enough."""
    names = shortened(matrix.split for matrix in matrices)
    return ["" if m.split == ALL else f", {names[m.split]}" for m in matrices]


def matrix_grid(matrix: MetricMatrix, title: str, notes: Sequence[str] = ()) -> Grid:
    """Metrics against metrics; how many numbers stand behind each if that varies."""
    counts = {int(n) for n in matrix.counts.ravel()}
    one = counts.pop() if len(counts) == 1 else None
    rows = tuple(
        (Cell(name), *(_matrix_cell(matrix, i, j, one) for j in range(len(matrix.metrics))))
        for i, name in enumerate(matrix.metrics)
    )
    behind = f" ({_counted(one, matrix.unit)})" if one is not None else ""
    return Grid(f"{title}{behind}", ("", *matrix.metrics), rows, tuple(notes))


def _matrix_cell(matrix: MetricMatrix, i: int, j: int, one: int | None) -> Cell:
    value = float(matrix.values[i, j])
    if i == j or value != value:
        return Cell(value_text(value, 2))
    ends = interval_text(float(matrix.low[i, j]), float(matrix.high[i, j]), 2)
    n = f"n = {matrix.counts[i, j]:,}" if one is None else ""
    return Cell(value_text(value, 2), more=tuple(part for part in (ends, n) if part))


def _counted(n: int, unit: str) -> str:
    return count(n, unit.removesuffix("s"))


def co_optimality_grids(analysis: Analysis) -> list[Grid]:
    """The matrix over all splits, then by split."""
    found = analysis.co_optimality
    if found is None:
        return []
    notes = (
        "Row to column: how often the settings that are best by the row's metric on validation "
        f"are best by the column's too. A case is one search (model, condition, fold); "
        f"{TIE_RULES[found.ties]}. Intervals are over cases, taken as independent.",
        *(f"Left out: {text}." for text in found.lacking),
    )
    return [
        matrix_grid(matrix, f"Co-optimality{title}", () if title else notes)
        for matrix, title in zip(found.matrices, split_titles(found.matrices), strict=True)
    ]


def correlation_grids(analysis: Analysis) -> list[Grid]:
    """The matrix over all splits, then by split."""
    notes = (
        "Kendall's tau-b between the orders of models that two metrics give, mean over conditions.",
        resampled_note(analysis),
    )
    return [
        matrix_grid(matrix, f"Correlation of metrics{title}", () if title else notes)
        for matrix, title in zip(analysis.correlation, split_titles(analysis.correlation))
    ]


def by_factor_grid(analysis: Analysis) -> Grid | None:
    """Mean tau over pairs of conditions that differ in one factor alone."""
    rows = analysis.by_factor
    if not rows:
        return None
    metrics = tuple(dict.fromkeys(row.metric for row in rows))
    by_key = {(row.factor, row.metric): row for row in rows}
    cells = tuple(
        (Cell(factor), *(_factor_cell(by_key.get((factor, metric))) for metric in metrics))
        for factor in dict.fromkeys(row.factor for row in rows)
    )
    notes = (
        "Kendall's tau-b between the orders of models under two conditions that differ in this "
        "factor alone, mean over such pairs; in how many the best model is another.",
        resampled_note(analysis),
    )
    return Grid("Stability of ranks", ("one factor changes", *metrics), cells, notes)


def _factor_cell(row: FactorStability | None) -> Cell:
    if row is None:
        return Cell(UNDEFINED)
    more = (interval_text(row.low, row.high, 2), f"best differs in {row.flips} of {row.pairs}")
    return Cell(value_text(row.tau, 2), more=tuple(part for part in more if part))


def stability_grid(rows: Sequence[Stability], most: int | None = None) -> Grid:
    """Pairs of conditions by one metric; the ``most`` pairs of the lowest tau if there are more."""
    shown = sorted(rows, key=lambda row: 2.0 if row.tau is None else row.tau)[:most]
    cells = tuple(
        (
            Cell(f"{row.first} | {row.second}"),
            Cell(
                value_text(row.tau, 2),
                more=tuple(part for part in (interval_text(row.low, row.high, 2),) if part),
            ),
            Cell(str(row.models)),
            Cell(_best(row)),
            Cell(UNDEFINED if row.flip_rate is None else percent_text(round(row.flip_rate, 3))),
        )
        for row in shown
    )
    header = ("conditions", "tau-b", "models", "best model", "flips")
    cut = len(shown) < len(rows)
    notes = (
        "flips: share of resamples in which the best model is another.",
        *([f"The {most} lowest of {len(rows):,} pairs; --json and -o have all."] if cut else []),
    )
    metric = rows[0].metric if rows else ""
    return Grid(f"Order of models between conditions, {metric}", header, cells, notes)


def _best(row: Stability) -> str:
    first, second = (", ".join(names) or UNDEFINED for names in (row.best_first, row.best_second))
    return first if not row.flips else f"{first} | {second}"


def effects_grid(analysis: Analysis) -> Grid | None:
    """One row a level of a factor against its reference, one column a metric."""
    effects = analysis.effects
    if not effects:
        return None
    names = level_names(effects)
    metrics = tuple(dict.fromkeys(effect.metric for effect in effects))
    by_key = {(e.factor, e.level, e.metric): e for e in effects}
    digits = {m: decimals_for(e.score for e in effects if e.metric == m) for m in metrics}
    rows = tuple(
        (
            Cell(f"{factor}: {names[factor, level]} against {_reference(by_key, factor, level)}"),
            *(_effect_cell(by_key[factor, level, m], digits[m]) for m in metrics),
            *_users(by_key[factor, level, metrics[0]]),
        )
        for factor, level in dict.fromkeys((e.factor, e.level) for e in effects)
    )
    used = dict.fromkeys(effect.pairing for effect in effects)
    notes = (
        "Difference of a level to its reference where nothing else differs, mean over contexts "
        "(a model under a condition, each counting alike); behind it the two scores. "
        f"{BETTER} better, {WORSE} worse: the interval by itself excludes 0, not corrected for how "
        "many there are.",
        *(f"{name}: {PAIRINGS[name]}." for name in used),
        *([] if all(effect.same_task for effect in effects) else [_OTHER_TASK]),
        resampled_note(analysis).partition("; a user")[0] + ".",
    )
    header = ("factor", *metrics, "contexts", "users")
    return Grid("One factor at a time", header, rows, notes)


def level_names(effects: Sequence[Effect]) -> dict[tuple[str, str], str]:
    """Levels without their settings where that tells them apart."""
    out: dict[tuple[str, str], str] = {}
    for factor in dict.fromkeys(effect.factor for effect in effects):
        here = [effect for effect in effects if effect.factor == factor]
        short = shortened([level for e in here for level in (e.reference, e.level)])
        out |= {(factor, level): name for level, name in short.items()}
    return out


def _reference(by_key: Mapping[tuple[str, str, str], Effect], factor: str, level: str) -> str:
    effect = next(e for (f, name, _), e in by_key.items() if (f, name) == (factor, level))
    return level_names(list(by_key.values()))[factor, effect.reference]


def decided(effect: Effect) -> bool:
    """True if the interval of an effect excludes 0."""
    return (
        effect.low is not None and effect.high is not None and not (effect.low <= 0 <= effect.high)
    )


def verdict(effect: Effect) -> str:
    """Mark of an effect in the same task whose interval excludes 0.

    Where other queries are tested, or other items are candidates, higher is easier, not better.
    """
    if not decided(effect) or not effect.same_task:
        return ""
    return BETTER if ((effect.difference or 0) > 0) == effect.higher_is_better else WORSE


def _effect_cell(effect: Effect, digits: int) -> Cell:
    scores = [value_text(v, digits) for v in (effect.score, effect.reference_score)]
    ends = interval_text(effect.low, effect.high, digits)
    more = (ends, f"{scores[0]} against {scores[1]}")
    value = value_text(effect.difference, digits, sign=True)
    return Cell(value, verdict(effect), tuple(part for part in more if part))


def _users(effect: Effect) -> tuple[Cell, Cell]:
    shared = f", {percent_text(round(effect.shared, 3))}" if effect.pairing == "partly" else ""
    return Cell(str(effect.contexts)), Cell(f"{effect.pairing}{shared}")


def variance_grid(analysis: Analysis) -> Grid | None:
    """Shares of terms, one column a metric."""
    found = analysis.variance
    if not found.shares:
        return None
    metrics = tuple(dict.fromkeys(share.metric for share in found.shares))
    by_key = {(share.term, share.metric): share for share in found.shares}
    rows = tuple(
        (Cell(term), _df(by_key, term), *(_share_cell(by_key.get((term, m))) for m in metrics))
        for term in dict.fromkeys(share.term for share in found.shares)
    )
    how = (
        "The design is balanced: shares sum to 100 %."
        if found.balanced
        else "The design is not balanced (some combinations of levels are missing or repeated): "
        "each share is what a term explains beyond all others (type II), and they need not sum to "
        "100 %."
    )
    notes = (
        f"Shares of the sum of squares of {count(found.units, 'score')}, one a model and "
        f"condition. {how}",
        *(f"{name}: no share of its own, other factors account for it." for name in found.aliased),
        "Intervals resample users; resampled scores are noisier, so that they lean to small terms.",
    )
    return Grid("Where the variance of scores comes from", ("term", "df", *metrics), rows, notes)


def _df(by_key: Mapping[tuple[str, str], Share], term: str) -> Cell:
    return Cell(str(next(share.df for (name, _), share in by_key.items() if name == term)))


def _share_cell(share: Share | None) -> Cell:
    if share is None or share.share is None:
        return Cell(UNDEFINED)
    low, high = (None if end is None else 100 * end for end in (share.low, share.high))
    more = interval_text(low, high, 1)
    return Cell(f"{100 * share.share:.1f} %", more=(more,) if more else ())


def costs_grid(analysis: Analysis) -> Grid | None:
    """Time, memory and energy beside quality, one row a model and condition."""
    rows = analysis.costs
    if not rows:
        return None
    energy = any(row.cost.joules is not None for row in rows)
    stated = any(row.complexity for row in rows)
    many = len({row.condition for row in rows}) > 1
    metrics = tuple(map(str, analysis.study.metrics))
    digits = {m: decimals_for(row.quality[m] for row in rows) for m in metrics}
    cells = tuple(
        (
            Cell(f"{row.condition}: {row.model}" if many else row.model),
            *(Cell(value_text(row.quality[m], digits[m])) for m in metrics),
            *(Cell(text) for text in cost_texts(row.cost, energy=energy)),
            *([Cell(row.complexity or UNDEFINED)] if stated else []),
        )
        for row in rows
    )
    more = (*(["energy"] if energy else []), *(["order of a fit"] if stated else []))
    notes = (
        "Means over the final fits (folds × seeds), wall time on the machine that each store was "
        "made on. Peak memory is that of the whole process; search time is that of all trials.",
        *([_ORDERS] if stated else []),
    )
    return Grid("Cost beside quality", ("model", *metrics, *HEADER[1:], *more), cells, notes)
