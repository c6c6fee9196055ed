"""Group recommendation lists by user, and find the targets in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

UNRANKED = np.int32(np.iinfo(np.int32).max)

(
    REMOVED_SEEN,
    REPEATED,
    BEYOND_DEPTH,
    SHORT,
    WITHOUT_LIST,
    SHORTEST,
    LONGEST,
    BAD_USER,
    UNKNOWN_ITEMS,
) = range(9)
"""Places in the array of counts that ``match_lists`` fills."""

N_COUNTS = 9


@jit()
def group_by_user(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    keys: NDArray[np.float64],
    n_users: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Bring rows into the order of users and, within a user, of ascending keys.

    Rows of unknown users (-1) are left out. Equal keys keep their input order. Lists that are
    grouped and in order already are recognised and returned as they are.

    Returns:
        indptr int64 ``[n_users + 1]``, items and keys in order.
    """
    indptr = np.zeros(n_users + 1, dtype=np.int64)
    in_order = True
    for r in range(len(users)):
        if users[r] < 0:
            in_order = False
            continue
        indptr[users[r] + 1] += 1
        if r and (users[r] < users[r - 1] or (users[r] == users[r - 1] and keys[r] < keys[r - 1])):
            in_order = False
    for u in range(n_users):
        indptr[u + 1] += indptr[u]
    if in_order:
        return indptr, items, keys
    place = indptr[:-1].copy()
    out_items = np.empty(indptr[-1], dtype=np.int32)
    out_keys = np.empty(indptr[-1], dtype=np.float64)
    for r in range(len(users)):
        u = users[r]
        if u >= 0:
            out_items[place[u]] = items[r]
            out_keys[place[u]] = keys[r]
            place[u] += 1
    for u in range(n_users):
        _sort_slice(out_items[indptr[u] : indptr[u + 1]], out_keys[indptr[u] : indptr[u + 1]])
    return indptr, out_items, out_keys


@jit()
def _sort_slice(items: NDArray[np.int32], keys: NDArray[np.float64]) -> None:
    for j in range(1, len(keys)):
        if keys[j] < keys[j - 1]:
            order = np.argsort(keys, kind="mergesort")
            items[:] = items[order]
            keys[:] = keys[order]
            return


@jit()
def _place_by_rank(
    items: NDArray[np.int32],
    keys: NDArray[np.float64],
    barred: NDArray[np.int32],
    mark: int,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> bool:
    """Places of a list by rank, 0 for what is removed; False if a rank comes twice."""
    removed = 0
    for j in range(len(items)):
        if j and keys[j] == keys[j - 1]:
            return False
        if barred[items[j]] == mark:
            removed += 1
            low[j] = high[j] = 0
        else:
            low[j] = high[j] = np.int64(keys[j]) - removed
    return True


@jit()
def _place_by_score(
    items: NDArray[np.int32],
    keys: NDArray[np.float64],
    barred: NDArray[np.int32],
    mark: int,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> bool:
    """First and last place of each item's block of equal scores, 0 for what is removed."""
    place = 0
    start = 0
    while start < len(items):
        stop = start
        size = 0
        while stop < len(items) and keys[stop] == keys[start]:
            size += 0 if barred[items[stop]] == mark else 1
            stop += 1
        for j in range(start, stop):
            gone = barred[items[j]] == mark
            low[j] = 0 if gone else place + 1
            high[j] = 0 if gone else place + size
        place += size
        start = stop
    return True


@jit()
def _find(
    items: NDArray[np.int32],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    depth: int,
    mark: int,
    met: NDArray[np.int32],
    wanted: NDArray[np.int32],
    slot: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    known: NDArray[np.bool_],
    counts: NDArray[np.int64],
) -> int:
    """Write the ranks of the targets met in one list; return the last place it fills."""
    last = 0
    for j in range(len(items)):
        item = items[j]
        if low[j] == 0:
            counts[REMOVED_SEEN] += 1
            continue
        if depth and low[j] > depth:
            counts[BEYOND_DEPTH] += 1
            continue
        last = high[j]
        counts[UNKNOWN_ITEMS] += 0 if known[item] else 1
        if met[item] == mark:
            counts[REPEATED] += 1
        elif wanted[item] == mark:
            best[slot[item]] = low[j]
            worst[slot[item]] = high[j]
        met[item] = mark
    return last


@jit()
def match_lists(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    keys: NDArray[np.float64],
    t_indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    s_indptr: NDArray[np.int64],
    seen: NDArray[np.int32],
    known: NDArray[np.bool_],
    by_rank: bool,
    depth: int,
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    lengths: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None:
    """Find every target in its user's list.

    A list by rank takes its ranks as places (a gap is a missing place), less the seen items above
    that were removed; a list by score is counted, and equal scores form a block. An item that
    comes a second time keeps its place and is no hit.

    Args:
        indptr: int64 ``[u + 1]`` lists, in order.
        items: int32 codes.
        keys: float64 ascending: the rank, or the score with its sign turned.
        t_indptr: int64 ``[u + 1]`` targets.
        targets: int32 codes, each once a user.
        s_indptr: int64 ``[u + 1]`` items to remove from the lists.
        seen: int32 codes.
        known: bool ``[n_items]``, items of the catalogue, for the count of unknown ones.
        by_rank: what the keys are.
        depth: declared depth, 0 for none.
        best: int32 ``[t]`` out.
        worst: int32 ``[t]`` out.
        lengths: int32 ``[u]`` out: places that a list fills.
        counts: int64 ``[N_COUNTS]`` out.
    """
    n_items = len(known)
    met = np.zeros(n_items, dtype=np.int32)  # user + 1 of the list that held the item last
    barred = np.zeros(n_items, dtype=np.int32)  # user + 1 that has seen the item
    wanted = np.zeros(n_items, dtype=np.int32)  # user + 1 whose target it is
    slot = np.zeros(n_items, dtype=np.int64)
    longest = 0
    for u in range(len(lengths)):
        longest = max(longest, indptr[u + 1] - indptr[u])
    low = np.empty(longest, dtype=np.int64)
    high = np.empty(longest, dtype=np.int64)
    counts[SHORTEST] = np.iinfo(np.int64).max
    counts[BAD_USER] = -1
    best[:] = UNRANKED
    worst[:] = UNRANKED
    for u in range(len(lengths)):
        mark = u + 1
        for t in range(t_indptr[u], t_indptr[u + 1]):
            wanted[targets[t]] = mark
            slot[targets[t]] = t
        for s in range(s_indptr[u], s_indptr[u + 1]):
            barred[seen[s]] = mark
        own = items[indptr[u] : indptr[u + 1]]
        own_keys = keys[indptr[u] : indptr[u + 1]]
        if by_rank:
            fine = _place_by_rank(own, own_keys, barred, mark, low, high)
        else:
            fine = _place_by_score(own, own_keys, barred, mark, low, high)
        if not fine:
            counts[BAD_USER] = u
            return
        lengths[u] = _find(
            own, low, high, depth, mark, met, wanted, slot, best, worst, known, counts
        )
        _count_length(counts, lengths[u], depth)


@jit()
def _count_length(counts: NDArray[np.int64], length: int, depth: int) -> None:
    if length == 0:
        counts[WITHOUT_LIST] += 1
        return
    counts[SHORTEST] = min(counts[SHORTEST], length)
    counts[LONGEST] = max(counts[LONGEST], length)
    if depth and length < depth:
        counts[SHORT] += 1
