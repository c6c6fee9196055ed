"""Pairs of samplers of the same group, and an order from who wins how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.advise.learners._base import Training
from fullrank.core.errors import DataError

Wins = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
"""Rows of the first and of the second of each pair in, chance that the first is better out."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs whose taus differ.

    Attributes:
        better: int64 ``[m]``, row of the sampler with the higher tau.
        worse: int64 ``[m]``.
        weight: float64 ``[m]``: product of both cells' weights over the pairs of the group, so that
            groups count alike.
    """

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: NDArray[np.float64]


def all_pairs(group: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of each pair within a group, once: int64 ``[m]`` twice, the first before the second."""
    first, second = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for one in np.unique(group):
        rows = np.flatnonzero(group == one)
        a, b = np.triu_indices(len(rows), 1)
        first.append(rows[a])
        second.append(rows[b])
    return np.concatenate(first), np.concatenate(second)


def pairs(training: Training) -> Pairs:
    """The training's pairs; equal taus say nothing and are left out.

    Raises:
        DataError: there is none.
    """
    a, b = all_pairs(training.group)
    gap = training.tau[a] - training.tau[b]
    a, b, gap = (x[gap != 0] for x in (a, b, gap))
    if not len(a):
        raise DataError(
            "no two samplers of the same data set, scenario, metric and size have different taus: "
            "there is no order to learn"
        )
    counts = np.bincount(training.group[a])
    weight = training.weight[a] * training.weight[b] / counts[training.group[a]]
    return Pairs(np.where(gap > 0, a, b), np.where(gap > 0, b, a), weight)


def round_robin(group: NDArray[np.int64], wins: Wins) -> NDArray[np.float64]:
    """Mean chance of each row to beat another one of its group: float64 ``[n]``.

    Each pair is asked in both orders and the mean taken, so that its chances add up to 1; none is
    asked with itself. A row alone in its group has 1/2.
    """
    a, b = all_pairs(group)
    total, met = np.zeros(len(group)), np.zeros(len(group))
    if len(a):
        first = (wins(a, b) + 1 - wins(b, a)) / 2
        np.add.at(total, a, first)
        np.add.at(total, b, 1 - first)
        np.add.at(met, np.concatenate([a, b]), 1)
    return np.where(met > 0, total / np.maximum(met, 1), 0.5)
