"""Find targets in lists from which nothing is removed, and leave them in the order of their ranks.

``match_ranks`` of ``kernels.lists`` for the common case: of an item nothing is kept but one number,
which says who met or wanted it last.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.lists import (
    BAD_USER,
    BEYOND_DEPTH,
    REPEATED,
    SHORTEST,
    UNRANKED,
    count_length,
)

_FEW = 16  # missed targets up to which each is compared with each, without a branch


@jit(inline="always")
def _reach(ranks: NDArray[np.int32], start: int, stop: int, depth: int) -> int:
    """How many rows of a list lie within the depth (0 for any); -1 if two have one rank."""
    if len(ranks) == 0:
        return min(stop - start, depth) if depth else stop - start
    equal, within = 0, 0
    for r in range(start, stop):
        equal += r > start and ranks[r] == ranks[r - 1]
        within += depth == 0 or ranks[r] <= depth
    return -1 if equal else within


@jit(inline="always")
def _hits(
    listed: NDArray[np.int32],
    places: NDArray[np.int32],
    seen: int,
    at: int,
    states: NDArray[np.int32],
    best: NDArray[np.int32],
    found: NDArray[np.int32],
) -> tuple[int, int]:
    """Write the targets that a list holds from ``at`` on, in its order.

    Returns:
        Where the next target goes, and how many rows held an item again.
    """
    repeated = 0
    for j in range(len(listed)):
        item = listed[j]
        state = states[item]
        states[item] = seen
        if state < seen:
            continue
        if state == seen:
            repeated += 1
        else:
            best[at], found[at] = places[j], item
            at += 1
    return at, repeated


@jit(inline="always")
def _missed(
    targets: NDArray[np.int32],
    gains: NDArray[np.float64],
    first: int,
    last: int,
    seen: int,
    states: NDArray[np.int32],
    room: NDArray[np.int32],
    worth: NDArray[np.float64],
) -> int:
    """Copy the targets that no list held to ``room``, and their gains; how many there are."""
    n = 0
    for t in range(first, last):
        room[n] = targets[t]
        if len(gains) > 0:
            worth[n] = gains[t]
        n += states[targets[t]] != seen
    return n


@jit(inline="always")
def _place_missed(
    n: int,
    at: int,
    graded: bool,
    room: NDArray[np.int32],
    worth: NDArray[np.float64],
    found: NDArray[np.int32],
) -> None:
    """Write missed targets from ``at`` on: gain descending, then item; many as they come."""
    for i in range(n):
        place = 0 if n <= _FEW else i
        for j in range(n if n <= _FEW else 0):
            if graded:
                level = worth[j] == worth[i]
                place += (worth[j] > worth[i]) | (level & (room[j] < room[i]))
            else:
                place += room[j] < room[i]
        found[at + place] = room[i]


@jit()
def match_plain(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    ranks: NDArray[np.int32],
    t_indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    gains: NDArray[np.float64],
    n_items: int,
    depth: int,
    first: int,
    last: int,
    best: NDArray[np.int32],
    found: NDArray[np.int32],
    worths: NDArray[np.float64],
    lengths: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None:
    """``match_ranks`` of ``kernels.lists`` without anything to remove; the targets come in order.

    Args:
        indptr: int64 ``[u + 1]`` lists, in order.
        items: int32 codes.
        ranks: int32 from 1, or ``[0]`` if the rows of a list are its places.
        t_indptr: int64 ``[u + 1]`` targets.
        targets: int32 codes, each once a user.
        gains: float64 ``[t]``, or ``[0]`` if all are the same.
        n_items: number of codes.
        depth: declared depth, 0 for none.
        first: first user.
        last: one after the last user.
        best: int32 ``[t]``, filled: ranks, ascending within a user; ``UNRANKED`` last.
        found: int32 ``[t]``, filled: the target of each. The unranked ones of a user are in the
            order of gain (descending) and item unless there are over ``_FEW``.
        worths: like ``gains``, filled: the gain of each.
        lengths: int32 ``[u]``, filled: places that a list fills.
        counts: int64 ``[N_COUNTS]``, zeros; filled as by ``match_ranks``.
    """
    graded, keyed = len(gains) > 0, len(ranks) > 0
    states = np.zeros(n_items, dtype=np.int32)
    slots = np.empty(n_items if graded else 0, dtype=np.int64)
    rows = np.arange(1, _longest(indptr, first, last) + 1).astype(np.int32)
    most = _longest(t_indptr, first, last) + 1
    room, worth = np.empty(most, np.int32), np.empty(most if graded else 0)
    counts[SHORTEST], counts[BAD_USER] = np.iinfo(np.int64).max, -1
    for u in range(first, last):
        start, begin, end = indptr[u], t_indptr[u], t_indptr[u + 1]
        reach = _reach(ranks, start, indptr[u + 1], depth)
        if reach < 0:
            counts[BAD_USER] = u
            return
        seen = 2 * (u - first) + 1  # and one more for what is wanted: above all of users before
        for t in range(begin, end):
            states[targets[t]] = seen + 1
            if graded:
                slots[targets[t]] = t
        places = ranks[start : start + reach] if keyed else rows[:reach]
        at, repeated = _hits(items[start : start + reach], places, seen, begin, states, best, found)
        missed = _missed(targets, gains, begin, end, seen, states, room, worth)
        _place_missed(missed, at, graded, room, worth, found)
        for t in range(at, end):
            best[t] = UNRANKED
        if graded:
            for t in range(begin, end):
                worths[t] = gains[slots[found[t]]]
        lengths[u] = places[reach - 1] if reach > 0 else 0
        counts[REPEATED] += repeated
        counts[BEYOND_DEPTH] += indptr[u + 1] - start - reach
        count_length(counts, lengths[u], depth)


@jit()
def _longest(indptr: NDArray[np.int64], first: int, last: int) -> int:
    """The longest of some rows."""
    longest = 0
    for u in range(first, last):
        longest = max(longest, indptr[u + 1] - indptr[u])
    return longest
