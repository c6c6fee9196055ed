"""Per-query values beyond the stored leaderboard: other cut-offs, some of the targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.estimate import Estimate
from fullrank.core.ranked import TargetRanks
from fullrank.core.vocabulary import Vocabulary
from fullrank.experiment.measure import finite_bounds
from fullrank.experiment.results import CellResult, Results, by_seed
from fullrank.metrics import Metric, per_query_many
from fullrank.stats import mean_intervals

Pick = Callable[[CellResult], TargetRanks]
Method = Literal["auto", "analytic"]


@dataclass(frozen=True, eq=False)
class Cases:
    """The test queries of a data set over all folds: the same for every model.

    Attributes:
        users: codes ``[q]`` that follow the outside ids.
        history: items ``[q]`` that the models knew of the user; 0 for a cold one.
    """

    users: NDArray[np.int32]
    history: NDArray[np.int32]

    @classmethod
    def of(cls, results: Results, data: str) -> Cases:
        """Queries in the order of the folds."""
        tables = [cell.queries for cell in folds_of(results, data)]
        ids = np.concatenate([table["user_id"].to_numpy() for table in tables])
        history = np.concatenate([table["history"].to_numpy() for table in tables])
        return cls(Vocabulary.of(ids, "user").encode(ids), history)

    @property
    def segments(self) -> dict[str, NDArray[np.bool_]]:
        """Masks of all users, and of warm and cold ones where there are both."""
        cold = self.history == 0
        out = {"all": np.ones(len(cold), dtype=bool)}
        return out | ({"warm": ~cold, "cold": cold} if cold.any() and not cold.all() else {})


def folds_of(results: Results, data: str, model: str | None = None) -> tuple[CellResult, ...]:
    """The cells of a model's first seed, one per fold; of the first model by default."""
    names = [model] if model is not None else results.models
    cells = next(cells for name in names if (cells := results.of(data, name)))
    return next(iter(by_seed(cells).values()))


def averaged(
    results: Results, data: str, model: str, metrics: Sequence[Metric], pick: Pick | None = None
) -> NDArray[np.float64]:
    """Values ``[q, m]`` averaged over seeds, folds one after another.

    Args:
        results: of a benchmark.
        data: name of the data set.
        model: label.
        metrics: ``m`` rank metrics.
        pick: ranks to use of a cell, such as some of the targets; all by default.
    """
    total: Any = 0.0
    seeds = by_seed(results.of(data, model))
    for cells in seeds.values():
        parts = [
            np.column_stack(list(per_query_many(pick(c) if pick else c.ranked, metrics).values()))
            for c in cells
        ]
        total = total + np.concatenate(parts)
    return np.asarray(total / len(seeds))


def intervals_of(
    values: NDArray[np.float64],
    users: NDArray[np.int32],
    metrics: Sequence[Metric],
    level: float,
    method: Method = "auto",
) -> list[Estimate]:
    """Intervals of each column of ``values[q, m]``, by user, within the range of its metric."""
    bounds = [finite_bounds(metric) for metric in metrics]
    found = mean_intervals(values, users, level=level, method=method, bounds=bounds)
    return [_within(e, b) if b is not None else e for e, b in zip(found, bounds)]


def _within(e: Estimate, bounds: tuple[float, float]) -> Estimate:
    """An analytic interval may leave the range of the metric, where no mean can lie."""
    low, high = np.clip([e.low, e.high], *bounds)
    return replace(e, low=float(low), high=float(high))
