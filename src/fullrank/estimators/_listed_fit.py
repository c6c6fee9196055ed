"""The smooth-head fit of targets that a list left: with draws from the posterior as it is.

Behind a good list nothing of the rest precedes most targets, so that the likelihood is flat on one
side of its maximum and steep on the other: a normal around the mode, which serves elsewhere, draws
distributions there that the sample excludes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fullrank.core.random import RNG, generator
from fullrank.estimators.smooth_head import SMOOTHNESS, SmoothFit, root_of

_STEPS = 40
"""Of each chain, from the mode; where the posterior is normal one would do."""


@dataclass(frozen=True, eq=False)
class ListedFit(SmoothFit):
    """A smooth-head fit whose draws are made by elliptical slices.

    Nishihara, Murray & Adams 2014: the target's density over that of the normal around the mode is
    the likelihood of an elliptical slice sampler (Murray, Adams & MacKay 2010), which has nothing
    to tune and keeps the posterior.
    """

    @classmethod
    def of(cls, fit: SmoothFit) -> ListedFit:
        """The same fit."""
        return cls(**{f.name: getattr(fit, f.name) for f in fields(fit)})

    def draws(self, count: int, rng: RNG) -> Iterator[NDArray[np.float64]]:
        """Distributions drawn from the posterior: each ``[bins]``."""
        source = generator(rng)
        chosen = np.sort(source.choice(len(self.fits), size=count, p=self.weights))
        chains = _Chains(self, chosen)
        for _ in range(_STEPS):
            chains.step(source)
        yield from chains.distributions(chains.x, np.arange(count))[source.permutation(count)]


class _Chains:
    """Chains of coefficients, each in the family of fits that was chosen for it."""

    def __init__(self, fit: SmoothFit, chosen: NDArray[np.int64]) -> None:
        self.fit, self.chosen = fit, chosen
        modes = [fit.fits[which][1] for which in chosen]
        self.mode = np.array([mode.beta for mode in modes])
        self.hessian = np.array([mode.hessian for mode in modes])
        self.turned = np.linalg.inv(np.array([root_of(hessian) for hessian in self.hessian]))
        self.penalty = np.array(
            [fit.fits[w][0].penalty(SMOOTHNESS[w % len(SMOOTHNESS)]) for w in chosen]
        )
        self.x = np.zeros_like(self.mode)  # from the mode
        self.level = self.ratio(self.x, np.arange(len(chosen)))

    def distributions(self, x: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distributions ``[n, bins]`` of some chains, at distances from their modes."""
        beta, out = self.mode[rows] + x, np.empty((len(x), len(self.fit.bins)))
        family = self.chosen[rows] // len(SMOOTHNESS)
        for number in np.unique(family):
            some = family == number
            out[some] = self.fit.fits[number * len(SMOOTHNESS)][0].distribution(beta[some])
        return out

    def ratio(self, x: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log of the posterior over the normal around the mode, up to a constant: ``[n]``."""
        found = self.distributions(x, rows) @ self.fit.likelihood
        with np.errstate(divide="ignore"):
            out = np.log(found) @ self.fit.cells
        rough = _squares(self.mode[rows] + x, self.penalty[rows])
        return np.asarray(out - (rough - _squares(x, self.hessian[rows])) / 2.0)

    def step(self, source: np.random.Generator) -> None:
        """One elliptical slice of every chain."""
        normal = source.standard_normal(self.x.shape)
        other = (normal[:, None, :] @ self.turned)[:, 0]
        least = self.level + np.log(source.random(len(self.x)))
        high = 2.0 * np.pi * source.random(len(self.x))
        angle, low = high.copy(), high - 2.0 * np.pi
        left = np.arange(len(self.x))
        while len(left):  # ends: the slice holds a neighbourhood of where the chain stands
            turn = angle[left, None]
            tried = self.x[left] * np.cos(turn) + other[left] * np.sin(turn)
            found = self.ratio(tried, left)
            inside = found > least[left]
            self.x[left[inside]], self.level[left[inside]] = tried[inside], found[inside]
            left = left[~inside]
            high[left] = np.where(angle[left] > 0, angle[left], high[left])
            low[left] = np.where(angle[left] <= 0, angle[left], low[left])
            angle[left] = low[left] + (high[left] - low[left]) * source.random(len(left))


def _squares(x: NDArray[np.float64], matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """``x' A x`` of each row and its matrix."""
    return np.asarray(((x[:, None, :] @ matrices)[:, 0] * x).sum(axis=1))
