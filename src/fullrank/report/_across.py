"""Several data sets in one table: mean rank of each model, and how often it is best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics import parse
from fullrank.report._grid import Cell, Grid
from fullrank.report._numbers import UNDEFINED, known
from fullrank.report.board import Board


def across_grid(boards: Sequence[Board]) -> Grid | None:
    """Mean rank over data sets and wins, by metric; None for a single data set."""
    if len(boards) < 2:
        return None
    models = tuple(dict.fromkeys(model for board in boards for model in board.models))
    metrics = tuple(dict.fromkeys(metric for board in boards for metric in board.metrics))
    columns = {metric: _column(boards, metric, models) for metric in metrics}
    rows = tuple((Cell(model), *(columns[m][model] for m in metrics)) for model in models)
    notes = (
        f"Mean rank over {len(boards)} data sets (1 is best, equal values share a rank), and in "
        "how many a model has the best value. Only models with a value in every data set are "
        "ranked. Ranks ignore margins and how sure they are: read them beside the tables below.",
    )
    return Grid("Across data sets", ("model", *metrics), rows, notes)


def _column(boards: Sequence[Board], metric: str, models: Sequence[str]) -> dict[str, Cell]:
    values = {
        model: [
            board.places[model, metric].row["value"] if (model, metric) in board.places else None
            for board in boards
        ]
        for model in models
    }
    complete = [model for model in models if all(known(value) for value in values[model])]
    out = {model: Cell(UNDEFINED) for model in models}
    if len(complete) < 2:
        return out
    sign = -1.0 if parse(metric).higher_is_better else 1.0
    ranks = np.array([values[model] for model in complete], dtype=np.float64)
    ranks = np.apply_along_axis(mean_ranks, 0, sign * ranks)
    lowest = ranks.mean(axis=1).min()
    for model, row in zip(complete, ranks):
        wins = int(np.count_nonzero(row == ranks.min(axis=0)))
        out[model] = Cell(
            f"{row.mean():.2f}",
            more=(f"{wins} best",) if wins else (),
            best=bool(row.mean() == lowest),
        )
    return out


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1 for the smallest; equal values share the mean of their places."""
    below = (values[None, :] < values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return np.asarray(below + (equal + 1) / 2)
