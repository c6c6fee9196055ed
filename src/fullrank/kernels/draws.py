"""Draws from a pool of items that leaves some out, each a function of seed, query and number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.order import mix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""Step of the stream of SplitMix64 (Steele, Lea & Flood 2014)."""


@jit()
def _uniform(key: np.uint64, number: int) -> float:
    """Uniform in [0, 1): draw ``number`` of the stream ``key``, as SplitMix64 makes them."""
    state = key + np.uint64(number) * _GOLDEN
    return np.float64(np.int64(mix(state) >> np.uint64(11))) * 2.0**-53


@jit()
def _below(key: np.uint64, number: int, n: int) -> int:
    """Whole number in ``[0, n)``; each has probability ``1 / n`` within ``2**-53``."""
    return min(int(_uniform(key, number) * n), n - 1)


@jit()
def excluded_places(
    place_of: NDArray[np.int32],
    own_indptr: NDArray[np.int64],
    own_items: NDArray[np.int32],
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None:
    """Turn the items that a query must not draw into places of its base, ascending, each once.

    Args:
        place_of: int32 ``[n_items]`` place of an item in the catalogue, -1 outside it.
        own_indptr: int64 ``[q + 1]`` where each query has a base of its own, else empty.
        own_items: int32, ascending within a query.
        indptr: int64 ``[q + 1]`` into ``items``.
        items: int32 codes; overwritten with places at the front of each row.
        counts: int64 ``[q]``, overwritten with the number of places.
    """
    for q in range(len(counts)):
        row = items[indptr[q] : indptr[q + 1]]
        kept = 0
        if len(own_indptr) > 0:
            base = own_items[own_indptr[q] : own_indptr[q + 1]]
            for i in range(len(row)):
                place = np.searchsorted(base, row[i])
                if place < len(base) and base[place] == row[i]:
                    row[kept] = place
                    kept += 1
        else:
            for i in range(len(row)):
                if place_of[row[i]] >= 0:
                    row[kept] = place_of[row[i]]
                    kept += 1
        places = np.sort(row[:kept])
        kept = 0
        for i in range(len(places)):
            if i == 0 or places[i] != places[i - 1]:
                row[kept] = places[i]
                kept += 1
        counts[q] = kept


@jit()
def _skip(places: NDArray[np.int32], rest: int) -> int:
    """Place of the ``rest``-th item that is not among ``places`` (ascending, each once)."""
    low, high = 0, len(places)  # how many of them lie before it
    while low < high:
        middle = (low + high) // 2
        if places[middle] - middle <= rest:
            low = middle + 1
        else:
            high = middle
    return rest + low


@jit()
def _partners(key: np.uint64, j: int, n: int, out: NDArray[np.uint32]) -> None:
    """Places that steps ``j`` and on of a Fisher-Yates order of ``n`` swap with."""
    for i in range(len(out)):
        out[i] = j + i + _below(key, j + i, n - j - i)


@jit()
def draw_distinct(
    keys: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    first: NDArray[np.int64],
    indptr: NDArray[np.int64],
    ex_indptr: NDArray[np.int64],
    ex_counts: NDArray[np.int64],
    excluded: NDArray[np.int32],
    base_starts: NDArray[np.int64],
    base: NDArray[np.int32],
    out: NDArray[np.int32],
) -> None:
    """Draw items without replacement: a part of one random order of each pool.

    The order is that of Fisher and Yates over the base, in which excluded places are passed
    over; so are the first ``first[q]`` of the others: a sample is extended by asking for what
    comes next.

    Args:
        keys: uint64 ``[q]``, of each row's stream.
        sizes: int64 ``[q]`` items of each base; without the excluded ones, at least ``first`` and
            what is drawn.
        first: int64 ``[q]``.
        indptr: int64 ``[q + 1]`` into ``out``.
        ex_indptr: int64 ``[q]`` where the excluded places of each row begin.
        ex_counts: int64 ``[q]``.
        excluded: int32 places, ascending within a row.
        base_starts: int64 ``[q]`` where the base of each row begins in ``base``.
        base: int32 item codes.
        out: int32, overwritten with item codes.
    """
    most = sizes.max() if len(sizes) else 0
    order = np.arange(most).astype(np.int32)
    partners = np.empty(most, np.uint32)
    for q in range(len(keys)):
        n, key, ex = sizes[q], keys[q], ex_indptr[q]
        items = base[base_starts[q] :]
        for i in range(ex, ex + ex_counts[q]):
            order[excluded[i]] = -1  # where it goes it is passed over
        at, end = indptr[q] - first[q], indptr[q + 1]
        j = 0
        while at < end:
            # As many steps as are missing: more only where excluded places were met.
            stop = min(j + end - at, n)
            _partners(key, j, n, partners[j:stop])
            for step in range(j, stop):
                other = partners[np.uint32(step)]
                place = order[other]
                order[other] = order[np.uint32(step)]  # what moves ahead is never looked at again
                if place >= 0:
                    if at >= indptr[q]:
                        out[at] = items[np.uint32(place)]
                    at += 1
            j = stop
        for step in range(j):  # undone, so that the next row begins anew
            other = partners[np.uint32(step)]
            order[np.uint32(step)], order[other] = step, other
        for i in range(ex, ex + ex_counts[q]):
            order[excluded[i]] = excluded[i]


@jit()
def draw_repeated(
    keys: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    first: NDArray[np.int64],
    indptr: NDArray[np.int64],
    ex_indptr: NDArray[np.int64],
    ex_counts: NDArray[np.int64],
    excluded: NDArray[np.int32],
    out: NDArray[np.int32],
) -> None:
    """Draw places with replacement, draws ``first`` and on.

    Arguments as ``draw_distinct``, but for ``sizes`` (int64 ``[q]``): items of each pool.
    """
    for q in range(len(keys)):
        left_out = excluded[ex_indptr[q] : ex_indptr[q] + ex_counts[q]]
        for j in range(indptr[q + 1] - indptr[q]):
            rest = _below(keys[q], first[q] + j, sizes[q])
            out[indptr[q] + j] = _skip(left_out, rest)


@jit()
def weight_left(
    ex_indptr: NDArray[np.int64],
    ex_counts: NDArray[np.int64],
    excluded: NDArray[np.int32],
    running: NDArray[np.int64],
    left: NDArray[np.int64],
) -> None:
    """Weight of each pool ``[q]``: that of the base without the excluded places.

    Args:
        ex_indptr: int64 ``[q]`` where the excluded places of each row begin.
        ex_counts: int64 ``[q]``.
        excluded: int32 places, ascending within a row.
        running: int64 ``[c + 1]`` running sums of whole weights, from 0.
        left: int64 ``[q]``, overwritten.
    """
    for q in range(len(ex_counts)):
        total = running[-1]
        for i in range(ex_indptr[q], ex_indptr[q] + ex_counts[q]):
            total -= running[excluded[i] + 1] - running[excluded[i]]
        left[q] = total


@jit()
def draw_weighted(
    keys: NDArray[np.uint64],
    left: NDArray[np.int64],
    first: NDArray[np.int64],
    indptr: NDArray[np.int64],
    ex_indptr: NDArray[np.int64],
    ex_counts: NDArray[np.int64],
    excluded: NDArray[np.int32],
    running: NDArray[np.int64],
    out: NDArray[np.int32],
) -> None:
    """Draw places with replacement by whole weights, exactly; arguments as above."""
    longest = ex_counts.max() if len(ex_counts) else 0
    before = np.empty(longest + 1, np.int64)  # weight of the pool before each excluded place
    gone = np.empty(longest + 1, np.int64)  # weight of the excluded places before each
    for q in range(len(keys)):
        n = ex_counts[q]
        gone[0] = 0
        for i in range(n):
            place = excluded[ex_indptr[q] + i]
            before[i] = running[place] - gone[i]
            gone[i + 1] = gone[i] + running[place + 1] - running[place]
        for j in range(indptr[q + 1] - indptr[q]):
            at = _below(keys[q], first[q] + j, left[q])
            passed = np.searchsorted(before[:n], at, side="right")
            # Beyond the excluded weight before it, the place whose running sum first exceeds it.
            out[indptr[q] + j] = np.searchsorted(running, at + gone[passed], side="right") - 1


@jit()
def race(
    key: np.uint64,
    logs: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    times: NDArray[np.float64],
) -> None:
    """Arrival times of a race that item ``i`` wins with probability ``w_i / sum w``.

    The order of arrival is a draw by weight without replacement (Efraimidis & Spirakis 2006).

    Args:
        key: of the row's stream.
        logs: float64 ``[c]`` logarithms of the weights, -inf for weight 0.
        allowed: bool ``[c]``.
        times: float64 ``[c]``, overwritten; +inf for what can't arrive.
    """
    for i in range(len(logs)):
        if not allowed[i] or logs[i] == -np.inf:
            times[i] = np.inf
            continue
        u = _uniform(key, i)
        times[i] = np.log(-np.log1p(-u)) - logs[i] if u > 0.0 else -np.inf
