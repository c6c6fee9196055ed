"""Metrics at every cut-off, from the stored ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fullrank.experiment.results import Results
from fullrank.metrics import MRR, NDCG, Metric, Recall
from fullrank.report._figure import Figure, Looks, named, spec_of
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import percent_text, significant, value_text
from fullrank.report._series import Cases, averaged, intervals_of

K_MAX = 100
SHOWN = (1, 2, 5, 10, 20, 50, 100)
COARSE = tuple(k for k in range(1, K_MAX + 1) if k <= 10 or k % 5 == 0)
GRIDS = (tuple(range(1, K_MAX + 1)), COARSE, SHOWN)
VALUES = 10_000_000
"""Per-query values of one family of metrics at once: 80 MB of float64, before copies."""


def cutoffs(n_queries: int) -> tuple[int, ...]:
    """Every k up to 100 if that fits into memory, fewer for very many queries."""
    return next((ks for ks in GRIDS if n_queries * len(ks) <= VALUES), SHOWN)


def families(results: Results, limit: int = 4) -> list[Metric]:
    """Rank metrics with a cut-off that the benchmark asked for, then NDCG, Recall and MRR."""
    asked = [m for m in results.metrics if m.source == "ranks" and m.cutoff != "none"]
    whole = [replace(metric, k=None) for metric in asked]
    return list(dict.fromkeys([*whole, NDCG, Recall, MRR]))[:limit]


def curve_figures(results: Results, data: str, looks: Looks) -> dict[str, list[Figure]]:
    """Figures by segment of users, one for each family of metrics that has a value there."""
    cases = Cases.of(results, data)
    ks = cutoffs(len(cases.users))
    out: dict[str, list[Figure]] = {users: [] for users in cases.segments}
    for family in families(results):
        metrics = [replace(family, k=k) for k in ks]
        rows: dict[str, list[dict[str, Any]]] = {users: [] for users in out}
        for model in (m for m in results.models if results.of(data, m)):
            values = averaged(results, data, model, metrics)
            for users, mask in cases.segments.items():
                found = intervals_of(
                    values[mask], cases.users[mask], metrics, results.spec.level, "analytic"
                )
                rows[users] += [
                    {
                        "model": model,
                        "k": k,
                        "value": significant(e.value),
                        "low": significant(e.low),
                        "high": significant(e.high),
                    }
                    for k, e in zip(ks, found)
                ]
        for users, points in rows.items():
            if any(point["value"] is not None for point in points):
                out[users].append(_figure(str(family), points, looks))
    return {users: figures for users, figures in out.items() if figures}


def curve_note(results: Results) -> str:
    """What the bands are, the same for all figures."""
    return f"Bands: {percent_text(results.spec.level)} analytic interval by user. k on a log axis."


def _figure(name: str, rows: Sequence[dict[str, Any]], looks: Looks) -> Figure:
    import altair as alt

    x = alt.X(
        "k:Q",
        scale=alt.Scale(type="log", domain=[1, K_MAX], nice=False),
        axis=alt.Axis(values=list(SHOWN), title="k", grid=False, format="d"),
    )
    y = alt.Y("value:Q", title=f"{name}@k")
    base = alt.Chart(named()).encode(x=x, color=looks.colour())
    band = base.mark_area(clip=True).encode(
        y=alt.Y("low:Q", title=f"{name}@k"),
        y2="high:Q",
        opacity=alt.value(0.13),
    )
    line = base.mark_line(strokeWidth=1.8).encode(y=y, strokeDash=looks.dash())
    tip = [alt.Tooltip("model:N"), alt.Tooltip("k:Q")]
    tip += [alt.Tooltip(f"{field}:Q", format=".4f") for field in ("value", "low", "high")]
    dots = base.mark_circle(size=60, opacity=0).encode(y=y, tooltip=tip)
    chart = alt.layer(band, line, dots).properties(width="container", height=260)
    return Figure(f"{name}@k", spec_of(chart, rows), grid=_grid(rows, looks))


def _grid(rows: Sequence[dict[str, Any]], looks: Looks) -> Grid:
    by_key = {(row["model"], row["k"]): row["value"] for row in rows}
    models = [model for model in looks.models if (model, 1) in by_key]
    cells = tuple(
        (Cell(model), *(Cell(value_text(by_key.get((model, k)))) for k in SHOWN))
        for model in models
    )
    return Grid("", ("model", *(f"@{k}" for k in SHOWN)), cells)
