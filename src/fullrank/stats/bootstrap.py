"""Resampled means by user, and the ends that they give an interval."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fullrank.core.random import derive, hash_elements, mix
from fullrank.stats.clusters import Clusters

Ends = tuple[float, float]
Kernel = Callable[
    [NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]], None
]

_SMALL = 2_000_000  # user draws that take a thread under 10 ms: no second one is worth starting


def multinomial_means(
    clusters: Clusters, resamples: int, seed: int, threads: int | None = None
) -> NDArray[np.float64]:
    """Means of resamples of ``u`` users drawn with replacement (Efron 1979): float64 ``[r]``.

    Draw ``i`` of resample ``r`` is a hash of (seed, r, i) and picks from the users in ascending
    order of their codes.
    """
    from fullrank.kernels.bootstrap import multinomial_sums

    n_users = len(clusters.users)
    deviations, shift = fixed_point(clusters.residuals, n_users)
    values = np.stack([deviations, clusters.counts.astype(np.int64)])
    sums = run(multinomial_sums, values, np.arange(n_users), resamples, 2, seed, threads)
    return clusters.state.value + np.ldexp(sums[:, 0] / sums[:, 1], -shift)


def poisson_means(
    columns: Sequence[Clusters], resamples: int, seed: int, threads: int | None = None
) -> list[NDArray[np.float64]]:
    """Means of resamples in which each user counts Poisson(1) times, for all columns in one pass.

    The weight of a user in resample ``r`` is a hash of (seed, r, user code), the same in all
    columns and whoever else is there (Chamandy, Muralidharan, Najmi & Naidu 2012). Resamples
    without any user are left out; above 30 users there is none in 1e13.

    Returns:
        One float64 ``[r]`` a column.
    """
    table = poisson_table(columns, resamples, seed, threads)
    return [column[~np.isnan(column)] for column in table.T]


def poisson_table(
    columns: Sequence[Clusters], resamples: int, seed: int, threads: int | None = None
) -> NDArray[np.float64]:
    """``poisson_means`` row by row: float64 ``[r, columns]``, NaN where a resample has no user.

    Row ``r`` resamples all columns alike, so that what is computed from several of them (an order,
    a difference) is resampled with the users that they share.
    """
    from fullrank.kernels.bootstrap import MAX_WEIGHT, poisson_sums

    users, columns_of = _union(columns)
    rows: list[NDArray[np.int64]] = []
    shifts, places = [], []
    for clusters, at in zip(columns, columns_of):
        deviations, shift = fixed_point(clusters.residuals, MAX_WEIGHT * len(users))
        rows.append(_placed(deviations, at, len(users)))
        shifts.append(shift)
    for clusters, at in zip(columns, columns_of):
        counts = _placed(clusters.counts.astype(np.int64), at, len(users))
        places.append(_place_of(counts, rows, len(columns)))
    sums = run(poisson_sums, np.stack(rows), users, resamples, len(rows), seed, threads)
    means = np.full((resamples, len(columns)), np.nan)
    for j, clusters in enumerate(columns):
        filled = sums[:, places[j]] > 0
        ratio = sums[filled, j] / sums[filled, places[j]]
        means[filled, j] = clusters.state.value + np.ldexp(ratio, -shifts[j])
    return means


def percentile_ends(means: NDArray[np.float64], level: float) -> Ends:
    """The quantiles of the resampled means (Efron & Tibshirani 1993, ch. 13)."""
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bca_ends(means: NDArray[np.float64], clusters: Clusters, level: float) -> Ends:
    """Bias-corrected and accelerated quantiles (Efron 1987; Efron & Tibshirani 1993, ch. 14).

    The bias correction counts half of the resamples that equal the mean, and the acceleration
    comes from leaving out one user at a time.
    """
    from scipy.special import ndtr, ndtri

    gap = means - clusters.state.value
    equal = np.abs(gap) <= 1e-12 * np.abs(gap).max()
    below = np.count_nonzero((gap < 0) & ~equal) + np.count_nonzero(equal) / 2
    # One half of a resample stands for what 0 or all of them below the mean can't tell.
    share = min(max(below, 0.5), len(means) - 0.5) / len(means)
    bias = float(ndtri(share))
    left_out = clusters.residuals / (clusters.counts.sum() - clusters.counts)
    centred = scaled(left_out - left_out.mean())[0]
    acceleration = float((centred**3).sum() / (6 * (centred**2).sum() ** 1.5))
    z = bias + ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    stretch = np.maximum(1 - acceleration * z, 1e-12)
    low, high = np.quantile(means, ndtr(bias + z / stretch))
    return float(low), float(high)


def scaled(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Values times a power of two, the largest near 1, so that squares and cubes stay in range.

    Returns:
        ``values * 2**-exponent``, digit for digit, and the exponent.
    """
    _, exponent = np.frexp(np.abs(values).max())
    return np.ldexp(values, -int(exponent)), int(exponent)


