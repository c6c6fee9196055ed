"""Penalised splines for the logarithm of a distribution of ranks, fitted through a likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from fullrank.estimators._bins import Bins

BASIS = 24
"""Cubic B-splines on equally spaced knots."""

SLOPE = 0.7
"""Of the log-density in log R where the spline is flat: a power law to begin with."""

_STEPS = 100
_GAIN = 1e-6  # an increase of the objective below this ends the search


class Mode(NamedTuple):
    """The maximum of a penalised likelihood.

    Attributes:
        beta: float64 ``[BASIS]``.
        hessian: float64 ``[BASIS, BASIS]``, by the outer product of scores, with the penalty.
        value: log-likelihood less the penalty.
        evidence: Laplace's approximation of the log of the evidence.
    """

    beta: NDArray[np.float64]
    hessian: NDArray[np.float64]
    value: float
    evidence: float


@dataclass(frozen=True, eq=False)
class Family:
    """Log-densities ``log pi = log w - 0.7 t + Z beta - log sum`` over bins, ``t = log(R + c)``.

    Attributes:
        offset: ``c``.
        order: of the differences that are penalised: 2 leaves power laws free, 3 power laws with
            curvature, log-normal bumps among them.
        base: float64 ``[bins]``, ``log w - 0.7 t``.
        basis: float64 ``[bins, BASIS]``, ``Z``.
        rough: float64 ``[BASIS, BASIS]``, the penalty for a smoothness of 1.
        proper: float64 ``[BASIS, BASIS]``, a weak prior on what is not penalised.
    """

    offset: float
    order: int
    base: NDArray[np.float64]
    basis: NDArray[np.float64]
    rough: NDArray[np.float64]
    proper: NDArray[np.float64]

    @classmethod
    def of(cls, bins: Bins, offset: float, order: int) -> Family:
        """Build the basis over bins."""
        t = np.log(bins.middle + offset)
        inner = BASIS - 3
        step = max((t[-1] - t[0]) / inner, 1e-3)
        knots = t[0] + step * np.arange(-3, inner + 4)
        basis = BSpline.design_matrix(np.clip(t, t[0], knots[-4]), knots, 3).toarray()
        differences = np.diff(np.eye(BASIS), order, axis=0) / step ** (order - 0.5)
        x = step * (np.arange(BASIS) - (BASIS - 1) / 2.0)
        free = np.stack([np.ones(BASIS), x, x * x / 2.0][:order], axis=1)
        scales = np.array([1.0, 1.0, 0.5][:order])
        coefficients = np.linalg.pinv(free) / scales[:, None]
        return cls(
            offset,
            order,
            np.log(bins.width) - SLOPE * t,
            basis,
            differences.T @ differences,
            coefficients.T @ coefficients,
        )

    def penalty(self, smoothness: float) -> NDArray[np.float64]:
        """The whole penalty matrix ``Q``."""
        return smoothness * self.rough + self.proper

    def distribution(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of each bin ``[…, bins]`` for coefficients ``[…, BASIS]``."""
        logs = self.base + beta @ self.basis.T
        out = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return np.asarray(out / out.sum(axis=-1, keepdims=True))

    def mode(
        self,
        likelihood: NDArray[np.float64],
        counts: NDArray[np.float64],
        smoothness: float,
        start: NDArray[np.float64],
    ) -> Mode:
        """Maximise ``sum c_g log q_g - beta' Q beta / 2`` by damped Fisher scoring.

        The outer product of scores stands for the Hessian: that of a mixture's likelihood may be
        indefinite, this one never is.

        Args:
            likelihood: float64 ``[bins, g]``, each column up to a factor.
            counts: float64 ``[g]``.
            smoothness: weight of the penalty.
            start: float64 ``[BASIS]``.
        """
        from fullrank.kernels.spline_mode import find_mode

        q = self.penalty(smoothness)
        beta, hessian = np.array(start, np.float64), np.empty_like(q)
        first, local = self._local
        data = (np.ascontiguousarray(likelihood, np.float64), np.asarray(counts, np.float64))
        value = find_mode(self.base, first, local, *data, q, beta, _STEPS, _GAIN, hessian)
        return Mode(beta, hessian, value, value + (_logdet(q) - _logdet(hessian)) / 2.0)

    @cached_property
    def _local(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The four basis functions of each bin that may not be 0, and the number of the first."""
        first = np.minimum((self.basis != 0).argmax(axis=1), BASIS - 4)
        return first, np.take_along_axis(self.basis, first[:, None] + np.arange(4), axis=1)


def _logdet(matrix: NDArray[np.float64]) -> float:
    return float(np.linalg.slogdet(matrix)[1])
