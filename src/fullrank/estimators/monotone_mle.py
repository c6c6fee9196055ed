"""Maximum likelihood among distributions that never rise with the rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.estimators._base import DistributionFit, Estimator
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators.mle import GROWTH, SINGLE


@dataclass(frozen=True, kw_only=True)
class MonotoneMLE(Estimator):
    """EM over mixtures of uniform distributions on ranks ``1 … j``: ``pi`` falls with the rank.

    Cuts the error of ``MLE`` to about a third on steep heads and hurts at ``k = 1`` on flat ones.
    Not published. Wrong where the density of ranks rises anywhere, as it does at the head when
    training items are ranked too.

    Attributes:
        steps: of EM, from equal weights.
    """

    steps: int = 100

    def __post_init__(self) -> None:
        if not isinstance(self.steps, int) or isinstance(self.steps, bool) or self.steps < 1:
            raise SpecError(f"MonotoneMLE: steps must be a whole number >= 1, got {self.steps!r}")

    def bins(self, n: int, k: int) -> Bins:
        """Single ranks at the head, then bins a percent wide."""
        return Bins.of(n, max(SINGLE, k), GROWTH)

    def fit(self, groups: Groups, bins: Bins) -> DistributionFit:
        """Run EM over the weights of the mixture."""
        width, ends = bins.width[:, None], bins.last.astype(np.float64)
        likelihood = groups.likelihood(bins)
        parts = np.cumsum(width * likelihood, axis=0) / ends[:, None]
        parts = parts / parts.max(axis=0)
        share, weights = groups.counts / groups.total, np.full(len(bins), 1.0 / len(bins))
        for _ in range(self.steps):
            weights = weights * (parts @ (share / (weights @ parts)))
        return DistributionFit(groups, bins, _density(weights, ends) * bins.width)


def _density(weights: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of one rank in each bin: ``sum over j >= bin of weight_j / j``."""
    return np.asarray(np.cumsum((weights / ends)[::-1])[::-1])
