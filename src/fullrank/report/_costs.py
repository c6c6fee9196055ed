"""Time, memory and energy of each model."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from fullrank.experiment.results import CellResult, Results
from fullrank.report._figure import Figure, Looks, named, spec_of
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import joules_text, seconds_text, significant, size_text

HEADER = ("model", "fits", "fit time", "ranking time", "queries / s", "peak memory", "search time")


def cost_grid(results: Results, data: str) -> Grid:
    """One row a model: means over fits (folds × seeds), the largest peak."""
    rows = [_costs(model, cells) for model, cells in _models(results, data)]
    energy = any(row["joules"] is not None for row in rows)
    cells = tuple(_cells(row, energy) for row in rows)
    notes = (
        "Means over the final fits (folds × seeds). Peak memory is that of the whole process, "
        "data included; search time is that of all trials."
        + (" Energy is that of the whole machine while fitting and ranking." if energy else ""),
    )
    return Grid("", (*HEADER, "energy") if energy else HEADER, cells, notes)


def cost_figures(results: Results, data: str, looks: Looks) -> list[Figure]:
    """Times on a log axis, and peak memory, where they are known."""
    rows = [_costs(model, cells) for model, cells in _models(results, data)]
    times = [
        {"model": row["model"], "step": step, "seconds": significant(row[key])}
        for row in rows
        for step, key in (("fit", "fit"), ("ranking", "rank"), ("search", "search"))
        if row[key]
    ]
    sizes = [{"model": r["model"], "mib": significant(r["peak"])} for r in rows if r["peak"]]
    order = [row["model"] for row in rows]
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


def _models(results: Results, data: str) -> list[tuple[str, tuple[CellResult, ...]]]:
    return [(model, cells) for model in results.models if (cells := results.of(data, model))]


def _costs(model: str, cells: Sequence[CellResult]) -> dict[str, Any]:
    fit, rank = _mean(cells, "fit_seconds"), _mean(cells, "rank_seconds")
    queries = sum(len(cell.queries) for cell in cells) / len(cells)
    joules = [_mean(cells, name) for name in ("fit_joules", "rank_joules")]
    peaks = [
        cell.about["resources"].get(name)
        for cell in cells
        for name in ("fit_peak_mib", "rank_peak_mib")
    ]
    searches = {c.about["tuning"]["key"]: c.about["tuning"] for c in cells if c.about["tuning"]}
    return {
        "model": model,
        "fits": len(cells),
        "fit": fit,
        "rank": rank,
        "speed": queries / rank if rank else None,
        "peak": max((peak for peak in peaks if peak is not None), default=None),
        "search": sum(s["seconds"] for s in searches.values()) if searches else None,
        "joules": None if None in joules else sum(j for j in joules if j is not None),
    }


def _mean(cells: Sequence[CellResult], name: str) -> float | None:
    found = [cell.about["resources"].get(name) for cell in cells]
    values = [value for value in found if value is not None]
    return sum(values) / len(values) if values else None


def _cells(row: dict[str, Any], energy: bool) -> tuple[Cell, ...]:
    texts = [
        row["model"],
        str(row["fits"]),
        seconds_text(row["fit"]),
        seconds_text(row["rank"]),
        "–" if row["speed"] is None else f"{row['speed']:,.0f}",
        size_text(row["peak"]),
        seconds_text(row["search"]),
    ]
    return tuple(Cell(text) for text in [*texts, *([joules_text(row["joules"])] if energy else [])])
