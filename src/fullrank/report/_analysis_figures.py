"""Charts of an analysis."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from fullrank.experiment.analyse import Analysis, Effect, MetricMatrix, Share, Stability
from fullrank.report._analysis_grids import level_names, split_titles, stability_grid, verdict
from fullrank.report._figure import GREY, PALETTE, Figure, Looks, named, spec_of
from fullrank.report._numbers import decimals_for, interval_text, known, significant, value_text
from fullrank.report.board import BETTER, WORSE

COLOURS = {BETTER: PALETTE[4], WORSE: PALETTE[2], "": GREY}


def matrix_figures(
    matrices: Sequence[MetricMatrix], what: str, low: float, tip: str
) -> list[Figure]:
    """Metrics against metrics as a map of colours, one chart a split.

    Args:
        matrices: over all splits, and by split.
        what: the title.
        low: the lowest value that there can be.
        tip: what a row has to do with a column.
    """
    return [
        Figure(
            f"{what}{title}",
            _heat(
                [
                    {
                        **pair,
                        "value": significant(pair["value"]),
                        "text": value_text(pair["value"], 2),
                    }
                    for pair in m.pairs
                    if known(pair["value"])
                ],
                ("row", "column"),
                list(m.metrics),
                low,
            ),
            tip,
        )
        for m, title in zip(matrices, split_titles(matrices), strict=True)
    ]


def stability_figures(analysis: Analysis) -> list[Figure]:
    """Conditions against conditions by each metric, with all pairs as a table."""
    order = [condition.name for condition in analysis.study.conditions]
    out = []
    for metric in dict.fromkeys(row.metric for row in analysis.stability):
        rows = [row for row in analysis.stability if row.metric == metric]
        tip = "Kendall's tau-b between the orders of models under two conditions."
        spec = _heat(_both_ways(rows), ("first", "second"), order, -1.0)
        title = f"Order of models by {metric}"
        out.append(Figure(title, spec, tip, stability_grid(rows), wide=True))
    return out


def _both_ways(rows: Sequence[Stability]) -> list[dict[str, Any]]:
    """Each pair under both of its conditions."""
    return [
        {
            "first": a,
            "second": b,
            "value": significant(row.tau),
            "text": value_text(row.tau, 2),
            "low": significant(row.low),
            "high": significant(row.high),
            "n": row.models,
        }
        for row in rows
        if known(row.tau)
        for a, b in ((row.first, row.second), (row.second, row.first))
    ]


def _heat(
    rows: list[dict[str, Any]], axes: tuple[str, str], order: list[str], low: float
) -> dict[str, Any]:
    import altair as alt

    scale = alt.Scale(domain=[low, 1], scheme="blues" if low == 0 else "redyellowblue")
    base = alt.Chart(named()).encode(
        y=alt.Y(f"{axes[0]}:N", sort=order, title=None, axis=alt.Axis(labelLimit=280)),
        x=alt.X(
            f"{axes[1]}:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=280)
        ),
    )
    tip = [
        *(alt.Tooltip(f"{axis}:N") for axis in axes),
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")),
        alt.Tooltip("n:Q"),
    ]
    boxes = base.mark_rect().encode(
        color=alt.Color("value:Q", scale=scale, title=None), tooltip=tip
    )
    dark = "datum.value > 0.7" if low == 0 else "abs(datum.value) > 0.7"
    text = base.mark_text().encode(
        text="text:N", color=alt.condition(dark, alt.value("#fff"), alt.value("#111"))
    )
    side = max(len(order), 2)
    chart = alt.layer(boxes, text).properties(width="container", height=alt.Step(34))
    return spec_of(chart.properties(height=34 * side), rows)


def effect_figures(analysis: Analysis) -> list[Figure]:
    """Differences with their intervals, one chart a metric."""
    out = []
    for metric in dict.fromkeys(effect.metric for effect in analysis.effects):
        here = [e for e in analysis.effects if e.metric == metric and known(e.difference)]
        if here:
            title = f"Effects on {metric}"
            out.append(Figure(title, _forest(_effect_rows(here), "difference", COLOURS)))
    return out


def _effect_rows(effects: Sequence[Effect]) -> list[dict[str, Any]]:
    names, digits = level_names(effects), decimals_for(e.score for e in effects)
    return [
        {
            "label": f"{e.factor}: {names[e.factor, e.level]} against "
            f"{names[e.factor, e.reference]}",
            "value": significant(e.difference),
            "low": significant(e.low),
            "high": significant(e.high),
            "mark": verdict(e),
            "said": value_text(e.difference, digits, sign=True),
            "interval": interval_text(e.low, e.high, digits),
        }
        for e in effects
    ]


def variance_figures(analysis: Analysis) -> list[Figure]:
    """Shares of terms with their intervals, one chart a metric."""
    shares = [share for share in analysis.variance.shares if share.share is not None]
    return [
        Figure(
            f"Variance of {metric}",
            _forest(
                [_share_row(share) for share in shares if share.metric == metric],
                "share of the variance, %",
                {"": PALETTE[0]},
            ),
        )
        for metric in dict.fromkeys(share.metric for share in shares)
    ]


def _share_row(share: Share) -> dict[str, Any]:
    value, low, high = (
        None if v is None else 100 * v for v in (share.share, share.low, share.high)
    )
    return {
        "label": share.term,
        "value": significant(value),
        "low": significant(low),
        "high": significant(high),
        "mark": "",
        "said": f"{value_text(value, 1)} %",
        "interval": interval_text(low, high, 1),
    }


def _forest(rows: list[dict[str, Any]], axis: str, colours: dict[str, str]) -> dict[str, Any]:
    import altair as alt

    order = [row["label"] for row in rows]
    label = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=320))
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    base = alt.Chart(named()).encode(y=label, color=alt.Color("mark:N", scale=scale, legend=None))
    x = alt.X("low:Q", title=axis, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5))
    lines = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    tip = [alt.Tooltip(f"{name}:N") for name in ("label", "said", "interval")]
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(x="value:Q", tooltip=tip)
    zero = alt.Chart(named()).mark_rule(color="currentColor", strokeDash=[3, 3])
    chart = alt.layer(zero.encode(x=alt.datum(0, type="quantitative")), lines, dots)
    return spec_of(chart.properties(width="container", height=alt.Step(26)), rows)


def cost_figures(analysis: Analysis, looks: Looks) -> list[Figure]:
    """Quality by the first metric against the time of a fit, one chart a condition."""
    metric = str(analysis.study.metrics[0])
    out = []
    for condition in dict.fromkeys(row.condition for row in analysis.costs):
        rows = [
            {
                "model": row.model,
                "seconds": significant(row.cost.fit_seconds),
                "quality": significant(row.quality[metric]),
            }
            for row in analysis.costs
            if row.condition == condition and row.cost.fit_seconds and known(row.quality[metric])
        ]
        if rows:
            title = f"Quality and time, {condition}"
            out.append(Figure(title, _scatter(rows, metric, looks), "Time on a log axis."))
    return out


def _scatter(rows: list[dict[str, Any]], metric: str, looks: Looks) -> dict[str, Any]:
    import altair as alt

    ends = [log10(pick(row["seconds"] for row in rows)) for pick in (min, max)]
    decades = [10.0**n for n in range(floor(ends[0]), ceil(ends[1]) + 1)]
    chart = (
        alt.Chart(named())
        .mark_point(filled=True, size=90, opacity=0.9)
        .encode(
            x=alt.X(
                "seconds:Q",
                scale=alt.Scale(type="log"),
                title="seconds of a fit (log axis)",
                axis=alt.Axis(values=decades, format="~g"),
            ),
            y=alt.Y("quality:Q", title=metric, scale=alt.Scale(zero=False)),
            color=looks.colour(),
            tooltip=["model:N", alt.Tooltip("seconds:Q", format=".3~g"), "quality:Q"],
        )
        .properties(width="container", height=260)
    )
    return spec_of(chart, rows)
