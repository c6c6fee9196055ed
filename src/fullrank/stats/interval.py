"""The mean over queries with an interval, resampling users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.core.errors import SpecError, suggest
from fullrank.core.estimate import Estimate
from fullrank.core.random import RNG, seed_of
from fullrank.core.state import strictly_ascending
from fullrank.core.threads import run_chunks
from fullrank.stats.bootstrap import (
    bca_ends,
    multinomial_means,
    percentile_ends,
    poisson_means,
    seed_for,
    spread,
)
from fullrank.stats.clusters import Clusters, as_users, as_values
from fullrank.stats.moments import SAMPLE, Bounds, analytic, blank, check_level, without_spread

Method = Literal["auto", "analytic", "percentile", "bca", "poisson"]

ANALYTIC_FROM = 10_000
"""Users from which "auto" trusts the central limit theorem."""

_NAMES = {
    "percentile": "percentile bootstrap by user",
    "bca": "BCa bootstrap by user",
    "poisson": "Poisson bootstrap by user, percentile",
}
_FEW = 20  # users below which bootstrap intervals are clearly too short (tests: coverage)


def mean_interval(
    values: ArrayLike,
    users: ArrayLike | None = None,
    *,
    level: float = 0.95,
    method: Method = "auto",
    resamples: int = 1000,
    rng: RNG = 0,
    bounds: Bounds | None = None,
    threads: int | None = None,
) -> Estimate:
    """Mean over queries with an interval for the population that the users come from.

    The user is the unit: all queries of a user are resampled together, and the mean is the ratio
    of the sums of values and of queries. The result is bit-identical for any order of the rows
    and any number of threads.

    Args:
        values: float64 ``[q]``, NaN where undefined: left out of the mean, and counted.
        users: integer codes ``[q]``, which should follow the outside ids so that draws do; None
            if each query is a user of its own, known by its row number.
        level: confidence level.
        method: ``"analytic"`` (t from moments), ``"percentile"``, ``"bca"`` or ``"poisson"``
            (bootstrap), or ``"auto"``: analytic from 10,000 users upward, where it agrees with
            the bootstrap, and below 20, where resamples see too little; BCa in between.
        resamples: bootstrap resamples.
        rng: seed or Generator of the bootstrap.
        bounds: range of the metric, such as ``(0, 1)``: the interval is cut at it, and if all
            users agree it allows for users who are unlike them and weren't seen; without bounds
            the interval has no width then, and its assumptions say what that hides.
        threads: threads of the bootstrap; all cores by default.

    Returns:
        The estimate. One user gives no interval (NaN, with the reason in ``assumptions``).

    Raises:
        DataError: values or users that can't be used.
        SpecError: an unknown method, or a level or number of resamples out of range.

    Example:
        >>> print(mean_interval([0.1, 0.4, 0.3, 0.2], method="analytic"))
        0.2500 [0.0446, 0.4554]
    """
    return column_intervals(
        [as_values(values)], users, level, method, resamples, rng, [bounds], threads
    )[0]


def mean_intervals(
    values: ArrayLike,
    users: ArrayLike | None = None,
    *,
    level: float = 0.95,
    method: Method = "auto",
    resamples: int = 1000,
    rng: RNG = 0,
    bounds: Sequence[Bounds | None] | None = None,
    threads: int | None = None,
) -> tuple[Estimate, ...]:
    """``mean_interval`` of each column of ``values[q, m]``; ``bounds`` has one entry a column.

    A column's estimate doesn't depend on the columns beside it.
    """
    matrix = as_values(values, ndim=2)
    columns = [np.ascontiguousarray(matrix[:, j]) for j in range(matrix.shape[1])]
    if not columns:
        check_options(level, method, resamples)
        return ()
    return column_intervals(columns, users, level, method, resamples, rng, bounds, threads)


def column_intervals(
    columns: Sequence[NDArray[np.float64]],
    users: ArrayLike | None,
    level: float,
    method: Method,
    resamples: int,
    rng: RNG,
    bounds: Sequence[Bounds | None] | None,
    threads: int | None,
) -> tuple[Estimate, ...]:
    """``mean_interval`` of each of several columns ``[q]`` over the same queries, checked before.

    The moments of the columns are summed in threads; each column's are its own.
    """
    codes = as_users(users, len(columns[0]))
    check_options(level, method, resamples)
    once = codes is not None and strictly_ascending(codes)
    gathered = run_chunks(
        lambda j, _: Clusters.of(columns[j], codes, ascending=once), len(columns), 1
    )
    ranges = [None] * len(columns) if bounds is None else list(bounds)
    return intervals(gathered, level, method, resamples, seed_of(rng), ranges, threads)


def intervals(
    columns: Sequence[Clusters],
    level: float,
    method: Method,
    resamples: int,
    seed: int,
    bounds: Sequence[Bounds | None],
    threads: int | None,
) -> tuple[Estimate, ...]:
    """Estimates of checked columns; all Poisson columns share one pass over the users."""
    seed = seed_for(seed, "bootstrap")
    out: dict[int, Estimate] = {}
    waiting: list[int] = []
    for j, (clusters, span) in enumerate(zip(columns, bounds, strict=True)):
        chosen = _chosen(method, clusters.state.n_users)
        settled = without_spread(clusters.state, level, span, flat=clusters.flat)
        if settled is not None:
            out[j] = settled
        elif chosen == "analytic":
            out[j] = analytic(clusters.state, level, span, flat=False)
        elif chosen == "poisson":
            waiting.append(j)
        else:
            means = multinomial_means(clusters, resamples, seed, threads)
            out[j] = _bootstrapped(clusters, means, level, chosen)
    if waiting:
        several = poisson_means([columns[j] for j in waiting], resamples, seed, threads)
        for j, means in zip(waiting, several):
            out[j] = _bootstrapped(columns[j], means, level, "poisson")
    return tuple(_within(out[j], span) for j, span in enumerate(bounds))


def _within(estimate: Estimate, bounds: Bounds | None) -> Estimate:
    """Cut an interval at the range of the metric: no mean lies beyond it, so coverage stays."""
    if bounds is None:
        return estimate
    low, high = bounds
    # NaN ends (one user) compare false and stay.
    return replace(
        estimate,
        low=low if estimate.low < low else estimate.low,
        high=high if estimate.high > high else estimate.high,
    )


def _chosen(method: Method, n_users: int) -> Method:
    if method != "auto":
        return method
    return "bca" if _FEW <= n_users < ANALYTIC_FROM else "analytic"


def _bootstrapped(
    clusters: Clusters, means: NDArray[np.float64], level: float, method: Method
) -> Estimate:
    if method == "bca":
        low, high = bca_ends(means, clusters, level)
    else:
        low, high = percentile_ends(means, level)
    n_users = clusters.state.n_users
    few = f"{n_users} users are few for a bootstrap: its intervals tend to be too short"
    return replace(
        blank(clusters.state, level),
        low=low,
        high=high,
        se=spread(means),
        method=f"{_NAMES[method]}, {len(means):,} resamples",
        assumptions=(SAMPLE, few) if n_users < _FEW else (SAMPLE,),
    )


def check_options(level: float, method: str, resamples: int) -> None:
    """Refuse options that no interval can be made with."""
    check_level(level)
    if method not in get_args(Method):
        raise SpecError(f"unknown interval method {method!r}{suggest(method, get_args(Method))}")
    if resamples < 100:
        raise SpecError(f"resamples must be at least 100 for an interval, got {resamples}")
