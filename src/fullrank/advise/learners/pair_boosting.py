"""PairBoosting: which of two samplers is better, by boosted trees, and an order by round robin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._base import Learner, Training
from fullrank.advise.learners._choice import chosen
from fullrank.advise.learners._fitted import Scores
from fullrank.advise.learners._libraries import xgboost
from fullrank.advise.learners._pairs import pairs, round_robin
from fullrank.advise.learners.boosting import Grown, Trees


@dataclass(frozen=True)
class PairBoosting(Learner):
    """Boosted trees that classify pairs of samplers of one group.

    A pair's columns are those that all samplers of a group share, both samplers' others, and their
    differences; each pair is learnt in both orders. A sampler's score is its mean chance against
    the others (round robin); the published code feeds the same sample in both places and takes the
    chance for a score, which compares nothing.

    Attributes:
        trees: settings; of several depths the one with the smallest log loss on data sets left out
            is taken, which takes as many fits as there are depths and folds.
    """

    ranks: ClassVar[bool] = True

    trees: Trees = field(default_factory=lambda: Trees(depths=(4,)))

    def _load(self) -> None:
        xgboost()

    def _fit(self, training: Training, seed: int) -> Scores:
        found, own = pairs(training), _own(training)

        def columns(
            x: NDArray[np.float64], a: NDArray[np.int64], b: NDArray[np.int64]
        ) -> NDArray[np.float64]:
            first, second = x[a][:, own], x[b][:, own]
            return np.concatenate([x[a][:, ~own], first, second, first - second], axis=1)

        both = [(found.better, found.worse), (found.worse, found.better)]
        x = np.concatenate([columns(training.x, a, b) for a, b in both])
        y = np.repeat([1, 0], len(found.better))
        weight, data = np.tile(found.weight, 2), np.tile(training.data[found.better], 2)
        weight = weight * len(weight) / weight.sum()

        def fitted(depth: int, rows: NDArray[np.bool_]) -> Grown:
            return self.trees.grow("binary:logistic", depth, x[rows], y[rows], weight[rows])

        def loss(depth: int, out: NDArray[np.bool_]) -> float:
            chance = fitted(depth, ~out).predict(x[out])
            right = np.where(y[out] == 1, chance, 1 - chance)
            return float(np.average(-np.log(right), weights=weight[out]))

        model = fitted(chosen(self.trees.depths, data, loss), np.ones(len(y), bool))

        def scores(matrix: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
            return round_robin(group, lambda a, b: model.predict(columns(matrix, a, b)))

        return scores


def _own(training: Training) -> NDArray[np.bool_]:
    """Columns that differ within a group somewhere: bool ``[p]``."""
    first = np.unique(training.group, return_index=True)[1]
    of = np.searchsorted(training.group[first], training.group)
    mine, theirs = training.x, training.x[first][of]
    same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    return np.asarray(~same.all(axis=0))
