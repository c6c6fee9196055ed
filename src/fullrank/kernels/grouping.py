"""Group recommendation lists by user."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

SORTED, SHUFFLED = 0, 1

_SHORT = 32  # elements up to which insertion is faster than a merge sort


@jit()
def _falls(users: NDArray[np.int32], keys: NDArray[np.generic]) -> bool:
    """True if a user is below the one before, or a key below the one before in its list."""
    falls = False
    if len(keys) > 0:
        for r in range(1, len(users)):
            falls |= (users[r] == users[r - 1]) & (keys[r] < keys[r - 1])
    for r in range(1, len(users)):
        falls |= users[r] < users[r - 1]
    return falls


@jit()
def _run_end(users: NDArray[np.int32], start: int, last: int, length: int) -> int:
    """Where the run of a user ends that begins at ``start``; ``length`` is a guess."""
    user, low, high = users[start], start, start + max(length, 1)
    while high < last and users[high] == user:
        low, high = high, high + 2 * (high - start)
    high = min(high, last)
    if users[high - 1] == user:
        return high
    while high - low > 1:  # the user is at low, another at high
        middle = (low + high) // 2
        if users[middle] == user:
            low = middle
        else:
            high = middle
    return high


@jit()
def mark_lists(
    users: NDArray[np.int32],
    keys: NDArray[np.generic],
    first: int,
    last: int,
    indptr: NDArray[np.int64],
) -> int:
    """Tell whether rows ``[first, last)`` are grouped by user and in order, and where lists begin.

    Args:
        users: int32 ``[n]``, -1 for rows of unknown users.
        keys: ``[n]`` ascending within a list, or ``[0]`` if the rows are in order.
        first: first row.
        last: one after the last row.
        indptr: int64 ``[n_users + 1]``, filled where these rows tell it, if they are in order.

    Returns:
        ``SORTED`` or ``SHUFFLED``; the latter too if a user is not in ``[0, n_users)``.
    """
    n_users = len(indptr) - 1
    begin = max(first - 1, 0)  # with the row before
    if begin < last:
        outside = users[begin] < 0 or users[last - 1] >= n_users
        if outside or _falls(users[begin:last], keys[begin:last]):
            return SHUFFLED
    before = users[first - 1] if first else np.int32(-1)
    r = first
    if 0 < first < last and users[first] == before:
        r = _run_end(users, first, last, 1)
    length = 1
    while r < last:
        for u in range(before + 1, users[r] + 1):
            indptr[u] = r
        before = users[r]
        end = _run_end(users, r, last, length)
        r, length = end, end - r
    if last == len(users):
        for u in range(before + 1, n_users + 1):
            indptr[u] = last
    return SORTED


@jit()
def count_lists(users: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Add the rows of each known user to ``counts`` (int64 ``[n_users]``)."""
    for r in range(len(users)):
        if users[r] >= 0:
            counts[users[r]] += 1


@jit()
def gather_lists(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    keys: NDArray[np.generic],
    place: NDArray[np.int64],
    out_items: NDArray[np.int32],
    out_keys: NDArray[np.generic],
) -> None:
    """Copy the rows of known users to where their lists lie; within a list as they come.

    Args:
        users: int32 ``[n]``.
        items: int32 ``[n]``.
        keys: ``[n]``, or ``[0]``.
        place: int64 ``[n_users]``, where each list begins; used up.
        out_items: int32, filled.
        out_keys: like ``keys``, filled.
    """
    keyed = len(keys) > 0
    for r in range(len(users)):
        u = users[r]
        if u >= 0:
            out_items[place[u]] = items[r]
            if keyed:
                out_keys[place[u]] = keys[r]
            place[u] += 1


@jit()
def sort_lists(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    keys: NDArray[np.generic],
    first: int,
    last: int,
) -> None:
    """Sort the lists of users ``[first, last)`` by key; stable, and in place."""
    for u in range(first, last):
        start, stop = indptr[u], indptr[u + 1]
        j = start + 1
        while j < stop and not keys[j] < keys[j - 1]:
            j += 1
        if j >= stop:
            continue
        if stop - start > _SHORT:
            own, listed = keys[start:stop], items[start:stop]
            order = np.argsort(own, kind="mergesort")
            listed[:] = listed[order]
            own[:] = own[order]
            continue
        for i in range(j, stop):
            key, item = keys[i], items[i]
            at = i
            while at > start and key < keys[at - 1]:
                keys[at], items[at] = keys[at - 1], items[at - 1]
                at -= 1
            keys[at], items[at] = key, item
