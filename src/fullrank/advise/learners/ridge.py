"""Ridge: least squares with a penalty chosen by leaving out data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._base import Learner, Training
from fullrank.advise.learners._choice import chosen
from fullrank.advise.learners._design import Scaled
from fullrank.advise.learners._fitted import Scores
from fullrank.core.errors import SpecError
from fullrank.data.filters.amounts import check_count

_STEP = 0.1
"""Share of the columns that one round of elimination drops: one at a time takes ten times as long
for hundreds of columns that are much alike."""


def check_positive(where: str, name: str, values: object) -> None:
    """Refuse a setting that is no tuple of numbers > 0."""
    fits = isinstance(values, tuple) and values and all(
        isinstance(v, int | float) and not isinstance(v, bool) and 0 < v < np.inf for v in values
    )  # fmt: skip
    if not fits:
        raise SpecError(f"{where}: {name} must be a tuple of numbers > 0, got {values!r}")


@dataclass(frozen=True, eq=False)
class Linear:
    """A weighted sum of some of the scaled columns.

    Attributes:
        scaled: fills and scales all columns.
        columns: int64 ``[c]``, those that count.
        weights: float64 ``[c]``.
        intercept: what is added.
    """

    scaled: Scaled
    columns: NDArray[np.int64]
    weights: NDArray[np.float64]
    intercept: float

    def __call__(
        self, matrix: NDArray[np.float64], group: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """float64 ``[n]``."""
        return np.asarray(self.scaled(matrix)[:, self.columns] @ self.weights + self.intercept)


@dataclass(frozen=True)
class Ridge(Learner):
    """Ridge regression (Hoerl & Kennard 1970) of tau on the scaled columns; data sets count alike.

    The penalty is that of the ``alphas`` with the smallest squared error on data sets left out,
    the same five as in Sachdeva, Wu & McAuley 2022. They also cut the columns down to ten by
    recursive elimination (Guyon, Weston, Barnhill & Vapnik 2002): fit, drop the columns with the
    smallest weights, a tenth of them at a time here, and again; ``columns=10`` does that, in each
    fit anew.

    Attributes:
        alphas: penalties to choose from.
        columns: how many are left in the end; None for all.
    """

    alphas: tuple[float, ...] = (1e-4, 1e-2, 1.0, 1e2, 1e4)
    columns: int | None = None

    def __post_init__(self) -> None:
        check_positive(self.name, "alphas", self.alphas)
        if self.columns is not None:
            check_count(self.name, "columns", self.columns, least=1)

    def _fit(self, training: Training, seed: int) -> Scores:
        scaled = Scaled.of(training.x)
        x, weight = scaled(training.x), _alike(training.weight, training.data)
        known: dict[bytes, _Moments] = {}

        def fitted(alpha: float, rows: NDArray[np.bool_]) -> Linear:
            moments = known.get(rows.tobytes())
            if moments is None:  # the same for all alphas
                moments = _Moments.of(x[rows], training.tau[rows], weight[rows])
                known[rows.tobytes()] = moments
            columns = self._left(moments, alpha)
            weights = moments.solve(columns, alpha)
            return Linear(scaled, columns, weights, moments.intercept(columns, weights))

        def loss(alpha: float, out: NDArray[np.bool_]) -> float:
            model = fitted(alpha, ~out)
            predicted = x[out][:, model.columns] @ model.weights + model.intercept
            return float(np.average((predicted - training.tau[out]) ** 2, weights=weight[out]))

        everything = np.ones(len(training.tau), bool)
        return fitted(chosen(self.alphas, training.data, loss), everything)

    def _left(self, moments: _Moments, alpha: float) -> NDArray[np.int64]:
        """Columns that are left after the elimination: int64 ``[c]``, ascending."""
        columns = np.arange(len(moments.mean))
        if self.columns is None:
            return columns
        columns = columns[moments.varies]
        while len(columns) > self.columns:
            size = np.abs(moments.solve(columns, alpha))
            drop = min(max(int(_STEP * len(columns)), 1), len(columns) - self.columns)
            columns = columns[np.sort(np.argsort(size, kind="stable")[drop:])]
        return columns


def _alike(weight: NDArray[np.float64], data: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights with the same sum in each data set, however many cells it has; mean 1."""
    sums = np.bincount(data, weight)[data]
    return np.asarray(weight / sums * (len(data) / len(np.unique(data))))


@dataclass(frozen=True, eq=False)
class _Moments:
    """Weighted sums of which a ridge regression is made, about the weighted means.

    Attributes:
        gram: float64 ``[p, p]``.
        target: float64 ``[p]``.
        mean: float64 ``[p]``.
        mean_tau: mean of the taus.
    """

    gram: NDArray[np.float64]
    target: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_tau: float

    @classmethod
    def of(
        cls, x: NDArray[np.float64], tau: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> _Moments:
        mean, mean_tau = np.average(x, axis=0, weights=weight), np.average(tau, weights=weight)
        centred = (x - mean) * np.sqrt(weight)[:, None]
        target = centred.T @ ((tau - mean_tau) * np.sqrt(weight))
        return cls(centred.T @ centred, target, mean, float(mean_tau))

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Columns that are not constant: bool ``[p]``."""
        return np.asarray(np.diag(self.gram) > 0)

    def solve(self, columns: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
        """Weights of some of the columns: float64 ``[c]``."""
        some = self.gram[np.ix_(columns, columns)] + alpha * np.eye(len(columns))
        return np.asarray(np.linalg.solve(some, self.target[columns]))

    def intercept(self, columns: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
        """What is added to the weighted sum."""
        return float(self.mean_tau - self.mean[columns] @ weights)
