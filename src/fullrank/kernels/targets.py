"""Counts of the items above and level with each target, tile of scores by tile."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.shortlist import Product, above, below, canonical
from fullrank.kernels.simd import (
    LANES,
    bits_of,
    count_above_4,
    count_pair,
    lanes_between,
    lowest_bit,
)

MANY_TARGETS = 128
"""From here a binary search for each item is cheaper than a pass of comparisons per target."""

MANY_TIES = 32
"""From here the whole tile is given canonical scores at once."""

TINY = np.float32(2.0**-100)
"""Differences between larger float32 numbers are never denormal."""

UNRANKED = np.int32(np.iinfo(np.int32).max)


class Targets(NamedTuple):
    """Targets of a block of queries, ascending by canonical score within each."""

    indptr: NDArray[np.int64]
    """``[b + 1]``."""
    first: NDArray[np.int64]
    """``[b]``: the ranked targets of a query lie in ``first[i]:indptr[i + 1]``."""
    order: NDArray[np.int32]
    """``[t]``: which target of the query it is, by its place in the input."""
    places: NDArray[np.int32]
    """``[t]``: where the item stands; -1 for items outside the catalogue."""
    scores: NDArray[np.float32]
    """``[t]``: canonical; -inf for unranked ones."""
    hi: NDArray[np.float32]
    """``[t]``: what scores more is above, whatever the rounding."""
    lo: NDArray[np.float32]
    """``[t]``: what scores less is below, whatever the rounding."""
    over: NDArray[np.float32]
    """``[t]``: the float32 next above ``hi``."""
    reach: NDArray[np.int32]
    """``[t]``: bits of ``over - lo``."""
    above: NDArray[np.int32]
    """``[t]``: items above so far; with many targets, items between this and the next target."""
    level: NDArray[np.int32]
    """``[t]``: items level so far; with many targets, on the first of equal ones."""


@jit()
def sort_row(targets: Targets, row: int, error: float) -> None:
    """Order the targets of a query by score, find the ranked ones and set their limits."""
    start, stop = targets.indptr[row], targets.indptr[row + 1]
    scores, places, order = targets.scores, targets.places, targets.order
    if stop - start > MANY_TARGETS:
        by = np.argsort(scores[start:stop], kind="mergesort")
        scores[start:stop] = scores[start:stop][by]
        places[start:stop] = places[start:stop][by]
        for t in range(start, stop):
            order[t] = by[t - start]
    else:
        for t in range(start, stop):
            score, place, j = scores[t], places[t], t
            while j > start and scores[j - 1] > score:
                scores[j], places[j], order[j] = scores[j - 1], places[j - 1], order[j - 1]
                j -= 1
            scores[j], places[j], order[j] = score, place, t - start
    first = start
    while first < stop and scores[first] == -np.inf:
        first += 1
    targets.first[row] = first
    for t in range(first, stop):
        targets.hi[t] = above(np.float64(scores[t]) + error)
        targets.lo[t] = below(np.float64(scores[t]) - error)
        targets.over[t] = np.nextafter(targets.hi[t], np.float32(np.inf))
        targets.reach[t] = bits_of(targets.over[t] - targets.lo[t])
    targets.above[start:stop] = 0
    targets.level[start:stop] = 0


@jit()
def _make_canonical(
    product: Product, row: int, tile: NDArray[np.float32], start: int, n: int, place: int
) -> None:
    for c in range(n):
        if tile[start + c] > -np.inf:
            tile[start + c] = canonical(product, row, place + c, tile[start + c])


@jit()
def _settle(
    targets: Targets,
    t: int,
    product: Product,
    row: int,
    tile: NDArray[np.float32],
    start: int,
    n: int,
    place: int,
) -> None:
    """Compare target ``t`` with the canonical scores of what lies within rounding of it."""
    hi, lo, score = targets.hi[t], targets.lo[t], targets.scores[t]
    for c in range(0, n, LANES):
        bits = lanes_between(tile, start + c, lo, hi)
        while bits:
            j = c + lowest_bit(bits)
            bits &= bits - 1
            exact = canonical(product, row, place + j, tile[start + j])
            targets.above[t] += exact > score
            targets.level[t] += exact == score


@jit()
def _count_near(
    targets: Targets,
    t: int,
    product: Product,
    row: int,
    tile: NDArray[np.float32],
    start: int,
    n: int,
    place: int,
    pair: NDArray[np.int32],
) -> bool:
    """Count what lies within rounding of target ``t``; True, with nothing counted, if too many."""
    count_pair(tile, start, n, targets.hi[t], targets.lo[t], pair)
    between = pair[1] - pair[0]
    if product.queries.shape[1] == 0 or product.error[row] == 0.0:
        targets.level[t] += between
    elif between > MANY_TIES:
        return True
    elif between > 0:
        _settle(targets, t, product, row, tile, start, n, place)
    return False


@jit()
def _count_exactly(
    targets: Targets,
    product: Product,
    row: int,
    tile: NDArray[np.float32],
    start: int,
    n: int,
    place: int,
    t: int,
) -> None:
    """Count for the targets from ``t``, after giving the row its canonical scores."""
    counts = np.empty(2, dtype=np.int32)
    _make_canonical(product, row, tile, start, n, place)
    for i in range(t, targets.indptr[row + 1]):
        count_pair(tile, start, n, targets.scores[i], targets.scores[i], counts)
        targets.above[i] += counts[0]
        targets.level[i] += counts[1] - counts[0]


@jit()
def n_below(limits: NDArray[np.float32], low: int, high: int, score: Any) -> int:
    """First place in ascending ``limits[low:high]`` that is not below ``score``."""
    while low < high:
        middle = (low + high) // 2
        if limits[middle] < score:
            low = middle + 1
        else:
            high = middle
    return low


@jit()
def _count_many(
    targets: Targets,
    product: Product,
    row: int,
    tile: NDArray[np.float32],
    start: int,
    n: int,
    place: int,
) -> None:
    first, stop = targets.first[row], targets.indptr[row + 1]
    lowest = targets.lo[first]
    for c in range(n):
        score = tile[start + c]
        if score < lowest:
            continue
        higher = n_below(targets.hi, first, stop, score)
        if higher < stop and targets.lo[higher] <= score:
            score = canonical(product, row, place + c, score)
            higher = n_below(targets.scores, first, stop, score)
            if higher < stop and targets.scores[higher] == score:
                targets.level[higher] += 1
        if higher > first:
            targets.above[higher - 1] += 1


@jit()
def _tiny(over: NDArray[np.float32], t: int) -> bool:
    """Some of four limits is so near 0 that differences to it might be denormal, and slow."""
    least = abs(over[t])
    for j in range(1, 4):
        least = min(least, abs(over[t + j]))
    return bool(least < TINY)


@jit()
def count_rows(
    targets: Targets,
    product: Product,
    tile: NDArray[np.float32],
    width: int,
    place: int,
    first: int,
    last: int,
) -> None:
    """Count the scores of the rows ``first`` to ``last`` of a block.

    Masked scores are -inf, and so are those of the targets themselves. Within rounding of a target
    the canonical scores decide, and may replace those of the tile.

    Args:
        targets: of the block.
        product: of the block.
        tile: float32, flat: the rows, ``width`` scores each, in whole vectors.
        width: see ``tile``.
        place: of the first score of a row.
        first: row of the block that ``tile`` begins with.
        last: row after the last.
    """
    above, over, reach = targets.above, targets.over, targets.reach
    counts, nearest, pair = np.empty(4, np.int32), np.empty(4, np.int32), np.empty(2, np.int32)
    for row in range(first, last):
        start, stop = (row - first) * width, targets.indptr[row + 1]
        t = targets.first[row]
        if stop - t > MANY_TARGETS:
            _count_many(targets, product, row, tile, start, width, place)
            continue
        while t < stop:
            group = 4 if t + 4 <= stop and not _tiny(over, t) else 1
            if group == 4:
                count_above_4(tile, start, width, over, t, counts, nearest)
            else:
                count_pair(tile, start, width, targets.hi[t], targets.lo[t], pair)
                counts[0] = pair[0]
                nearest[0] = 0 if pair[1] > pair[0] else np.int32(0x7FFFFFFF)
            for j in range(group):
                above[t + j] += counts[j]
                if nearest[j] <= reach[t + j] and _count_near(
                    targets, t + j, product, row, tile, start, width, place, pair
                ):
                    above[t + j] -= counts[j]
                    _count_exactly(targets, product, row, tile, start, width, place, t + j)
                    group = stop - t
                    break
            t += group


@jit()
def finish_row(
    targets: Targets, row: int, best: NDArray[np.int32], worst: NDArray[np.int32]
) -> None:
    """Write the ranks of a query's targets, in the order of the input.

    Args:
        targets: of the block, counted over the whole catalogue.
        row: of the query in the block.
        best: int32 ``[t]`` of the block, overwritten for this query.
        worst: the same.
    """
    start, first, stop = targets.indptr[row], targets.first[row], targets.indptr[row + 1]
    for t in range(start, first):
        best[start + targets.order[t]] = UNRANKED
        worst[start + targets.order[t]] = UNRANKED
    many = stop - first > MANY_TARGETS
    beyond = np.int32(0)
    end = stop
    while end > first:  # groups of equal targets, from the top
        begin = end - 1
        while begin > first and targets.scores[begin - 1] == targets.scores[begin]:
            begin -= 1
        if many:
            for t in range(begin, end):
                beyond += targets.above[t]
        for t in range(begin, end):
            higher = stop - end + (beyond if many else targets.above[t])
            place = start + targets.order[t]
            best[place] = higher + 1
            worst[place] = higher + targets.level[begin] + end - begin
        end = begin
