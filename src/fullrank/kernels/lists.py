"""Find targets in recommendation lists that are grouped by user."""

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
"""Places in the array of counts that ``match_ranks`` and ``match_scores`` fill."""

N_COUNTS = 9

# Calls with arrays cost more than a row of work (each is counted in and out), so they are made
# once a list.


@jit()
def _mark_targets(
    targets: NDArray[np.int32], first: int, seen: NDArray[np.int32], mark: int,
    marks: NDArray[np.int32], barred: NDArray[np.int32],
) -> None:  # fmt: skip
    """Note the targets of a user, the first at ``first``, and what is removed from the list."""
    for t in range(len(targets)):
        marks[targets[t], 1] = first + t
    for s in range(len(seen)):
        barred[seen[s]] = mark


@jit()
def _place_by_rank(
    items: NDArray[np.int32],
    ranks: NDArray[np.int32],
    barred: NDArray[np.int32],
    mark: int,
    places: NDArray[np.int32],
) -> None:
    """Places of a list, closed up over what is removed, which has place 0."""
    removed = 0
    for j in range(len(items)):
        gone = barred[items[j]] == mark
        removed += gone
        places[j] = 0 if gone else ranks[j] - removed


@jit()
def _place_by_score(
    items: NDArray[np.int32],
    keys: NDArray[np.float64],
    barred: NDArray[np.int32],
    mark: int,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
) -> None:
    """First and last place of each item's block of equal scores, 0 for what is removed."""
    above, start, removing = 0, 0, len(barred) > 0
    while start < len(items):
        stop, size = start, 0
        while stop < len(items) and keys[stop] == keys[start]:
            low[stop] = 0 if removing and barred[items[stop]] == mark else above + 1
            size += low[stop] > 0
            stop += 1
        for j in range(start, stop):
            high[j] = above + size if low[j] else 0
        above += size
        start = stop


@jit()
def _repeats(ranks: NDArray[np.int32]) -> bool:
    """True if two ranks of a list in order are equal."""
    found = 0
    for j in range(1, len(ranks)):
        found += ranks[j] == ranks[j - 1]
    return found > 0


