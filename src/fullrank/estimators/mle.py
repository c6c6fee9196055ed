"""Maximum likelihood of the distribution of ranks, by a fixed number of EM steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.estimators._base import DistributionFit, Estimator
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups

SINGLE, GROWTH = 1000, 1.01
"""Ranks that each have a bin of their own; beyond, bins grow by a percent."""


@dataclass(frozen=True, kw_only=True)
class MLE(Estimator):
    """The distribution ``pi`` of ranks that explains the sampled ranks best (Jin et al. 2021).

    ``p(r | pi) = sum_R pi_R A[R, r]``, where ``A`` is the likelihood of a sampled rank. One step
    of EM, from the uniform distribution: ``pi <- pi * (A (p_hat / (A' pi)))``. The metric is the
    mean of ``b`` under ``pi``, for all metrics and cut-offs from one fit.

    **The number of steps is a regulariser**, not a criterion of convergence: the likelihood is
    nearly flat, and its true maximum a handful of spikes. More steps help steep heads and hurt
    flat ones. It sees no structure finer than about ``N / n`` ranks. Samples of different
    (adaptive) sizes are taken as they are: the rule that chose them is free of ``R``, so that it
    cancels (Jin et al. 2023 run 50 steps then).

    Beyond rank 1,000, ``pi`` is taken as flat within bins that are a percent wide, which changes
    estimates by less than a part in a thousand (a test compares).

    Attributes:
        steps: of EM.
    """

    steps: int = 100

    def __post_init__(self) -> None:
        if not isinstance(self.steps, int) or isinstance(self.steps, bool) or self.steps < 1:
            raise SpecError(f"MLE: steps must be a whole number >= 1, got {self.steps!r}")

    def bins(self, n: int, k: int) -> Bins:
        """Single ranks at the head, then bins a percent wide."""
        return Bins.of(n, max(SINGLE, k), GROWTH)

    def fit(self, groups: Groups, bins: Bins) -> DistributionFit:
        """Run EM from the uniform distribution."""
        return self.fit_many(groups, bins, groups.counts[None])[0]

    def fit_many(
        self, groups: Groups, bins: Bins, counts: NDArray[np.float64]
    ) -> Sequence[DistributionFit]:
        """Run EM for several numbers of targets ``[many, groups]`` at once."""
        start = bins.width / bins.width.sum()
        found = em(groups.likelihood(bins), counts, start, self.steps)
        return [
            DistributionFit(groups.with_counts(row), bins, pi) for row, pi in zip(counts, found)
        ]


def em(
    likelihood: NDArray[np.float64],
    counts: NDArray[np.float64],
    start: NDArray[np.float64],
    steps: int,
) -> NDArray[np.float64]:
    """EM for distributions over bins.

    Args:
        likelihood: float64 ``[bins, groups]``, columns up to a factor.
        counts: float64 ``[many, groups]`` targets.
        start: float64 ``[bins]``.
        steps: of EM.

    Returns:
        float64 ``[many, bins]``, each sums to 1.
    """
    used = counts.any(axis=0)
    share = counts[:, used] / counts.sum(axis=1, keepdims=True)
    mine = likelihood[:, used]
    mine = np.ascontiguousarray(mine / mine.max(axis=0))  # no underflow
    pi = np.tile(start, (len(counts), 1))
    for _ in range(steps):
        found = pi @ mine  # 0 only where there are no targets any more
        pi *= np.divide(share, found, out=np.zeros_like(found), where=found > 0) @ mine.T
    return np.asarray(pi / pi.sum(axis=1, keepdims=True))
