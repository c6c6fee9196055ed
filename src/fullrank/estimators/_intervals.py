"""Intervals of estimates: posterior draws, a bootstrap through the whole fit, or a table's spread.

The error of an estimate for the evaluated users comes from the sampling of items; that for the
population which they come from has the sampling of users on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.core.random import derive
from fullrank.estimators._base import Fit
from fullrank.estimators._cases import Stratum
from fullrank.estimators._problem import Problem
from fullrank.estimators.mle import MLE
from fullrank.estimators.smooth_head import SmoothFit
from fullrank.stats.clusters import Clusters

_BATCH = 50  # resamples that are fitted together

WIDER = 1.1
"""Posterior draws spread by so much more around their median: a spline knows nothing of structure
finer than its knots. Without it nominal 95 % intervals of thinned samples covered 93.6 % over 21
worlds, with it 95.5 %; 17 other worlds were looked at afterwards (replications/item_sampling,
coverage.md)."""

_AGAIN, _ROUNDS = 100, 4
"""Samples of other candidates, and for how many drawings of the users' ranks."""


class Ends(NamedTuple):
    """Estimates ``[metrics]`` with their errors; each end is low, high.

    Attributes:
        value: the estimates.
        users: ends for the evaluated users.
        population: ends for the population.
        se_items: standard error from the sampling of items.
        se_users: standard error from the sampling of users.
        se: both together.
    """

    value: NDArray[np.float64]
    users: tuple[NDArray[np.float64], NDArray[np.float64]]
    population: tuple[NDArray[np.float64], NDArray[np.float64]]
    se_items: NDArray[np.float64]
    se_users: NDArray[np.float64]
    se: NDArray[np.float64]


def from_draws(problem: Problem, level: float, count: int, seed: int) -> Ends:
    """Posterior draws of the fit, its coefficients and each target's rank, spread by ``WIDER``.

    Args:
        problem: with fits that can be drawn from.
        level: of confidence.
        count: draws.
        seed: of the draws.
    """
    source = np.random.default_rng(derive(seed, "draws"))
    streams = []
    for number, fit in enumerate(problem.fits):
        assert isinstance(fit, SmoothFit)
        streams.append(fit.draws(count, derive(seed, "fit", number)))
    z = source.standard_normal((2, count, 1))
    means, spreads = [], []
    for pis in zip(*streams):
        mean, variance = problem.moments(pis)
        means.append(mean)
        spreads.append(variance)
    mean, variance = np.array(means), np.array(spreads)
    mine = mean + np.sqrt(variance) * z[0]
    middle = np.median(mine, axis=0)
    mine = middle + WIDER * (mine - middle)
    se_users = users_error(problem, variance.mean(axis=0))
    everyone = mine + se_users * z[1]
    tails = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
    return Ends(
        value=middle,
        users=_quantiles(mine, tails),
        population=_quantiles(everyone, tails),
        se_items=mine.std(axis=0, ddof=1),
        se_users=se_users,
        se=np.hypot(mine.std(axis=0, ddof=1), se_users),
    )


def from_bootstrap(problem: Problem, level: float, resamples: int, seed: int) -> Ends:
    """Users are resampled, and the whole fit is done anew for each resample.

    The part of the sampling of items is the spread of estimates for the same users with other
    candidates (``items_error``), and not what is left of the whole: where users differ by far more
    than candidates matter, that is rounding. A bootstrap doesn't see the bias of a fit (of EM
    stopped early, of a wrong prior).
    """
    found = bootstrap(problem, resamples, seed)
    value = problem.values(problem.fits)
    se, se_users = found.std(axis=0, ddof=1), users_error(problem)
    se_items = np.minimum(items_error(problem, min(resamples, _AGAIN), seed), se)
    tails = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
    population = _quantiles(found, tails)
    ratio = np.divide(se_items, se, out=np.zeros_like(se), where=se > 0)
    low, high = (value + (end - value) * ratio for end in population)
    return Ends(value, (low, high), population, se_items, se_users, se)


