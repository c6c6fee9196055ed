"""Charts of Psi: tau by size, and what a smaller study costs against what it keeps."""

from __future__ import annotations

from typing import Any

from fullrank.experiment.psi import PsiResults
from fullrank.report._figure import Figure, Looks, named, spec_of
from fullrank.report._numbers import known, percent_text, significant
from fullrank.report._psi_grids import cost_grid, group_grid


def psi_figures(found: PsiResults, looks: Looks) -> list[Figure]:
    """Those that have something to show."""
    size, cost = _size_rows(found), _cost_rows(found)
    out = []
    if size:
        tip = f"Mean over scenarios, metrics and repeats; bands: {percent_text(found.terms.level)} "
        grid = group_grid(found, "size")
        out.append(Figure("Tau by size", _lines(size, looks), f"{tip}intervals over users.", grid))
    if cost:
        tip = "One point a sampler and size; left of 100 % time is saved, drawing included."
        out.append(Figure("Time and tau", _scatter(cost, looks), tip, cost_grid(found)))
    return out


def _size_rows(found: PsiResults) -> list[dict[str, Any]]:
    return [
        {
            "model": row.sampler,
            "size": significant(100 * keep),
            "tau": significant(value.value),
            "low": significant(value.low),
            "high": significant(value.high),
        }
        for row in found.standings
        for keep, value in sorted(row.by_size.items())
        if known(value.value)
    ]


def _cost_rows(found: PsiResults) -> list[dict[str, Any]]:
    by_size = {row.sampler: row.by_size for row in found.standings}
    out = []
    for cost in found.costs:
        value = by_size.get(cost.sampler, {}).get(cost.keep)
        if value is None or not known(value.value) or cost.share is None:
            continue
        out.append(
            {
                "model": cost.sampler,
                "size": significant(100 * cost.keep),
                "share": significant(100 * cost.share),
                "tau": significant(value.value),
            }
        )
    return out


def _lines(rows: list[dict[str, Any]], looks: Looks) -> dict[str, Any]:
    import altair as alt

    sizes = sorted({row["size"] for row in rows})
    x = alt.X(
        "size:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=sizes, title="% of the training rows (log axis)", format="~g"),
    )
    scale = alt.Scale(domain=[min(-0.1, *(_low(row) for row in rows)), 1])
    base = alt.Chart(named()).encode(x=x, color=looks.colour())
    y = alt.Y("tau:Q", title="tau-b", scale=scale)
    band = base.mark_area().encode(
        y=alt.Y("low:Q", title="tau-b", scale=scale), y2="high:Q", opacity=alt.value(0.13)
    )
    line = base.mark_line(strokeWidth=1.8).encode(y=y, strokeDash=looks.dash())
    tip = [alt.Tooltip("model:N", title="sampler"), alt.Tooltip("size:Q")]
    tip += [alt.Tooltip(f"{field}:Q", format=".3f") for field in ("tau", "low", "high")]
    dots = base.mark_point(filled=True, size=60, opacity=0.9).encode(y=y, tooltip=tip)
    return spec_of(alt.layer(band, line, dots).properties(width="container", height=280), rows)


def _low(row: dict[str, Any]) -> float:
    return float(row["tau"] if row["low"] is None else min(row["low"], row["tau"]))


def _scatter(rows: list[dict[str, Any]], looks: Looks) -> dict[str, Any]:
    import altair as alt

    x = alt.X(
        "share:Q",
        title="% of the time of the full data",
        scale=alt.Scale(zero=True, nice=True),
    )
    tip = [
        alt.Tooltip("model:N", title="sampler"),
        *(alt.Tooltip(f"{name}:Q", format=".3~g") for name in ("size", "share", "tau")),
    ]
    chart = (
        alt.Chart(named())
        .mark_point(filled=True, size=90, opacity=0.9)
        .encode(x=x, y=alt.Y("tau:Q", title="tau-b"), color=looks.colour(), tooltip=tip)
        .properties(width="container", height=280)
    )
    return spec_of(chart, rows)
