"""SH, the smooth-head fit: the default way from sampled ranks to the full ranking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError
from fullrank.core.random import RNG, generator
from fullrank.estimators._base import Estimator, Fit, posterior, sums_given
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._spline import Family, Mode

OFFSETS = {0.0: 0.60, 3.0: 0.25, 30.0: 0.15}
"""``c`` of ``log(R + c)`` with its prior: heads of real rankings are mostly power laws."""

ORDERS = (2, 3)
SMOOTHNESS = tuple(10.0**x for x in range(5, -4, -1))

_LUMP = 4
"""Sampled ranks beyond a fourth of the first sample are one cell."""

_FIRST = 0.01
"""Share of the targets that the first stage's size must have."""

_NEAR = 5.0  # nats from the best fit: what the sensitivity looks at


@dataclass(frozen=True, kw_only=True)
class SH(Estimator):
    """Smooth-head fit: a penalised spline for the log-density of the rank in log R.

    1. Sampled ranks beyond a fourth of the first stage's sample are one cell, so that the rough
       far end of a ranking takes no flexibility from its head.
    2. ``log pi_b = log w_b - 0.7 t_b + (Z beta)_b - log sum`` with ``t = log(R + c)`` and 24 cubic
       B-splines ``Z``; second differences penalised (power laws are free) or third (log-normal
       bumps too).
    3. Fits over ``c`` in 0, 3, 30, both orders and nine penalties are averaged by their evidence
       (Laplace), not selected.
    4. The estimate is that of the evaluated users: the mean of ``b(R)`` given the sampled rank.
    5. Its interval comes from posterior draws of the fit, the coefficients and the ranks.

    The idea of a penalised spline for the log-density of a mixing distribution is Efron's
    (Biometrika 2016, g-modelling). Takes samples of fixed and of adaptive sizes as they are.
    Structure finer than about ``N / n`` ranks can't be seen with a fixed ``n``: the interval is
    approximate then, and a point mass at rank 1 is missed (the spot check flags it).
    """

    interval = "draws"

    def fit(self, groups: Groups, bins: Bins) -> SmoothFit:
        """Fit all families and weigh them.

        Raises:
            EstimateError: no fit explains the data.
        """
        lumped, member = groups.lumped(*self.cell(groups))
        likelihood = lumped.likelihood(bins)
        largest = likelihood.max(axis=0)
        if not largest.min() > 0:
            raise EstimateError(
                "a sampled rank has probability 0 at every rank of the catalogue; check the "
                "sample sizes and catalogue sizes"
            )
        likelihood = likelihood / largest
        fits, logs = [], []
        for offset, prior in OFFSETS.items():
            for order in ORDERS:
                family = Family.of(bins, offset, order)
                beta = np.zeros(family.basis.shape[1])
                for smoothness in SMOOTHNESS:
                    mode = family.mode(likelihood, lumped.counts, smoothness, beta)
                    beta = mode.beta
                    fits.append((family, mode))
                    logs.append(mode.evidence + np.log(prior))
        evidence = np.array(logs)
        weights = np.exp(evidence - evidence.max())
        return SmoothFit(
            groups, bins, fits, weights / weights.sum(), likelihood, lumped.counts, member
        )

    def cell(self, groups: Groups) -> tuple[int, int]:
        """Size of the first stage's sample, and the sampled rank beyond which all are one."""
        open_ = ~groups.exact
        if not open_.any():
            return 0, 0
        sizes, inverse = np.unique(groups.sizes[open_], return_inverse=True)
        targets = np.bincount(inverse, weights=groups.counts[open_])
        first = int(sizes[targets >= _FIRST * targets.sum()][0])
        return first, max(2, first // _LUMP)


def root_of(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """``L`` with ``L L'`` the matrix: Cholesky's, or by eigenvalues where doubles leave some <= 0.

    Few ranks (a catalogue of 3) tell nothing of most coefficients.
    """
    try:
        return np.asarray(np.linalg.cholesky(matrix), np.float64)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 1e-12 * values[-1])))


@dataclass(frozen=True, eq=False)
class SmoothFit(Fit):
    """The weighted fits.

    Attributes:
        fits: families with their modes.
        weights: float64 ``[f]``, sum to 1.
        likelihood: float64 ``[bins, cells]`` of the lumped groups, columns up to a factor.
        cells: float64 ``[cells]`` targets.
        member: int64 ``[groups]``, cell of each group.
    """

    fits: list[tuple[Family, Mode]]
    weights: NDArray[np.float64]
    likelihood: NDArray[np.float64]
    cells: NDArray[np.float64]
    member: NDArray[np.int64]

    @property
    def distribution(self) -> NDArray[np.float64]:
        """Average of the fits' distributions."""
        all_ = np.array([family.distribution(mode.beta) for family, mode in self.fits])
        return np.asarray(self.weights @ all_)

    def values(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of each function given each group's data, averaged over the fits."""
        out = np.zeros((len(self.cells), b.shape[1]))
        for (family, mode), weight in zip(self.fits, self.weights):
            if weight > 1e-6:
                given = posterior(family.distribution(mode.beta), self.likelihood)
                out += weight * (given.T @ b)
        return out[self.member]

    def moments(
        self,
        pi: NDArray[np.float64],
        functions: NDArray[np.float64],
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of sums over targets, given the cells that they lie in."""
        return sums_given(pi, self.likelihood, functions, weights)

    def lumped(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights ``[groups, c]`` added up by cell."""
        out = np.zeros((len(self.cells), weights.shape[1]))
        np.add.at(out, self.member, weights)
        return out

    def draws(self, count: int, rng: RNG) -> Iterator[NDArray[np.float64]]:
        """Distributions drawn from the posterior: each ``[bins]``."""
        source = generator(rng)
        chosen = source.choice(len(self.fits), size=count, p=self.weights)
        normal = source.standard_normal((count, len(self.fits[0][1].beta)))
        for which, z in zip(chosen, normal):
            family, mode = self.fits[which]
            root = root_of(mode.hessian)
            yield family.distribution(mode.beta + np.linalg.solve(root.T, z))

    def spread(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Largest over smallest estimate among the fits near the best: ``[j]``."""
        logs = np.log(np.maximum(self.weights, 1e-300))
        near = np.flatnonzero(logs > logs.max() - _NEAR)
        means = []
        for which in near:
            family, mode = self.fits[which]
            given = posterior(family.distribution(mode.beta), self.likelihood)
            means.append(self.cells @ (given.T @ b) / self.cells.sum())
        found = np.array(means)
        low = np.maximum(found.min(axis=0), 1e-300)
        return np.asarray(found.max(axis=0) / low)