def spread(means: NDArray[np.float64]) -> float:
    """Standard deviation of resampled means, of any size."""
    plain, exponent = scaled(means)
    return float(np.ldexp(plain.std(ddof=1), exponent))


def fixed_point(values: NDArray[np.float64], weight: int) -> tuple[NDArray[np.int64], int]:
    """Turn float64 values into whole numbers of a unit, so that their sums are exact.

    Args:
        values: float64 ``[u]``.
        weight: no sum of weights is larger, so that no weighted sum leaves 63 bits.

    Returns:
        int64 ``[u]`` and the bits of the unit, ``2**-bits``.
    """
    plain, exponent = scaled(values)
    room = 62 - max(weight, 1).bit_length()
    return np.rint(np.ldexp(plain, room)).astype(np.int64), room - exponent


def run(
    kernel: Kernel,
    values: NDArray[np.int64],
    codes: NDArray[np.int64],
    rounds: int,
    width: int,
    seed: int,
    threads: int | None,
) -> NDArray[np.int64]:
    """Run a kernel over rounds in threads: int64 ``[rounds, width]``, the same for any number."""
    keys = mix(codes.astype(np.uint64))
    seeds = hash_elements(seed, np.arange(rounds))
    out = np.zeros((rounds, width), dtype=np.int64)
    if threads is None:
        threads = 1 if rounds * len(keys) < _SMALL else _cores()
    if threads <= 1:
        kernel(values, keys, seeds, out)
        return out
    cuts = np.linspace(0, rounds, threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        jobs = [
            pool.submit(kernel, values, keys, seeds[start:stop], out[start:stop])
            for start, stop in pairwise(cuts.tolist())
        ]
        for job in jobs:
            job.result()
    return out


def seed_for(seed: int, use: str) -> int:
    """Keep the draws of bootstrap and sign flips apart under one seed."""
    return derive(seed, "stats", use)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _union(
    columns: Sequence[Clusters],
) -> tuple[NDArray[np.int64], list[NDArray[np.int64] | None]]:
    """All users of some columns, and where each column's users stand among them."""
    first = columns[0].users
    if all(np.array_equal(clusters.users, first) for clusters in columns[1:]):
        return first, [None] * len(columns)
    users = np.unique(np.concatenate([clusters.users for clusters in columns]))
    return users, [np.searchsorted(users, clusters.users) for clusters in columns]


def _placed(
    values: NDArray[np.int64], at: NDArray[np.int64] | None, n_users: int
) -> NDArray[np.int64]:
    if at is None:
        return values
    out = np.zeros(n_users, dtype=np.int64)
    out[at] = values
    return out


def _place_of(row: NDArray[np.int64], rows: list[NDArray[np.int64]], start: int) -> int:
    """Where a row stands among ``rows[start:]``; added if it is new."""
    for place in range(start, len(rows)):
        if np.array_equal(row, rows[place]):
            return place
    rows.append(row)
    return len(rows) - 1
