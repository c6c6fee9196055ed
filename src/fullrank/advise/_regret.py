"""What a choice of samplers is worth: regret, hits and errors of a group of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Taus closer than this are equal: they are means of a few fractions."""


@dataclass(frozen=True)
class Outcome:
    """Of one chooser in one group.

    Attributes:
        regret: the best tau less the chosen one.
        hit: 1 if the chosen tau is the best one, any of several that tie.
        error: mean squared error of the predicted taus.
    """

    regret: float
    hit: float
    error: float


def outcome(
    tau: NDArray[np.float64], score: NDArray[np.float64], predicted: NDArray[np.float64]
) -> Outcome:
    """The sampler with the highest score is chosen; of equal scores each with the same chance.

    Args:
        tau: float64 ``[n]``, the samplers' own.
        score: float64 ``[n]``.
        predicted: float64 ``[n]``, taus.
    """
    picked = score == score.max()
    best = tau.max()
    return Outcome(
        float(best - tau[picked].mean()),
        float((tau[picked] >= best - TIE).mean()),
        float(((predicted - tau) ** 2).mean()),
    )


@dataclass(frozen=True, eq=False)
class Standing:
    """How samplers did on training data sets.

    Attributes:
        mean: mean tau of all cells, each data set counting alike.
        gap: for each sampler the mean of its tau less the mean of its group, each data set counting
            alike.
    """

    mean: float
    gap: dict[str, float]


def standing(
    data: NDArray[np.int64],
    group: NDArray[np.int64],
    strategy: list[str],
    tau: NDArray[np.float64],
) -> Standing:
    """How samplers did.

    Args:
        data: int64 ``[n]``, data set of each cell.
        group: int64 ``[n]``.
        strategy: the sampler of each.
        tau: float64 ``[n]``.
    """
    means = np.bincount(group, tau) / np.maximum(np.bincount(group), 1)
    gaps, sets = tau - means[group], np.unique(data)
    names = np.array(strategy, object)
    found = {}
    for name in sorted(set(strategy)):
        mine = names == name
        by_set = [gaps[mine & (data == one)] for one in sets]
        found[name] = float(np.mean([part.mean() for part in by_set if len(part)]))
    return Standing(float(np.mean([tau[data == one].mean() for one in sets])), found)
