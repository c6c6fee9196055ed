"""Screen, then rank the survivors in full: unbiased for any distribution of ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from fullrank.core.errors import EstimateError, SpecError
from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._likelihood import log_pmf
from fullrank.negatives import Negatives, Uniform
from fullrank.rank import Adaptive


@dataclass(frozen=True, kw_only=True)
class ScreenedExact(Adaptive):
    """Drop targets that are surely beyond the cut-off, and rank the others in full.

    At each size a target goes on while its hits are at most what a target of rank ``k_max`` has
    with probability ``1 - eps``; who is left at the end is compared with the whole catalogue. With
    ``HorvitzThompson`` the estimate is unbiased for every ``k`` up to ``k_max`` and any
    distribution of ranks. It costs the share of targets with good ranks, of the catalogue each.

    Attributes:
        sizes: of the samples, ascending, the target included.
        k_max: the deepest cut-off.
        eps: share of targets of rank ``k_max`` that each stage may lose.
    """

    sizes: tuple[int, ...] = (25, 50, 100, 200)
    k_max: int = 50
    eps: float = 0.01

    def __post_init__(self) -> None:
        sizes = tuple(int(n) for n in self.sizes)
        if not sizes or sizes[0] < 2 or any(b <= a for a, b in pairwise(sizes)):
            raise SpecError(f"ScreenedExact: sizes must ascend from 2 or more, got {self.sizes}")
        if self.k_max < 1 or not 0.0 < self.eps < 1.0:
            raise SpecError(
                f"ScreenedExact: k_max must be >= 1 and eps within 0 and 1, got {self.k_max} and "
                f"{self.eps}"
            )
        object.__setattr__(self, "sizes", sizes)

    @property
    def negatives(self) -> Negatives:
        """Uniform draws without replacement."""
        return Uniform(m=self.sizes[0] - 1)

    def most_hits(self, stage: int, pool: NDArray[np.int64]) -> NDArray[np.int64]:
        """Hits with which a target goes on after a stage (from 1), for pools of these sizes."""
        draws = np.minimum(self.sizes[stage - 1] - 1, pool)
        marked = np.minimum(self.k_max - 1, pool)
        return np.asarray(hypergeom.ppf(1.0 - self.eps, pool, marked, draws)).astype(np.int64)

    def more(
        self,
        stage: int,
        drawn: NDArray[np.int64],
        hits: NDArray[np.int64],
        pool: NDArray[np.int64],
        coins: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """The next size, and the whole catalogue after the last."""
        if stage > len(self.sizes):
            return drawn
        last = stage == len(self.sizes)
        wanted = pool if last else np.full(len(pool), self.sizes[stage] - 1)
        distinct, member = np.unique(pool, return_inverse=True)
        most = self.most_hits(stage, distinct)[member.reshape(-1)]
        return np.where(hits <= most, wanted, drawn)

    def survival(self, ranks: NDArray[np.int64], catalog: int) -> NDArray[np.float64]:
        """Probability that a target of each rank is ranked in full: ``[p]``.

        By the number of hits after each stage: hypergeometric draws from what is left.
        """
        pool = np.array([catalog - 1])
        most = int(self.most_hits(len(self.sizes), pool)[0])
        out = np.zeros((len(ranks), most + 1))
        marked, drawn = (ranks - 1)[:, None], 0
        out[:, 0] = 1.0
        for stage, size in enumerate(self.sizes, start=1):
            draws = min(size - 1, catalog - 1) - drawn
            kept = int(self.most_hits(stage, pool)[0])
            new = np.zeros((len(ranks), most + 1))
            for before in range(most + 1):
                after = np.arange(before, min(kept, most) + 1)
                # The rank among what is left, of which ``draws`` are drawn.
                step = log_pmf(
                    after - before + 1,
                    np.array(draws + 1),
                    np.array(catalog - drawn),
                    marked - before + 1,
                    replacement=False,
                )
                fits = (marked >= before) & np.isfinite(step)
                new[:, after] += out[:, [before]] * np.where(fits, np.exp(step), 0.0)
            out, drawn = new, drawn + draws
        return np.asarray(out.sum(axis=1))


@dataclass(frozen=True, kw_only=True)
class HorvitzThompson(Estimator):
    """``(1 / M) sum over survivors of b(R) / s(R)``, with ``s`` the probability to survive.

    For samples of the design ``ScreenedExact`` alone. No prior and no tuning; item sampling adds
    ``(1 / M) sum_R P(R) b(R)^2 (1 - s) / s`` to the variance of one target.

    Attributes:
        design: that the sample was drawn by.
    """

    interval = "table"

    design: ScreenedExact = field(default_factory=ScreenedExact)

    def __post_init__(self) -> None:
        if not isinstance(self.design, ScreenedExact):
            raise SpecError(
                f"HorvitzThompson: design must be a ScreenedExact(…), got {self.design!r}"
            )

    def fit(self, groups: Groups, bins: Bins) -> HorvitzThompsonFit:
        """Work out who survives.

        Raises:
            EstimateError: sizes that are not of the design.
        """
        sizes = np.unique(groups.sizes[~groups.exact])
        if not set(sizes.tolist()) <= set(self.design.sizes):
            raise EstimateError(
                f"samples of the sizes {sizes.tolist()} were not drawn by {self.design}; give the "
                "design: HorvitzThompson(design=…)"
            )
        stayed = groups.counts[(groups.ranks == 1) & ~groups.exact].sum()
        if stayed:
            raise EstimateError(
                f"{stayed:,.0f} targets came first in their sample and were not ranked in full, as "
                f"{self.design} does; rank with candidates=ScreenedExact(…), or take SH"
            )
        return HorvitzThompsonFit(groups, bins, self.design)


@dataclass(frozen=True, eq=False)
class HorvitzThompsonFit(Fit):
    """Weights of the survivors.

    Attributes:
        design: of the sample.
    """

    design: ScreenedExact

    def values(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``b(R) / s(R)`` for exact ranks, else 0.

        Raises:
            EstimateError: functions that look beyond ``k_max``.
        """
        k = self.design.k_max
        if b[self.bins.first > k].any():
            raise EstimateError(
                f"the design was made for cut-offs up to {k}; take metrics with k <= {k}, or a "
                "larger k_max"
            )
        out = np.zeros((len(self.groups), b.shape[1]))
        known = np.flatnonzero(self.groups.exact & (self.groups.ranks <= k))
        for catalog in np.unique(self.groups.catalogs[known]).tolist():
            mine = known[self.groups.catalogs[known] == catalog]
            ranks = self.groups.ranks[mine]
            share = self.design.survival(ranks, catalog)
            out[mine] = b[self.bins.place(ranks)] / share[:, None]
        return out
