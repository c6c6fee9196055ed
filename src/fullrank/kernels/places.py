"""Order of the targets of each query, and whether each has a place of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.lists import UNRANKED

_UNRANKED = int(UNRANKED)

LONGEST = 64
"""Targets of a query up to which insertion is as fast as any sort."""

FINE, BAD_RANK, UNORDERED = 0, 1, 2


@jit(inline="always")
def _after(
    best: NDArray[np.int32], gains: NDArray[np.float64], items: NDArray[np.int32], a: int, b: int
) -> bool:
    """True unless target ``a`` may stand before ``b``: best, then gain descending, then item."""
    if best[a] != best[b]:
        return bool(best[a] > best[b])
    if gains[a] != gains[b]:
        return not gains[a] > gains[b]  # NaN, which no order holds, asks for a sort too
    return bool(items[a] > items[b])


@jit()
def check_targets(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    gains: NDArray[np.float64],
    items: NDArray[np.int32],
    first: int,
    last: int,
) -> int:
    """Look through the targets of queries ``[first, last)``.

    Args:
        indptr: int64 ``[q + 1]``.
        best: int32 ``[t]``.
        worst: int32 ``[t]``.
        gains: float64 ``[t]``.
        items: int32 ``[t]``.
        first: first query.
        last: one after the last query.

    Returns:
        ``BAD_RANK`` if a rank is below 1 or a block ends before it begins, else ``UNORDERED`` if
        a query's targets are not in the order of best, gain (descending) and item, else ``FINE``.
    """
    bad, unordered = False, False  # without a branch a target, which nothing could foresee
    for t in range(indptr[first], indptr[last]):
        bad |= (best[t] < 1) | (worst[t] < best[t])
    for q in range(first, last):
        for t in range(indptr[q] + 1, indptr[q + 1]):
            level = best[t - 1] == best[t]
            alike = level & (gains[t - 1] == gains[t])
            falls = gains[t - 1] > gains[t]
            unordered |= best[t - 1] > best[t]
            # NaN, which no order holds, asks for a sort too.
            unordered |= level & (gains[t - 1] != gains[t]) & (not falls)
            unordered |= alike & (items[t - 1] > items[t])
    if bad:
        return BAD_RANK
    return UNORDERED if unordered else FINE


@jit()
def sort_targets(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    gains: NDArray[np.float64],
    items: NDArray[np.int32],
    first: int,
    last: int,
    left: NDArray[np.bool_],
) -> None:
    """Sort the targets of queries ``[first, last)`` in place; stable.

    Queries with more than ``LONGEST`` targets out of order, or a gain that is NaN, are left as
    they are and marked in ``left`` (bool ``[q]``).
    """
    for q in range(first, last):
        start, stop = indptr[q], indptr[q + 1]
        t = start + 1
        while t < stop and not _after(best, gains, items, t - 1, t):
            t += 1
        if t >= stop:
            continue
        left[q] = stop - start > LONGEST
        for j in range(start, stop):
            left[q] |= gains[j] != gains[j]
        if left[q]:
            continue
        for i in range(t, stop):
            j = i
            while j > start and _after(best, gains, items, j - 1, j):
                best[j - 1], best[j] = best[j], best[j - 1]
                worst[j - 1], worst[j] = worst[j], worst[j - 1]
                gains[j - 1], gains[j] = gains[j], gains[j - 1]
                items[j - 1], items[j] = items[j], items[j - 1]
                j -= 1


@jit()
def shared_place(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    first: int,
    last: int,
) -> int:
    """The first target of queries ``[first, last)`` that has no place of its own, or -1.

    Blocks of a query are equal or apart, and have room for their targets; unranked targets need
    none. Arguments as for ``check_targets``; targets in order.
    """
    for q in range(first, last):
        block = indptr[q]
        for t in range(indptr[q] + 1, indptr[q + 1]):
            if best[t] == _UNRANKED:
                break
            if best[t] != best[t - 1]:
                block = t
                if best[t] <= worst[t - 1]:
                    return t
            elif worst[t] != worst[t - 1] or t - block > worst[t] - best[t]:
                return t
    return -1