def from_table(problem: Problem, level: float, seed: int) -> Ends:
    """The spread of what users contribute to a table that doesn't depend on the data."""
    from scipy.stats import norm

    value = problem.values(problem.fits)
    se, se_users = _cluster_error(problem, problem.per_query()), users_error(problem)
    se_items = np.minimum(items_error(problem, _AGAIN, seed), se)
    z = float(norm.ppf((1.0 + level) / 2.0))
    return Ends(
        value,
        (value - z * se_items, value + z * se_items),
        (value - z * se, value + z * se),
        se_items,
        np.minimum(se_users, se),
        se,
    )


def bootstrap(problem: Problem, resamples: int, seed: int) -> NDArray[np.float64]:
    """Estimates ``[resamples, metrics]`` for resampled users."""
    return refitted(problem, user_draws(problem, resamples, derive(seed, "bootstrap")))


def user_draws(problem: Problem, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each query ``[q]`` is drawn, with its user, in each resample of users."""
    users, member = np.unique(problem.cases.ranked.users, return_inverse=True)
    even = np.full(len(users), 1.0 / len(users))
    for number in range(resamples):
        source = np.random.default_rng(derive(seed, number))
        yield source.multinomial(len(users), even)[member.reshape(-1)].astype(np.float64)


def refitted(problem: Problem, draws: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Estimates ``[draws, metrics]`` with weights ``[q]`` of queries, fitted anew for each."""
    out: list[NDArray[np.float64]] = []
    source = iter(draws)
    while some := list(islice(source, _BATCH)):
        fits = []
        for stratum, fit in zip(problem.cases.strata, problem.fits):
            counts = [
                stratum.by_group(stratum.counts(queries[problem.cases.rows])) for queries in some
            ]
            fits.append(problem.estimator.fit_many(stratum.groups, fit.bins, np.array(counts)))
        out.extend(
            problem.values([many[b] for many in fits], queries) for b, queries in enumerate(some)
        )
    return np.array(out)


def users_error(
    problem: Problem, variance: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Standard error ``[metrics]`` of the mean over users, if their ranks were known.

    The variance of a user's true value is that of its mean given the data, and the mean of its
    variance given the data. What is given: the problem's own fit, or else EM's.

    Args:
        problem: with fits.
        variance: float64 ``[metrics]`` of the mean, given the data, if it is known already.
    """
    seen = _with_distributions(problem)
    pis = [fit.distribution for fit in seen.fits]
    if variance is None:
        _, variance = seen.moments([pi for pi in pis if pi is not None])
    given = np.sqrt(_cluster_error(seen, _means_given(seen)) ** 2 + variance)
    return np.asarray(given)


def items_error(problem: Problem, resamples: int, seed: int) -> NDArray[np.float64]:
    """Standard error ``[metrics]`` for the evaluated users, from the candidates alone.

    The users' ranks are drawn once given their data, then their samples anew given these ranks, and
    the whole fit is done again for each. A sample of adaptive size ends at ``g`` with probability
    ``A[R, g] h_g``, where ``h`` is free of the rank (why a design stopped says nothing of it): the
    shares of the endings tell it, as they do that of a fixed size. Targets are independent.
    """
    seen, found = _with_distributions(problem), []
    rounds = min(_ROUNDS, resamples // 2)
    for number in range(rounds):
        source = np.random.default_rng(derive(seed, "items", number))
        endings = [
            _Endings.of(stratum, fit, source) for stratum, fit in zip(seen.cases.strata, seen.fits)
        ]
        drawn = [[one.draw(source) for one in endings] for _ in range(resamples // rounds)]
        found.append(np.var([*_estimated(problem, drawn)], axis=0, ddof=1))
    return np.asarray(np.sqrt(np.mean(found, axis=0)))


class _Endings(NamedTuple):
    """Where the targets of a stratum stand, and the chances of each group for them.

    Attributes:
        row: int64 ``[n]``, row of ``running`` of each target.
        running: float64 ``[rows * groups]``, running sums of each row's chances, plus its number.
        n_groups: groups of the stratum.
    """

    row: NDArray[np.int64]
    running: NDArray[np.float64]
    n_groups: int

    @classmethod
    def of(cls, stratum: Stratum, fit: Fit, source: np.random.Generator) -> _Endings:
        """Draw the ranks of the targets, given their data."""
        pi, likelihood = fit.distribution, stratum.groups.likelihood(fit.bins)
        assert pi is not None
        total = pi @ likelihood
        factor = stratum.groups.counts / np.where(total > 0, total, np.inf)
        chances = likelihood * factor
        known = np.flatnonzero((pi > 0) & (chances.sum(axis=1) > 0))
        group = stratum.group[stratum.pair]
        place = _drawn_from((pi[known, None] * likelihood[known]).T, group, source)
        return cls(place, _running(chances[known]), len(stratum.groups))

    def draw(self, source: np.random.Generator) -> NDArray[np.int64]:
        """A group for each target: int64 ``[n]``."""
        found = np.searchsorted(self.running, self.row + source.random(len(self.row)), "right")
        return np.asarray(np.minimum(found, len(self.running) - 1) - self.row * self.n_groups)


def _running(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Running sums of each row over its sum, plus the number of the row: flat, ascending."""
    sums = np.cumsum(rows, axis=1)
    last = np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    return np.asarray((sums / last + np.arange(len(rows))[:, None]).ravel())


def _drawn_from(
    rows: NDArray[np.float64], chosen: NDArray[np.int64], source: np.random.Generator
) -> NDArray[np.int64]:
    """A column by the weights of a row, for each of the chosen rows."""
    running, width = _running(rows), rows.shape[1]
    found = np.searchsorted(running, chosen + source.random(len(chosen)), "right")
    return np.asarray(np.clip(found - chosen * width, 0, width - 1))


def _estimated(
    problem: Problem, samples: list[list[NDArray[np.int64]]]
) -> Iterator[NDArray[np.float64]]:
    """Estimates ``[metrics]`` for samples that give each target of each stratum a group."""
    if problem.estimator.interval == "table":  # free of the data
        tables = problem.tables(problem.fits)
        for groups in samples:
            yield problem.value_of(tables, groups)
        return
    for at in range(0, len(samples), _BATCH):
        some, fits = samples[at : at + _BATCH], []
        for number, (stratum, fit) in enumerate(zip(problem.cases.strata, problem.fits)):
            n = len(stratum.groups)
            counts = [np.bincount(one[number], minlength=n).astype(np.float64) for one in some]
            fits.append(problem.estimator.fit_many(stratum.groups, fit.bins, np.array(counts)))
        for b, groups in enumerate(some):
            yield problem.value_of(problem.tables([many[b] for many in fits]), groups)


def _with_distributions(problem: Problem) -> Problem:
    """The problem, or that of EM if its fits are no distributions of ranks."""
    if problem.fits and problem.fits[0].distribution is None:
        return Problem.of(problem.cases, MLE(), problem.metrics)
    return problem


def _means_given(problem: Problem) -> NDArray[np.float64]:
    """Mean of each query's value given its data, under the fitted distribution."""
    from dataclasses import replace

    from fullrank.estimators._base import Given

    fits = [fit if isinstance(fit, SmoothFit) else Given.of(fit) for fit in problem.fits]
    return replace(problem, fits=list(fits)).per_query()


def _cluster_error(problem: Problem, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard error of the mean of per-query values ``[q, metrics]``, by user."""
    users = problem.cases.ranked.users.astype(np.int64)
    ascending = bool((np.diff(users) > 0).all())
    columns = np.ascontiguousarray(values.T)
    found = (Clusters.of(column, users, ascending=ascending) for column in columns)
    return np.array([clusters.state.standard_error for clusters in found])


def _quantiles(
    draws: NDArray[np.float64], tails: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = np.quantile(draws, tails, axis=0)
    return np.asarray(low), np.asarray(high)
