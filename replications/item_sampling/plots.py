"""Plots of the study as SVG: what a sample can't see, and what each size of it buys."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import vl_convert

from replications.item_sampling.study import Kept
from replications.item_sampling.tables import LAWS, Cells

BLIND = "ml-1m"


def all_of(cells: Cells) -> dict[str, str]:
    """SVG texts by name."""
    charts = {"blind_spot": blind_spot(cells), "efficiency": efficiency(cells)}
    return {name: vl_convert.vegalite_to_svg(chart.to_json()) for name, chart in charts.items()}


def blind_spot(cells: Cells) -> Any:
    """Sampled ranks of each model; and Recall at small k, sampled, estimated and true."""
    mine = {model: cell for (data, model), cell in cells.items() if data == BLIND}
    ranks = [
        {"model": model, "rank": r, "share": float(share)}
        for model, cell in mine.items()
        for r, share in enumerate(cell["first ranks"] / cell["first ranks"].sum())
        if r >= 1 and share > 0
    ]
    left = (
        alt.Chart(alt.Data(values=ranks), title="Ranks among 99 sampled items")
        .mark_line(interpolate="step", strokeWidth=1.5)
        .encode(
            x=alt.X("rank:Q", scale=alt.Scale(type="log"), title="rank r in the sample of 100"),
            y=alt.Y("share:Q", scale=alt.Scale(type="log"), title="share of targets"),
            color=alt.Color("model:N"),
        )
        .properties(width=300, height=260)
    )
    lines = [row for model, cell in mine.items() for row in _recalls(model, cell)]
    right = (
        alt.Chart(alt.Data(values=lines), title="Recall@k in the catalogue, and what is reported")
        .mark_line(strokeWidth=1.5)
        .encode(
            x=alt.X("k:Q", title="k", scale=alt.Scale(domain=[1, 50])),
            y=alt.Y("recall:Q", title="Recall@k"),
            color=alt.Color("model:N"),
            strokeDash=alt.StrokeDash("what:N", sort=["full", "SH, n=100", "sampled"]),
        )
        .properties(width=300, height=260)
    )
    return alt.hconcat(left, right)


def _recalls(model: str, cell: Kept) -> list[dict[str, Any]]:
    kinds = {
        "full": cell["truth"][:50],
        "SH, n=100": cell["values/SH"][0, :50],
        "sampled": cell["values/raw"][0, :50],
    }
    return [
        {"model": model, "what": what, "k": k + 1, "recall": float(value)}
        for what, values in kinds.items()
        for k, value in enumerate(values)
    ]


def efficiency(cells: Cells) -> Any:
    """Items for a newly resolved target against the sample size, by world."""
    rows = [
        {"world": f"{data}, {model}", "data": data, "size": float(size), "cost": float(cost)}
        for (data, model), cell in cells.items()
        if data not in LAWS
        for size, cost in cell["efficiency"].T
        if np.isfinite(cost) and size <= cell["n"] / 4  # below every user's own catalogue
    ]
    return (
        alt.Chart(alt.Data(values=rows), title="Items scored for a newly resolved target")
        .mark_line(point=True, strokeWidth=1.2)
        .encode(
            x=alt.X("size:Q", scale=alt.Scale(type="log"), title="sample size n_j"),
            y=alt.Y("cost:Q", scale=alt.Scale(type="log"), title="C_j, items"),
            color=alt.Color("data:N", title="data set"),
            detail="world:N",
        )
        .properties(width=460, height=300)
    )
