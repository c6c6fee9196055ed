"""Spot check: exact ranks of some first-stage winners, to see what a sample can't."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError, SpecError
from fullrank.core.queries import Queries
from fullrank.core.ragged import rows_of
from fullrank.core.random import RNG, generator, seed_of
from fullrank.core.ranked import TargetRanks
from fullrank.estimators._base import posterior
from fullrank.estimators._cases import Cases, checked_sample
from fullrank.estimators.smooth_head import SH
from fullrank.models import Recommender
from fullrank.negatives import Uniform
from fullrank.rank import Catalogue, rank

CELLS = 6
"""Cells of equal predicted mass that the exact ranks are counted in."""

FLAG = 0.01
"""A p-value below flags; about 0.05 in truth, as the error of the fit is not in it."""


@dataclass(frozen=True, eq=False)
class SpotCheck:
    """Exact ranks of random winners against what the smooth-head fit predicts of them.

    Attributes:
        ranks: the sampled ranks with the exact ones in their places, to estimate from.
        p_value: of the chi-square test with five degrees of freedom.
        observed: int64 ``[6]`` exact ranks in each cell.
        expected: float64 ``[6]`` what the fit predicts.
        edges: int64 ``[6]`` last rank of each cell.
        scored: pairs scored for the check.
    """

    ranks: TargetRanks
    p_value: float
    observed: NDArray[np.int64]
    expected: NDArray[np.float64]
    edges: NDArray[np.int64]
    scored: int

    @property
    def flagged(self) -> bool:
        """The fit is wrong about the head: estimate from ``ranks``, or take ``Thinned``."""
        return self.p_value < FLAG

    def __str__(self) -> str:
        word = (
            f"below {FLAG:g}: the fit is wrong about the head"
            if self.flagged
            else f"not below {FLAG:g}, from where the fit is said to be wrong about the head"
        )
        return f"spot check of {self.observed.sum()} winners: p = {self.p_value:.3g}, {word}"


def spot_check(
    model: Recommender,
    queries: Queries,
    ranked: TargetRanks,
    *,
    n: int = 200,
    catalogue: Catalogue | str | NDArray[np.bool_] = "fit",
    rng: RNG = 0,
) -> SpotCheck:
    """Rank some of the targets that came first in their first sample in the whole catalogue.

    Whom to check is drawn at random among them, so that the exact ranks may enter the same fit.

    Args:
        model: that the ranks are of.
        queries: that they are of.
        ranked: ranks among uniform candidates, one target a query.
        n: targets to check.
        catalogue: as it was ranked with.
        rng: seed or Generator of whom to check.

    Raises:
        EstimateError: no target came first, or ranks of other queries.
    """
    if not isinstance(n, int | np.integer) or n < CELLS:
        raise SpecError(f"n must be a whole number of at least {CELLS} targets, got {n!r}")
    winners = _winners(ranked, queries)
    source = generator(rng)
    chosen = np.sort(source.choice(winners, size=min(n, len(winners)), replace=False))
    rows = rows_of(ranked.indptr)[chosen]
    design = Uniform(m=queries.n_items)
    exact = rank(
        model, queries[rows], candidates=design, catalogue=catalogue, seed=seed_of(rng)
    ).targets
    assert exact.sample is not None
    known = known_at(ranked, chosen, exact.sample.ranks, exact.sample.catalog_sizes)
    scored = int(exact.counts["scored_pairs"])
    counts = {**ranked.counts, "spot_checked": len(chosen), "spot_check_pairs": scored}
    return SpotCheck(
        replace(known, counts=counts),
        *tested(ranked, exact.sample.ranks.astype(np.int64)),
        scored=scored,
    )


def known_at(
    ranked: TargetRanks,
    chosen: NDArray[np.int64],
    ranks: NDArray[np.int32],
    catalogs: NDArray[np.int32],
) -> TargetRanks:
    """The same with exact ranks of some targets in their places.

    Args:
        ranked: ranks among uniform candidates.
        chosen: int64 ``[n]`` targets.
        ranks: ``[n]`` their ranks in the whole catalogue.
        catalogs: ``[n]`` its size.
    """
    sample = ranked.sample
    assert sample is not None
    mine, sizes, big = (x.copy() for x in (sample.ranks, sample.sizes, sample.catalog_sizes))
    mine[chosen] = ranks
    sizes[chosen] = big[chosen] = catalogs
    return replace(ranked, sample=replace(sample, ranks=mine, sizes=sizes, catalog_sizes=big))


def _winners(ranked: TargetRanks, queries: Queries) -> NDArray[np.int64]:
    """Targets that came first in the first stage's sample and are not ranked in full."""
    sample = checked_sample(ranked)
    same = len(ranked) == len(queries) and np.array_equal(ranked.users, queries.users)
    if not same:
        raise EstimateError(
            f"the ranks are of {len(ranked):,} queries and the check is asked for of "
            f"{len(queries):,} others; give the queries that were ranked"
        )
    if bool(np.any(np.diff(ranked.indptr) > 1)):
        raise EstimateError(
            "the spot check looks at queries with one target; rank with Thinned() where there are "
            "several"
        )
    found = np.flatnonzero((sample.ranks == 1) & (sample.sizes < sample.catalog_sizes))
    if len(found) < CELLS:
        raise EstimateError(
            f"{len(found)} targets came first in their sample, too few to check; the estimate "
            "leans on assumptions with so few"
        )
    return found


def tested(
    ranked: TargetRanks, exact: NDArray[np.int64]
) -> tuple[float, NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Chi-square of exact ranks ``[n]`` of winners against the prediction of the fit without them.

    Returns:
        p-value, observed and expected counts of the cells, last rank of each.
    """
    from scipy.stats import chi2

    stratum = Cases.of(ranked).strata[0]
    groups = stratum.groups
    fit = SH().fit(groups, SH().bins(groups.n, 1))
    won = np.flatnonzero((groups.ranks == 1) & ~groups.exact)
    given = posterior(fit.distribution, groups.likelihood(fit.bins)[:, won])
    weight = groups.counts[won] / groups.counts[won].sum()
    running = np.cumsum(given @ weight)
    cuts = np.searchsorted(running, np.arange(1, CELLS) / CELLS)
    cuts = np.unique(np.append(np.minimum(cuts, len(running) - 1), len(running) - 1))
    edges = fit.bins.last[cuts]
    expected = np.diff(np.concatenate([[0.0], running[cuts]])) * len(exact)
    observed = np.bincount(np.searchsorted(edges, exact), minlength=len(edges))
    statistic = float((((observed - expected) ** 2) / np.maximum(expected, 1e-12)).sum())
    return float(chi2.sf(statistic, max(1, len(edges) - 1))), observed, expected, edges
