"""Maximum entropy with squared distance, by its exact dual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from fullrank.core.errors import EstimateError, SpecError
from fullrank.estimators._base import DistributionFit, Estimator
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._table import Design
from fullrank.estimators.mle import GROWTH, SINGLE

_STEPS = 200


@dataclass(frozen=True, kw_only=True)
class MES(Estimator):
    """The flattest distribution of ranks that explains the sampled ranks (Jin et al. 2021).

    ``min over pi of sum_r w_r ((A' pi)_r - p_hat_r)^2 - eta H(pi)``. Its dual has ``n`` unknowns:
    ``pi(l) = softmax(-A l / eta)``, minimise ``eta logsumexp(-A l / eta) + l p_hat +
    sum l_r^2 / (4 w_r)``, by damped Newton; no solver from outside. ``eta`` matters: 0.001 is
    right for plain squared distance (``w = 1``, the default), 0.01 for ``w = n p_hat``, as the
    published code has it (``"empirical"``). One sample size.

    Attributes:
        eta: weight of the entropy.
        weights: of the squared distances.
    """

    adaptive = False

    eta: float = 1e-3
    weights: Literal["uniform", "empirical"] = "uniform"

    def __post_init__(self) -> None:
        if not isinstance(self.eta, int | float | np.number) or not 0 < self.eta < np.inf:
            raise SpecError(f"MES: eta must be above 0, got {self.eta!r}")
        if self.weights not in ("uniform", "empirical"):
            raise SpecError(f"MES: weights must be 'uniform' or 'empirical', got {self.weights!r}")

    def bins(self, n: int, k: int) -> Bins:
        """Single ranks at the head, then bins a percent wide."""
        return Bins.of(n, max(SINGLE, k), GROWTH)

    def fit(self, groups: Groups, bins: Bins) -> DistributionFit:
        """Solve the dual.

        Raises:
            EstimateError: Newton's method found no minimum.
        """
        a, share = mixed(groups, bins)
        weights = np.ones(len(share)) if self.weights == "uniform" else len(share) * share
        some = weights > 0
        pi = self._solve(a[:, some], share[some], weights[some], bins)
        return DistributionFit(groups, bins, pi)

    def _solve(
        self,
        a: NDArray[np.float64],
        share: NDArray[np.float64],
        stiff: NDArray[np.float64],
        bins: Bins,
    ) -> NDArray[np.float64]:
        """Minimise the dual; ``stiff`` is ``w``."""
        base, eta = np.log(bins.width), self.eta

        def value(dual: NDArray[np.float64]) -> float:
            total = eta * logsumexp(base - a @ dual / eta)
            return float(total + dual @ share + (dual**2 / (4.0 * stiff)).sum())

        dual = np.zeros(len(share))
        now = value(dual)
        for _ in range(_STEPS):
            logs = base - a @ dual / eta
            pi = np.exp(logs - logsumexp(logs))
            q = pi @ a
            gradient = share - q + dual / (2.0 * stiff)
            if np.abs(gradient).max() < 1e-12:
                return np.asarray(pi)
            hessian = ((a * pi[:, None]).T @ a - np.outer(q, q)) / eta
            hessian += np.diag(1.0 / (2.0 * stiff))
            step, size = np.linalg.solve(hessian, gradient), 1.0
            drop = float(gradient @ step)
            while size > 1e-12 and value(dual - size * step) > now - 1e-4 * size * drop:
                size /= 2.0
            if size <= 1e-12 or drop < 1e-15:
                return np.asarray(pi)  # as low as doubles tell
            dual = dual - size * step
            now = value(dual)
        raise EstimateError(f"MES: no minimum after {_STEPS} steps (eta={eta}); take a larger eta")


def mixed(groups: Groups, bins: Bins) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``P(r | R)`` over the designs that occur, and the share of targets at each sampled rank.

    Returns:
        float64 ``[bins, n]`` and ``[n]``.
    """
    designs = Design.all_of(groups, bins)
    size = designs[0].size
    a, share = np.zeros((len(bins), size)), np.zeros(size)
    for design in designs:
        counts = groups.counts[design.groups]
        a += design.a * (counts.sum() / groups.total)
        np.add.at(share, design.ranks - 1, counts / groups.total)
    return a, share