@jit()
def _find(
    items: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    depth: int,
    mark: int,
    first: int,
    base: int,
    marks: NDArray[np.int32],
    known: NDArray[np.bool_],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> int:
    """Write the ranks of the targets met in one list; return the last place it fills."""
    last = 0
    for j in range(len(items)):
        item, place = items[j], low[j]
        if place == 0:
            counts[REMOVED_SEEN] += 1
            continue
        if depth and place > depth:
            counts[BEYOND_DEPTH] += 1
            continue
        last = high[j]
        if len(known) > 0 and not known[item]:
            counts[UNKNOWN_ITEMS] += 1
        if marks[item, 0] == mark:
            counts[REPEATED] += 1
            continue
        marks[item, 0] = mark
        slot = marks[item, 1]
        if slot >= first:  # else it was a target of an earlier user, or of nobody
            best[base + slot] = place
            worst[base + slot] = last
    return last


@jit()
def match_ranks(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    ranks: NDArray[np.int32],
    t_indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    s_indptr: NDArray[np.int64],
    seen: NDArray[np.int32],
    known: NDArray[np.bool_],
    n_items: int,
    depth: int,
    first: int,
    last: int,
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    lengths: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None:
    """Find the targets of users ``[first, last)`` in lists whose ranks, or rows, are the places.

    A gap between ranks is a missing place; the seen items that are removed leave none. An item
    that comes a second time keeps its place and is no hit.

    Args:
        indptr: int64 ``[u + 1]`` lists, in order.
        items: int32 codes.
        ranks: int32 from 1, or ``[0]`` if the rows of a list are its places.
        t_indptr: int64 ``[u + 1]`` targets.
        targets: int32 codes, each once a user.
        s_indptr: int64 ``[u + 1]`` items to remove from the lists.
        seen: int32 codes.
        known: bool ``[n_items]``, items of the catalogue, for the count of unknown ones; or
            ``[0]`` if they aren't counted.
        n_items: number of codes.
        depth: declared depth, 0 for none.
        first: first user.
        last: one after the last user.
        best: int32 ``[t]``, all ``UNRANKED``; filled.
        worst: int32 ``[t]``, all ``UNRANKED``; filled.
        lengths: int32 ``[u]``, filled: places that a list fills.
        counts: int64 ``[N_COUNTS]``, zeros; filled. ``BAD_USER`` is the first with one rank
            twice, or -1.
    """
    marks, barred, scratch = _scratch(indptr, first, last, n_items, len(seen))
    rows = np.arange(1, len(scratch) + 1).astype(np.int32)
    base = t_indptr[first] - 1
    counts[SHORTEST], counts[BAD_USER] = np.iinfo(np.int64).max, -1
    for u in range(first, last):
        start, stop, begin = indptr[u], indptr[u + 1], t_indptr[u] - base
        own = targets[t_indptr[u] : t_indptr[u + 1]]
        _mark_targets(own, begin, seen[s_indptr[u] : s_indptr[u + 1]], u + 1, marks, barred)
        listed, places = items[start:stop], rows[: stop - start]
        if len(ranks) > 0:
            places = ranks[start:stop]
            if _repeats(places):
                counts[BAD_USER] = u
                return
        if len(barred) > 0:
            _place_by_rank(listed, places, barred, u + 1, scratch)
            places = scratch[: stop - start]
        lengths[u] = _find(
            listed, places, places, depth, u + 1, begin, base, marks, known, best, worst, counts
        )
        count_length(counts, lengths[u], depth)


@jit()
def match_scores(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    keys: NDArray[np.float64],
    t_indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    s_indptr: NDArray[np.int64],
    seen: NDArray[np.int32],
    known: NDArray[np.bool_],
    n_items: int,
    depth: int,
    first: int,
    last: int,
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    lengths: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None:
    """``match_ranks`` for lists by score: counted off, and equal scores form a block of places.

    ``keys`` are float64 scores with their sign turned; everything else as there.
    """
    marks, barred, low = _scratch(indptr, first, last, n_items, len(seen))
    high = np.empty_like(low)
    base = t_indptr[first] - 1
    counts[SHORTEST], counts[BAD_USER] = np.iinfo(np.int64).max, -1
    for u in range(first, last):
        start, stop, begin = indptr[u], indptr[u + 1], t_indptr[u] - base
        own = targets[t_indptr[u] : t_indptr[u + 1]]
        _mark_targets(own, begin, seen[s_indptr[u] : s_indptr[u + 1]], u + 1, marks, barred)
        listed = items[start:stop]
        _place_by_score(listed, keys[start:stop], barred, u + 1, low, high)
        lengths[u] = _find(
            listed, low, high, depth, u + 1, begin, base, marks, known, best, worst, counts
        )
        count_length(counts, lengths[u], depth)


@jit()
def _scratch(
    indptr: NDArray[np.int64], first: int, last: int, n_items: int, n_seen: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """What the lists of a task are matched with.

    Returns:
        Of each item, side by side, user + 1 whose list held it last and its place as a target
        (from 1; 0 for none); user + 1 who has seen it, ``[0]`` if nothing is removed; room for
        the longest list.
    """
    longest = 0
    for u in range(first, last):
        longest = max(longest, indptr[u + 1] - indptr[u])
    marks = np.zeros((n_items, 2), dtype=np.int32)
    barred = np.zeros(n_items if n_seen else 0, dtype=np.int32)
    return marks, barred, np.empty(longest, dtype=np.int32)


@jit()
def count_length(counts: NDArray[np.int64], length: int, depth: int) -> None:
    """Count a list by the places that it fills."""
    if length == 0:
        counts[WITHOUT_LIST] += 1
        return
    counts[SHORTEST] = min(counts[SHORTEST], length)
    counts[LONGEST] = max(counts[LONGEST], length)
    if depth and length < depth:
        counts[SHORT] += 1
