"""Boosting: gradient-boosted trees, their depth chosen by leaving out data sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._base import Learner, Training
from fullrank.advise.learners._choice import chosen
from fullrank.advise.learners._fitted import Scores
from fullrank.advise.learners._sklearn import sklearn
from fullrank.core.errors import SpecError
from fullrank.core.random import derive
from fullrank.core.settings import check_types
from fullrank.data.filters.amounts import check_count

_SEEDS = 2**32
"""What scikit-learn takes."""


@dataclass(frozen=True)
class Trees:
    """Settings of boosted trees, for ``Boosting`` and ``PairBoosting``.

    Attributes:
        depths: of a tree, to choose from.
        rounds: trees.
        learning_rate: what each adds.
        least: cells (or pairs) in a leaf.
    """

    depths: tuple[int, ...] = (2, 4, 6)
    rounds: int = 100
    learning_rate: float = 0.1
    least: int = 10

    def __post_init__(self) -> None:
        check_types("trees", self, {k: v for k, v in vars(self).items() if k != "depths"})
        if not isinstance(self.depths, tuple) or not self.depths:
            raise SpecError(f"trees: depths must be a tuple of numbers, got {self.depths!r}")
        for depth in self.depths:
            check_count("trees", "depths", depth, least=1)
        for name in ("rounds", "least"):
            check_count("trees", name, getattr(self, name), least=1)
        if not 0 < self.learning_rate <= 1:
            raise SpecError(f"trees: learning_rate must be in (0, 1], got {self.learning_rate!r}")

    def grow(
        self,
        kind: str,
        depth: int,
        seed: int,
        x: NDArray[np.float64],
        y: NDArray[Any],
        weight: NDArray[np.float64],
    ) -> Grown:
        """Fit scikit-learn's histogram-based boosting.

        Args:
            kind: ``"Regressor"`` or ``"Classifier"``.
            depth: of ``depths``.
            seed: of the draws.
            x: float64 ``[n, p]``.
            y: ``[n]``, what is predicted.
            weight: float64 ``[n]``.
        """
        model = getattr(sklearn("ensemble"), f"HistGradientBoosting{kind}")(
            max_depth=depth, max_iter=self.rounds, learning_rate=self.learning_rate,
            min_samples_leaf=self.least, early_stopping=False,
            random_state=derive(seed, "trees", depth) % _SEEDS,
        )  # fmt: skip
        columns = np.flatnonzero(~np.isnan(x).all(axis=0))
        return Grown(model.fit(x[:, columns], y, weight), columns)


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees, and the columns that they were grown on: scikit-learn refuses those without a number.

    Attributes:
        model: of scikit-learn.
        columns: int64 ``[c]``.
    """

    model: Any
    columns: NDArray[np.int64]

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64 ``[n]``."""
        return np.asarray(self.model.predict(x[:, self.columns]))

    def chance(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of the second class: float64 ``[n]``."""
        return np.asarray(self.model.predict_proba(x[:, self.columns])[:, 1])


@dataclass(frozen=True)
class Boosting(Learner):
    """Regression of tau by boosted trees (Friedman 2001), grown on binned columns.

    It stands where Sachdeva, Wu & McAuley 2022 have XGBoost: scikit-learn's
    ``HistGradientBoostingRegressor`` grows trees in the same way, so that one library serves all
    learners. Missing features go down the branch that fits better.

    Attributes:
        trees: settings; the depth has the smallest squared error on data sets left out.
    """

    trees: Trees = field(default_factory=Trees)

    def _load(self) -> None:
        sklearn("ensemble")

    def _fit(self, training: Training, seed: int) -> Scores:
        def fitted(depth: int, rows: NDArray[np.bool_]) -> Grown:
            own = training.x[rows], training.tau[rows], training.weight[rows]
            return self.trees.grow("Regressor", depth, seed, *own)

        def loss(depth: int, out: NDArray[np.bool_]) -> float:
            gap = fitted(depth, ~out).predict(training.x[out]) - training.tau[out]
            return float(np.average(gap**2, weights=training.weight[out]))

        everything = np.ones(len(training.tau), bool)
        model = fitted(chosen(self.trees.depths, training.data, loss), everything)
        return lambda matrix, _: model.predict(matrix)
