"""The searches: what was tried, what was chosen, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fullrank.experiment.results import CellResult, Results
from fullrank.experiment.store import Store
from fullrank.metrics import parse
from fullrank.report._figure import Figure, Looks, named, spec_of
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import plain_text, seconds_text, significant, value_text
from fullrank.report._series import folds_of

if TYPE_CHECKING:
    import altair as alt


def trial_figures(results: Results, data: str, looks: Looks) -> list[Figure]:
    """Value on validation by number of the trial, with the best so far; none without a search."""
    tune = results.spec.tune
    rows = [row for model in results.models for row in _trials(results, data, model)]
    done = [row for row in rows if row["value"] is not None]
    if tune is None or not done:
        return []
    return [_figure(done, str(parse(tune.metric)), looks, _grid(rows))]


def settings_grid(results: Results, data: str) -> Grid:
    """What each model ran with, and how that was chosen."""
    rows: list[tuple[str, ...]] = []
    for model in results.models:
        cells = folds_of(results, data, model) if results.of(data, model) else ()
        rows.extend(_settings_row(cell, many=len(cells) > 1) for cell in cells)
    header = ("model", "settings", "seeds", "trials", "failed", "pruned", "validation")
    return Grid("", header, tuple(_with_seeds(results, data, row) for row in rows), left=2)


def _settings_row(cell: CellResult, *, many: bool) -> tuple[str, ...]:
    about, tuning = cell.about, cell.about["tuning"]
    label = about["model"]
    settings = plain_text(about["settings"])
    if many:
        settings = f"fold {about['fold']}: {settings}"
    if tuning is None:
        return (label, settings, "fixed", "–", "–", "–")
    counts = (f"{tuning[key]:,}" for key in ("trials", "failed"))
    pruned = f"{tuning.get('pruned', 0):,}"  # stores of older versions have none
    return (label, settings, *counts, pruned, value_text(tuning["value"]))


def _with_seeds(results: Results, data: str, row: tuple[str, ...]) -> tuple[Cell, ...]:
    seeds = dict.fromkeys(cell.about["seed"] for cell in results.of(data, row[0]))
    text = ", ".join("–" if seed is None else str(seed) for seed in seeds)
    return tuple(Cell(part) for part in (row[0], row[1], text, *row[2:]))


def _trials(results: Results, data: str, model: str) -> list[dict[str, Any]]:
    """Trials that the choice was made from, folds one after another."""
    out = []
    for cell in folds_of(results, data, model) if results.of(data, model) else ():
        tuning = cell.about["tuning"]
        if tuning is None:
            continue
        stored = Store(cell.folder.parents[1]).trials(tuning["key"])
        for trial in stored[: tuning["trials"]]:
            chosen = trial["number"] == tuning["best"]
            out.append({**trial, "model": model, "fold": cell.about["fold"], "chosen": chosen})
    return out


def _figure(rows: Sequence[dict[str, Any]], metric: str, looks: Looks, grid: Grid) -> Figure:
    import altair as alt

    points = _with_best(rows, metric)
    x = _by_number(max(row["trial"] for row in points))
    line = (
        alt.Chart(named())
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=x,
            y=alt.Y(
                "best:Q",
                title=f"{metric} on validation",
                scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=5),
            ),
            color=looks.colour(),
            strokeDash=looks.dash(),
            detail="fold:N",
        )
    )
    dots = (
        alt.Chart(named())
        .mark_point(filled=True, size=45)
        .encode(
            x=x,
            y="value:Q",
            color=looks.colour(),
            opacity=alt.condition("datum.chosen", alt.value(1), alt.value(0.5)),
            size=alt.condition("datum.chosen", alt.value(150), alt.value(40)),
            tooltip=["model:N", "trial:Q", alt.Tooltip("value:Q", format=".4f"), "settings:N"],
        )
    )
    chart = alt.layer(line, dots).properties(width="container", height=280)
    caption = (
        "Dots: trials, the chosen one large. Lines: the best so far. Chosen on validation queries "
        "only; the test was ranked once, after the choice."
    )
    return Figure("Search", spec_of(chart, points), caption, grid, wide=True)


def _by_number(last: int) -> alt.X:
    import altair as alt

    return alt.X(
        "trial:Q",
        title="trial",
        axis=alt.Axis(values=ticks(last), format="d", grid=False),
        scale=alt.Scale(domain=[0.5, last + 0.5], nice=False, zero=False),
    )


def ticks(last: int, most: int = 10) -> list[int]:
    """Whole numbers from 1 to the last trial: all of them, or 1 and round ones."""
    steps = (base * 10**power for power in range(9) for base in (1, 2, 5))
    step = next(step for step in steps if last // step <= most)
    return sorted({1, *range(step, last + 1, step)})


def _with_best(rows: Sequence[dict[str, Any]], metric: str) -> list[dict[str, Any]]:
    pick = max if parse(metric).higher_is_better else min
    best: dict[tuple[str, int], float] = {}
    out = []
    for row in rows:
        key = row["model"], row["fold"]
        best[key] = pick(best.get(key, row["value"]), row["value"])
        out.append(
            {
                "model": row["model"],
                "fold": row["fold"],
                "trial": row["number"] + 1,
                "value": significant(row["value"]),
                "best": significant(best[key]),
                "chosen": row["chosen"],
                "settings": plain_text(row["settings"]),
            }
        )
    return out


def _grid(rows: Sequence[dict[str, Any]]) -> Grid:
    many = len({row["fold"] for row in rows}) > 1
    cells = tuple(
        (
            Cell(row["model"] + (f", fold {row['fold']}" if many else "")),
            Cell(plain_text(row["settings"])),
            Cell(str(row["number"] + 1)),
            Cell(value_text(row["value"]), best=row["chosen"]),
            Cell(seconds_text(row["resources"]["trial_seconds"])),
            Cell(_ended(row)),
        )
        for row in rows
    )
    header = ("model", "settings", "trial", "value", "time", "ended by")
    return Grid("", header, cells, left=2)


def _ended(trial: Mapping[str, Any]) -> str:
    """Why a trial has no value, or at which epoch it stood best."""
    if trial.get("pruned"):
        epoch, value = trial["curve"][-1]
        return f"pruned after epoch {epoch + 1} at {value_text(value)}"
    if trial["error"]:
        return str(trial["error"])
    return f"best epoch {trial['epochs']}" if trial.get("epochs") else ""
