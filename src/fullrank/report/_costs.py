"""Time, memory and energy of each model."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from fullrank.experiment.analyse.costs import Cost, cost_of
from fullrank.experiment.results import Results
from fullrank.report._figure import Figure, Looks, named, spec_of
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import joules_text, seconds_text, significant, size_text

HEADER = ("model", "fits", "fit time", "ranking time", "queries / s", "peak memory", "search time")


def cost_grid(results: Results, data: str) -> Grid:
    """One row a model: means over fits (folds × seeds), the largest peak."""
    rows = _costs(results, data)
    energy = any(cost.joules is not None for _, cost in rows)
    cells = tuple(_cells(model, cost, energy) for model, cost in rows)
    notes = (
        "Means over the final fits (folds × seeds). Peak memory is that of the whole process, "
        "data included; search time is that of all trials."
        + (" Energy is that of the whole machine while fitting and ranking." if energy else ""),
    )
    return Grid("", (*HEADER, "energy") if energy else HEADER, cells, notes)


def cost_figures(results: Results, data: str, looks: Looks) -> list[Figure]:
    """Times on a log axis, and peak memory, where they are known."""
    rows = _costs(results, data)
    times = [
        {"model": model, "step": step, "seconds": significant(seconds)}
        for model, cost in rows
        for step, seconds in (
            ("fit", cost.fit_seconds),
            ("ranking", cost.rank_seconds),
            ("search", cost.search_seconds),
        )
        if seconds
    ]
    sizes = [{"model": m, "mib": significant(c.peak_mib)} for m, c in rows if c.peak_mib]
    order = [model for model, _ in rows]
    out = [_times(times, order)] if times else []
    return out + ([_sizes(sizes, order, looks)] if sizes else [])


def _times(rows: Sequence[dict[str, Any]], order: list[str]) -> Figure:
    import altair as alt

    steps = ["fit", "ranking", "search"]
    ends = [log10(f(row["seconds"] for row in rows)) for f in (min, max)]
    decades = [10.0**n for n in range(floor(ends[0]), ceil(ends[1]) + 1)]
    axis = alt.Axis(values=decades, format="~g")
    chart = (
        alt.Chart(named())
        .mark_point(filled=True, size=80, opacity=0.9)
        .encode(
            x=alt.X(
                "seconds:Q", scale=alt.Scale(type="log"), title="seconds (log axis)", axis=axis
            ),
            y=alt.Y("model:N", sort=order, title=None, axis=alt.Axis(grid=True)),
            color=alt.Color(
                "step:N",
                scale=alt.Scale(domain=steps, range=["#4269d0", "#efb118", "#8b919b"]),
                legend=alt.Legend(title=None, orient="bottom"),
            ),
            shape=alt.Shape(
                "step:N", scale=alt.Scale(domain=steps, range=["circle", "square", "diamond"])
            ),
            tooltip=["model:N", "step:N", alt.Tooltip("seconds:Q", format=".3~g")],
        )
        .properties(width="container", height=alt.Step(26))
    )
    return Figure(
        "Time",
        spec_of(chart, rows),
        "Final fit, ranking of the test, whole search; log axis.",
    )


def _sizes(rows: Sequence[dict[str, Any]], order: list[str], looks: Looks) -> Figure:
    import altair as alt

    chart = (
        alt.Chart(named())
        .mark_bar()
        .encode(
            x=alt.X("mib:Q", title="MiB", axis=alt.Axis(tickCount=5)),
            y=alt.Y("model:N", sort=order, title=None),
            color=looks.colour(),
            tooltip=["model:N", alt.Tooltip("mib:Q", format=",.0f")],
        )
        .properties(width="container", height=alt.Step(26))
    )
    return Figure(
        "Peak memory", spec_of(chart, rows), "Of the whole process while fitting or ranking."
    )


def _costs(results: Results, data: str) -> list[tuple[str, Cost]]:
    found = ((model, results.of(data, model)) for model in results.models)
    return [(model, cost_of(cells)) for model, cells in found if cells]


def _cells(model: str, cost: Cost, energy: bool) -> tuple[Cell, ...]:
    return tuple(Cell(text) for text in (model, *cost_texts(cost, energy=energy)))


def cost_texts(cost: Cost, *, energy: bool) -> list[str]:
    """The columns of ``HEADER`` but the first, and energy if some model's is known."""
    speed = cost.queries_per_second
    return [
        str(cost.fits),
        seconds_text(cost.fit_seconds),
        seconds_text(cost.rank_seconds),
        "–" if speed is None else f"{speed:,.0f}",
        size_text(cost.peak_mib),
        seconds_text(cost.search_seconds),
        *([joules_text(cost.joules)] if energy else []),
    ]
