"""Plots of the page as SVG: tau by size for each sampler, and time saved against tau."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import vl_convert

from replications.svpcf import numbers
from replications.svpcf.numbers import Found
from replications.svpcf.tables import LABELS


def all_of(sets: Sequence[Found]) -> dict[str, str]:
    """SVG texts by name; nothing without data sets."""
    if not sets:
        return {}
    charts = {"tau_by_size": by_size(sets), "time_and_tau": by_time(sets)}
    return {name: vl_convert.vegalite_to_svg(chart.to_json()) for name, chart in charts.items()}


def by_size(sets: Sequence[Found]) -> Any:
    """One small plot a sampler: each data set, and random rows in grey."""
    rows: list[dict[str, Any]] = []
    for one in sets:
        for label in one.terms.samplers:
            for keep in sorted({place.keep for place in one.terms.common}):
                places = [place for place in one.terms.common if place.keep == keep]
                tau = one.psi(label, places)
                plain = one.psi("rows, random", places)
                row = {"sampler": label, "data": one.name, "size": 100 * keep}
                rows.append({**row, "tau": tau, "plain": plain})
    sizes = sorted({row["size"] for row in rows})
    base = alt.Chart().encode(
        x=alt.X(
            "size:Q",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(values=sizes, format="~g"),
            title="% of the training rows",
        )
    )
    lines = base.mark_line(point=True, strokeWidth=1.5).encode(
        y=alt.Y("tau:Q", title="tau-b", scale=alt.Scale(domain=[-0.5, 1], clamp=True)),
        color=alt.Color("data:N", title="data set", legend=alt.Legend(orient="top")),
    )
    grey = base.mark_line(strokeDash=[3, 3], strokeWidth=1).encode(
        y="plain:Q", color=alt.value("#999"), detail="data:N"
    )
    return (
        alt.layer(grey, lines, data=alt.Data(values=rows))
        .properties(width=170, height=130)
        .facet(facet=alt.Facet("sampler:N", title=None, sort=list(LABELS)), columns=4)
        .properties(title="Tau by size; dashed: random rows of the same data set")
    )


def by_time(sets: Sequence[Found]) -> Any:
    """Share of time saved, drawing included, against tau: means over data sets."""
    rows = []
    for row in numbers.shares(sets):
        label, keep = str(row["sampler"]), float(str(row["keep"]))
        taus = []
        for one in sets:
            places = [place for place in one.terms.common if place.keep == keep]
            if places and label in one.terms.samplers:
                taus.append(one.psi(label, places))
        known = [tau for tau in taus if tau is not None]
        if not known or row["both"] is None:
            continue
        saved = 100 * (1 - float(str(row["both"])))
        rows.append(
            {
                "sampler": label,
                "unit": label.partition(",")[0],
                "size": f"{100 * keep:g} %",
                "saved": saved,
                "tau": sum(known) / len(known),
            }
        )
    return (
        alt.Chart(alt.Data(values=rows), title="Time saved, drawing included, and what is kept")
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("saved:Q", title="% of the time of the full data that is saved"),
            y=alt.Y("tau:Q", title="tau-b"),
            color=alt.Color("sampler:N", sort=list(LABELS), scale=alt.Scale(scheme="tableau20")),
            shape=alt.Shape("unit:N", title="sampled"),
        )
        .properties(width=460, height=330)
    )
