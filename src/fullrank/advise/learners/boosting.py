"""Boosting: gradient-boosted trees, their depth chosen by leaving out data sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._base import Learner, Training
from fullrank.advise.learners._choice import chosen
from fullrank.advise.learners._fitted import Scores
from fullrank.advise.learners._libraries import xgboost
from fullrank.core.errors import SpecError
from fullrank.core.settings import check_types
from fullrank.data.filters.amounts import check_count


@dataclass(frozen=True)
class Trees:
    """Settings of boosted trees, for ``Boosting`` and ``PairBoosting``.

    Attributes:
        depths: of a tree, to choose from.
        rounds: trees.
        learning_rate: what each adds.
        least: sum of the weights in a leaf (XGBoost's ``min_child_weight``); for pairs of their
            Hessians, at most a quarter of the weights.
    """

    depths: tuple[int, ...] = (2, 4, 6, 8, 10)
    rounds: int = 100
    learning_rate: float = 0.1
    least: float = 5.0

    def __post_init__(self) -> None:
        check_types("trees", self, {k: v for k, v in vars(self).items() if k != "depths"})
        if not isinstance(self.depths, tuple) or not self.depths:
            raise SpecError(f"trees: depths must be a tuple of numbers, got {self.depths!r}")
        for depth in self.depths:
            check_count("trees", "depths", depth, least=1)
        check_count("trees", "rounds", self.rounds, least=1)
        if not 0 <= self.least < np.inf:
            raise SpecError(f"trees: least must be a number >= 0, got {self.least!r}")
        if not 0 < self.learning_rate <= 1:
            raise SpecError(f"trees: learning_rate must be in (0, 1], got {self.learning_rate!r}")

    def grow(
        self,
        objective: str,
        depth: int,
        x: NDArray[np.float64],
        y: NDArray[Any],
        weight: NDArray[np.float64],
    ) -> Grown:
        """Fit XGBoost, which draws nothing here; on one thread, so that sums have one order.

        Args:
            objective: of XGBoost, such as ``"reg:squarederror"``.
            depth: of ``depths``.
            x: float64 ``[n, p]``, NaN where a feature is missing.
            y: ``[n]``, what is predicted.
            weight: float64 ``[n]``.
        """
        settings = {
            "objective": objective, "max_depth": depth, "eta": self.learning_rate,
            "min_child_weight": self.least, "tree_method": "hist", "nthread": 1,
        }  # fmt: skip
        rows = xgboost().DMatrix(x, label=y, weight=weight, nthread=1)
        return Grown(xgboost().train(settings, rows, num_boost_round=self.rounds))


@dataclass(frozen=True, eq=False)
class Grown:
    """Boosted trees.

    Attributes:
        model: of XGBoost.
    """

    model: Any

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """What was learnt, or the chance of the class 1: float64 ``[n]``."""
        return np.asarray(self.model.predict(xgboost().DMatrix(x, nthread=1)), np.float64)


@dataclass(frozen=True)
class Boosting(Learner):
    """Regression of tau by boosted trees (Chen & Guestrin 2016, "XGBoost"), grown by that library.

    Missing features go down the branch that fits better.

    Attributes:
        trees: settings; the depth has the smallest squared error on data sets left out.
    """

    trees: Trees = field(default_factory=Trees)

    def _load(self) -> None:
        xgboost()

    def _fit(self, training: Training, seed: int) -> Scores:
        def fitted(depth: int, rows: NDArray[np.bool_]) -> Grown:
            own = training.x[rows], training.tau[rows], training.weight[rows]
            return self.trees.grow("reg:squarederror", depth, *own)

        def loss(depth: int, out: NDArray[np.bool_]) -> float:
            gap = fitted(depth, ~out).predict(training.x[out]) - training.tau[out]
            return float(np.average(gap**2, weights=training.weight[out]))

        everything = np.ones(len(training.tau), bool)
        model = fitted(chosen(self.trees.depths, training.data, loss), everything)
        return lambda matrix, _: model.predict(matrix)
