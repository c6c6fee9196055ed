"""Logistic: which of two samplers is better, from the difference of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._base import Learner, Training
from fullrank.advise.learners._choice import chosen
from fullrank.advise.learners._design import Scaled
from fullrank.advise.learners._fitted import Scores
from fullrank.advise.learners._libraries import sklearn
from fullrank.advise.learners._pairs import pairs
from fullrank.advise.learners.ridge import check_positive


@dataclass(frozen=True)
class Logistic(Learner):
    """Logistic regression without intercept on ``x_a - x_b`` of two samplers a, b of one group.

    ``P(a better than b) = sigmoid(w . (x_a - x_b))``, so that ``w . x`` orders the samplers, no
    order of a pair matters, and what they share (the data set, the metric) drops out. It is BPR
    (Rendle et al. 2009) with a linear score. The code of Sachdeva, Wu & McAuley 2022 fits both
    samplers' columns side by side in a drawn order, and asks for a sampler against itself.

    Attributes:
        penalties: inverse strengths C to choose from, by the log loss on data sets left out.
    """

    ranks: ClassVar[bool] = True

    penalties: tuple[float, ...] = (1e-4, 1e-2, 1.0, 1e2)

    def __post_init__(self) -> None:
        check_positive(self.name, "penalties", self.penalties)

    def _load(self) -> None:
        sklearn("linear_model")

    def _fit(self, training: Training, seed: int) -> Scores:
        scaled, found = Scaled.of(training.x), pairs(training)
        x = scaled(training.x)
        gaps = x[found.better] - x[found.worse]
        weight = found.weight * len(gaps) / found.weight.sum()

        def weights(penalty: float, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
            model = sklearn("linear_model").LogisticRegression(
                C=penalty, fit_intercept=False, solver="newton-cholesky", max_iter=200
            )
            some = gaps[rows]  # both ways, since both classes have to be there
            sides = np.repeat([1, -1], len(some))
            model.fit(np.concatenate([some, -some]), sides, np.tile(weight[rows] / 2, 2))
            return np.asarray(model.coef_[0])

        def loss(penalty: float, out: NDArray[np.bool_]) -> float:
            margin = gaps[out] @ weights(penalty, ~out)
            return float(np.average(np.logaddexp(0, -margin), weights=weight[out]))

        best = chosen(self.penalties, training.data[found.better], loss)
        w = weights(best, np.ones(len(gaps), bool))
        return lambda matrix, _: np.asarray(scaled(matrix) @ w)
