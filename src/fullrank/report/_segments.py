"""Parts of the users by their activity, and of the targets by the popularity of their items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.ragged import as_indptr, rows_of
from fullrank.core.ranked import TargetRanks
from fullrank.experiment.results import CellResult, Results
from fullrank.metrics import Metric, Recall
from fullrank.report._figure import Figure, Looks, named, spec_of
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import interval_text, percent_text, significant, value_text
from fullrank.report._series import Cases, averaged, folds_of, intervals_of


@dataclass(frozen=True)
class Span:
    """A part by a count: ``low <= count <= high``.

    Attributes:
        name: with its bounds, for the axis.
        low: smallest count.
        high: largest count.
    """

    name: str
    low: int
    high: int

    def holds(self, counts: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the counts within."""
        return np.asarray((counts >= self.low) & (counts <= self.high))


def thirds(counts: NDArray[Any], names: Sequence[str], zero: str, unit: str) -> list[Span]:
    """Cut counts into thirds of as equal size as equal counts allow; zeros are a part of their own.

    Args:
        counts: one a query, or one a target.
        names: of the thirds, from the lowest.
        zero: name of those with count 0.
        unit: of the counts, for the axis.
    """
    found = []
    some = counts[counts > 0]
    if len(some) < len(counts):
        found.append(Span(zero, 0, 0))
    if len(some):
        cuts = np.quantile(some, [1 / 3, 2 / 3], method="inverted_cdf").astype(int)
        low = int(some.min())
        for name, high in zip(names, [int(cuts[0]), int(cuts[1]), int(some.max())]):
            if low <= high and bool(np.any((some >= low) & (some <= high))):
                between = f"{low:,}" if low == high else f"{low:,}–{high:,}"
                found.append(Span(f"{name} ({between} {unit})", low, high))
            low = max(low, high + 1)
    return found


def segment_metric(results: Results) -> Metric:
    """The first rank metric of the benchmark; Recall@10 without one."""
    return next((m for m in results.metrics if m.source == "ranks"), Recall @ 10)


def segment_figures(results: Results, data: str, looks: Looks) -> list[Figure]:
    """Bars by activity of the user, and by popularity of the target item; none without values."""
    found = [_by_activity(results, data, looks), _by_popularity(results, data, looks)]
    return [figure for figure in found if figure is not None]


def _by_activity(results: Results, data: str, looks: Looks) -> Figure | None:
    cases, metric = Cases.of(results, data), segment_metric(results)
    spans = thirds(cases.history, ("light", "medium", "heavy"), "cold (no history)", "items")
    rows: list[dict[str, Any]] = []
    for model in (m for m in results.models if results.of(data, m)):
        values = averaged(results, data, model, [metric])
        for span in spans:
            mask = span.holds(cases.history)
            rows.append(
                _row(model, span, values[mask], cases.users[mask], metric, results.spec.level)
            )
    caption = (
        "Queries in thirds by the number of items in the user's history that the models knew; "
        "users without any are apart."
    )
    return _figure(f"{metric} by activity of the user", rows, metric, caption, looks, results)


def _by_popularity(results: Results, data: str, looks: Looks) -> Figure | None:
    cases = Cases.of(results, data)
    metric = Recall @ (segment_metric(results).k or 10)
    pooled = np.concatenate([_target_rows(cell) for cell in folds_of(results, data)])
    spans = thirds(pooled, ("tail", "middle", "head"), "new (0 rows)", "rows")
    rows: list[dict[str, Any]] = []
    for model in (m for m in results.models if results.of(data, m)):
        for span in spans:
            values = averaged(results, data, model, [metric], _only(span))
            rows.append(_row(model, span, values, cases.users, metric, results.spec.level))
    shares = ", ".join(f"{s.name}: {int(s.holds(pooled).sum()):,} targets" for s in spans)
    caption = (
        "Targets in thirds by the rows of their item in the fitted data; the metric looks at the "
        f"targets of one part at a time, ranked among all items. {shares}."
    )
    return _figure(f"{metric} by popularity of the item", rows, metric, caption, looks, results)


def _target_rows(cell: CellResult) -> NDArray[np.int64]:
    """Rows of each target's item in the fitted data ``[t]``."""
    ranked, table = cell.ranked, cell.table("items")
    counts = np.zeros(len(ranked.item_vocab), dtype=np.int64)
    counts[ranked.item_vocab.encode(table["item_id"].to_numpy())] = table["rows"].to_numpy()
    return counts[ranked.items]


def _only(span: Span) -> Callable[[CellResult], TargetRanks]:
    """Ranks of the targets of one part; the other targets stay where they stand, as items."""

    def pick(cell: CellResult) -> TargetRanks:
        ranked = cell.ranked
        keep = span.holds(_target_rows(cell))
        rows = rows_of(ranked.indptr)[keep]
        return replace(
            ranked,
            indptr=as_indptr(np.bincount(rows, minlength=len(ranked))),
            **{name: getattr(ranked, name)[keep] for name in ("best", "worst", "gains", "items")},
        )

    return pick


def _row(
    model: str,
    span: Span,
    values: NDArray[np.float64],
    users: NDArray[np.int32],
    metric: Metric,
    level: float,
) -> dict[str, Any]:
    (found,) = intervals_of(values, users, [metric], level)
    return {
        "model": model,
        "part": span.name,
        "value": significant(found.value),
        "low": significant(found.low),
        "high": significant(found.high),
        "queries": found.n_queries,
    }


def _figure(
    title: str,
    rows: Sequence[dict[str, Any]],
    metric: Metric,
    caption: str,
    looks: Looks,
    results: Results,
) -> Figure | None:
    import altair as alt

    if all(row["value"] is None for row in rows):
        return None
    parts = list(dict.fromkeys(row["part"] for row in rows))
    counts = {row["part"]: row["queries"] for row in rows}
    tip = [alt.Tooltip("model:N"), alt.Tooltip("part:N")]
    tip += [alt.Tooltip(f"{name}:Q", format=".4f") for name in ("value", "low", "high")]
    base = alt.Chart(named()).encode(
        x=alt.X("part:N", sort=parts, title=None, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("model:N", sort=list(looks.models)),
    )
    bars = base.mark_bar().encode(
        y=alt.Y("value:Q", title=str(metric)),
        color=looks.colour(),
        tooltip=[*tip, alt.Tooltip("queries:Q", format=",d")],
    )
    ends = base.mark_rule(color="currentColor", opacity=0.7).encode(y="low:Q", y2="high:Q")
    chart = alt.layer(bars, ends).properties(width="container", height=260)
    level = percent_text(results.spec.level)
    queries = ", ".join(f"{part}: {counts[part]:,}" for part in parts)
    full = f"{caption} Queries: {queries}. Lines: {level} interval by user."
    return Figure(title, spec_of(chart, rows), full, _grid(rows, parts), wide=True)


def _grid(rows: Sequence[dict[str, Any]], parts: Sequence[str]) -> Grid:
    by_key = {(row["model"], row["part"]): row for row in rows}
    cells = tuple(
        (Cell(model), *(_cell(by_key[model, part]) for part in parts))
        for model in dict.fromkeys(row["model"] for row in rows)
    )
    return Grid("", ("model", *parts), cells)


def _cell(row: dict[str, Any]) -> Cell:
    ends = interval_text(row["low"], row["high"])
    return Cell(value_text(row["value"]), more=(ends,) if ends else ())
