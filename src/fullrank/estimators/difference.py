"""Paired difference of two models that share their candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from fullrank.core.errors import EstimateError
from fullrank.core.estimate import Estimate
from fullrank.core.random import RNG, derive, seed_of
from fullrank.core.ranked import TargetRanks
from fullrank.estimators._base import Estimator
from fullrank.estimators._estimate import as_metrics, check_repeats, point, problems_of
from fullrank.estimators._intervals import refitted, user_draws
from fullrank.estimators._problem import Problem
from fullrank.metrics import RankMetric
from fullrank.models._threads import one_blas_thread
from fullrank.stats.moments import check_level

_NOISE = 1e-12
"""Differences of metrics that are rounding."""

_DRAWS = 200
"""From the posterior: as many as ``estimate`` takes by default."""


@dataclass(frozen=True)
class Difference:
    """One metric of two models.

    Attributes:
        metric: as ``str()`` gives it.
        first: estimate of the first model.
        second: of the second.
        difference: second less first, with its interval.
        p_value: two-sided, from the bootstrap: a normal with its standard error.
    """

    metric: str
    first: float
    second: float
    difference: Estimate
    p_value: float

    def __str__(self) -> str:
        return (
            f"{self.metric}: second {self.second:.4f} less first {self.first:.4f} is "
            f"{self.difference}, p = {self.p_value:.3g}"
        )


@one_blas_thread()
def difference(
    first: TargetRanks,
    second: TargetRanks,
    metrics: str | RankMetric | Iterable[str | RankMetric],
    *,
    method: str | Estimator = "auto",
    level: float = 0.95,
    resamples: int = 100,
    rng: RNG = 0,
) -> list[Difference]:
    """Second model less first, estimated from samples with the same candidates.

    Users are resampled, the same for both, and both fits are done anew for each resample: what
    the models have in common (users, candidates, coins) leaves the difference.

    Args:
        first: ranks of one model.
        second: of the other, for the same queries and candidates.
        metrics: rank metrics or their names.
        method: as in ``estimate``.
        level: of confidence.
        resamples: of users.
        rng: seed or Generator of the resamples.

    Raises:
        EstimateError: ranks of other queries or of other candidates.
    """
    check_level(level)
    check_repeats("resamples", resamples, 2)
    _check_paired(first, second)
    chosen, seed = as_metrics(metrics), seed_of(rng)
    both = (problems_of(one, chosen, method) for one in (first, second))
    out: dict[int, Difference] = {}
    for (which, mine), (_, other) in zip(*both, strict=True):
        paired = _paired((mine, other), level, resamples, seed)
        out.update(zip(which, paired, strict=True))
    return [out[number] for number in range(len(chosen))]


def _paired(
    problems: tuple[Problem, Problem], level: float, resamples: int, seed: int
) -> Iterator[Difference]:
    """The differences of metrics that are estimated together.

    Resamples tell how far an estimate moves; where it stands is what ``estimate`` says.
    """
    from scipy.stats import norm

    values = [point(p, _DRAWS, seed) for p in problems]
    gaps = values[1] - values[0]
    draw = derive(seed, "difference")
    each = [refitted(p, user_draws(p, resamples, draw)) - p.values(p.fits) for p in problems]
    found = gaps + (each[1] - each[0])
    users = problems[0].cases.ranked.users
    # No spread between resamples (of one user, of equal samples) is no certainty about a gap.
    blind = (np.ptp(found, axis=0) <= _NOISE) & (np.abs(gaps) > _NOISE)
    found[:, blind | (len(np.unique(users)) < 2)] = np.nan
    se = np.std(found, axis=0, ddof=1)
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2], axis=0)
    for j, metric in enumerate(problems[0].metrics):
        defined, gap = problems[0].defined[:, j], float(gaps[j])
        estimate = Estimate(
            value=gap,
            low=min(float(low[j]), gap),
            high=max(float(high[j]), gap),
            se=float(se[j]),
            level=level,
            n_queries=int(defined.sum()),
            undefined=int((~defined).sum()),
            n_users=len(np.unique(users[defined])),
            method=f"{problems[0].estimator}, paired bootstrap of users through both fits",
        )
        p = 1.0 if se[j] <= _NOISE else float(2 * norm.sf(abs(gap) / se[j]))
        yield Difference(str(metric), float(values[0][j]), float(values[1][j]), estimate, p)


def _check_paired(first: TargetRanks, second: TargetRanks) -> None:
    """Refuse ranks that don't belong together."""
    same = (
        len(first) == len(second)
        and first.user_vocab == second.user_vocab
        and np.array_equal(first.users, second.users)
        and np.array_equal(first.query_ids, second.query_ids)
        and np.array_equal(first.indptr, second.indptr)
    )
    if not same:
        raise EstimateError(
            f"paired differences need the same queries in the same order, got {len(first):,} and "
            f"{len(second):,}; rank both models with the same queries"
        )
    if first.design != second.design:
        raise EstimateError(
            f"the candidates were drawn in different ways: {first.design} and {second.design}; "
            "rank both models with the same design and seed"
        )
