"""Ridge: least squares with a penalty chosen by leaving out data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._base import Learner, Scores, Training
from fullrank.advise.learners._choice import chosen
from fullrank.advise.learners._design import Scaled
from fullrank.advise.learners._sklearn import sklearn
from fullrank.core.errors import SpecError


def check_positive(where: str, name: str, values: object) -> None:
    """Refuse a setting that is no tuple of numbers > 0."""
    fits = isinstance(values, tuple) and values and all(
        isinstance(v, int | float) and not isinstance(v, bool) and 0 < v < np.inf for v in values
    )  # fmt: skip
    if not fits:
        raise SpecError(f"{where}: {name} must be a tuple of numbers > 0, got {values!r}")


@dataclass(frozen=True)
class Ridge(Learner):
    """Ridge regression (Hoerl & Kennard 1970) of tau on the scaled columns.

    The penalty is that of the ``alphas`` with the smallest squared error on data sets left out;
    Sachdeva, Wu & McAuley 2022 take the same five, and cut the columns down to ten, which isn't
    done here.

    Attributes:
        alphas: penalties to choose from.
    """

    alphas: tuple[float, ...] = (1e-4, 1e-2, 1.0, 1e2, 1e4)

    def __post_init__(self) -> None:
        check_positive(self.name, "alphas", self.alphas)

    def _load(self) -> None:
        sklearn("linear_model")

    def _fit(self, training: Training, seed: int) -> Scores:
        scaled = Scaled.of(training.x)
        x, everything = scaled(training.x), np.ones(len(training.tau), bool)

        def fitted(alpha: float, rows: NDArray[np.bool_]) -> Any:
            model = sklearn("linear_model").Ridge(alpha=alpha)
            return model.fit(x[rows], training.tau[rows], training.weight[rows])

        def loss(alpha: float, out: NDArray[np.bool_]) -> float:
            gap = fitted(alpha, ~out).predict(x[out]) - training.tau[out]
            return float(np.average(gap**2, weights=training.weight[out]))

        model = fitted(chosen(self.alphas, training.data, loss), everything)
        return lambda matrix, _: np.asarray(model.predict(scaled(matrix)))
