"""Scores of given pairs, and where targets stand among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.order import tie_key


# The order of a sum is free: that of factors on the grid is exact in float64, and the bound of what
# float32 loses holds for any.
@jit(fastmath={"reassoc", "contract", "nsz"})
def _products(
    mine: NDArray[np.float32],
    factors: NDArray[np.float32],
    row: NDArray[np.int32],
    out: NDArray[np.float32],
) -> None:
    """Float32 products with the factors of a row of items."""
    for p in range(len(row)):
        other = factors[np.uint32(row[p])]
        total = np.float32(0.0)
        for j in range(len(mine)):
            total += mine[j] * other[j]
        out[p] = total


@jit(fastmath={"reassoc", "contract", "nsz"})
def _dot(a: NDArray[np.float64], b: NDArray[np.float32]) -> float:
    total = 0.0
    for j in range(len(a)):
        total += a[j] * np.float64(b[j])
    return total


@jit()
def pair_products(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    queries: NDArray[np.float32],
    factors: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Canonical scores of each query's own items, from factors on the grid.

    Args:
        indptr: int64 ``[q + 1]``.
        items: int32 ``[n]`` rows of ``factors``.
        queries: float32 ``[q, d]`` on the grid.
        factors: float32 ``[n_items, d]`` on the grid.
        out: float32 ``[n]``, overwritten.
    """
    mine = np.empty(queries.shape[1])
    for q in range(len(queries)):
        mine[:] = queries[q]
        for p in range(indptr[q], indptr[q + 1]):
            out[p] = np.float32(_dot(mine, factors[items[p]]))


@jit()
def first_bad(scores: NDArray[np.float32]) -> int:
    """Place of the first NaN or +inf; -1 without any."""
    for p in range(len(scores)):
        if not scores[p] < np.float32(np.inf):
            return p
    return -1


@jit()
def count_before(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    rows: NDArray[np.int64],
    scores: NDArray[np.float32],
    target_indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    target_scores: NDArray[np.float32],
    counting: NDArray[np.bool_],
    query_keys: NDArray[np.uint64],
    item_keys: NDArray[np.uint64],
    above: NDArray[np.int32],
    equal: NDArray[np.int32],
    before: NDArray[np.int32],
) -> None:
    """Add up the candidates that score above each target, as much, and that precede it.

    Of equal scores that with the lower tie key precedes, as in lists.

    Args:
        indptr: int64 ``[n + 1]`` into the candidates.
        items: int32 item codes.
        rows: int64 ``[n]``, the query of each row of candidates; the arrays below have all.
        scores: float32 of the candidates.
        target_indptr: int64 ``[q + 1]``.
        targets: int32 ``[t]`` item codes.
        target_scores: float32 ``[t]``.
        counting: bool ``[t]``: others are passed over.
        query_keys: uint64 ``[q]``.
        item_keys: uint64 ``[n_items]``.
        above: int32 ``[t]``, added to.
        equal: int32 ``[t]``, added to.
        before: int32 ``[t]``, added to.
    """
    for r in range(len(rows)):
        q = rows[r]
        for t in range(target_indptr[q], target_indptr[q + 1]):
            if not counting[t]:
                continue
            mine = target_scores[t]
            higher = ties = np.int32(0)
            for p in range(indptr[r], indptr[r + 1]):
                higher += np.int32(scores[p] > mine)
                ties += np.int32(scores[p] == mine)
            above[t] += higher
            equal[t] += ties
            before[t] += higher
            if ties == 0:
                continue
            key = tie_key(query_keys[q], item_keys, targets[t])
            for p in range(indptr[r], indptr[r + 1]):
                if scores[p] == mine:
                    other = tie_key(query_keys[q], item_keys, items[p])
                    before[t] += np.int32(other < key or (other == key and items[p] < targets[t]))


@jit()
def _settle(
    scores: NDArray[np.float32],
    row: NDArray[np.int32],
    bounds: tuple[Any, Any],
    exact: NDArray[np.float64],
    factors: NDArray[np.float32],
    score: Any,
    case: tuple[Any, int],
    item_keys: NDArray[np.uint64],
) -> tuple[int, int, int]:
    """Of the candidates within bounds: how many are above a target, as high, and precede it."""
    query_key, target = case
    key = tie_key(query_key, item_keys, target)
    above = equal = before = 0
    for p in range(len(row)):
        if not bounds[0] <= scores[p] <= bounds[1]:
            continue
        settled = np.float32(_dot(exact, factors[row[p]]))
        if settled > score:
            above += 1
            before += 1
        elif settled == score:
            equal += 1
            other = tie_key(query_key, item_keys, row[p])
            before += int(other < key or (other == key and row[p] < target))
    return above, equal, before


# Whole numbers below 2 ** 24 add up exactly in any order; of float32 a vector holds the most.
@jit(fastmath={"reassoc", "nsz"})
def _few(scores: NDArray[np.float32], low: Any, high: Any) -> tuple[Any, Any]:
    higher, reached = np.float32(0.0), np.float32(0.0)
    for p in range(len(scores)):
        higher += np.float32(1.0) if scores[p] > high else np.float32(0.0)
        reached += np.float32(1.0) if scores[p] >= low else np.float32(0.0)
    return higher, reached


@jit()
def _counted(scores: NDArray[np.float32], low: Any, high: Any) -> tuple[int, int]:
    """How many scores are above ``high``, and how many reach ``low``."""
    higher = reached = 0
    for at in range(0, len(scores), 1 << 20):
        part = _few(scores[at : at + (1 << 20)], low, high)
        higher += int(part[0])
        reached += int(part[1])
    return higher, reached


@jit()
def _bounds(score: float, error: float) -> tuple[Any, Any]:
    """Bounds in float32 between which a score leaves open whether it is higher; never too narrow.

    A vector holds twice as many comparisons in float32 as in float64.
    """
    low, high = np.float32(score - error), np.float32(score + error)
    return np.nextafter(low, np.float32(-np.inf)), np.nextafter(high, np.float32(np.inf))


@jit()
def count_before_factors(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    rows: NDArray[np.int64],
    queries: NDArray[np.float32],
    error: NDArray[np.float64],
    factors: NDArray[np.float32],
    target_indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    target_scores: NDArray[np.float32],
    counting: NDArray[np.bool_],
    query_keys: NDArray[np.uint64],
    item_keys: NDArray[np.uint64],
    above: NDArray[np.int32],
    equal: NDArray[np.int32],
    before: NDArray[np.int32],
) -> None:
    """``count_before`` from factors on the grid: exact only where float32 leaves it open.

    Args:
        indptr: int64 ``[n + 1]`` into the candidates.
        items: int32 item codes.
        rows: int64 ``[n]``, the query of each row of candidates; the arrays below have all.
        queries: float32 ``[q, d]`` on the grid.
        error: float64 ``[q]``, how far a float32 score may be from the canonical one.
        factors: float32 ``[n_items, d]`` on the grid.
        target_indptr: int64 ``[q + 1]``.
        targets: int32 ``[t]`` item codes.
        target_scores: float32 ``[t]`` canonical.
        counting: bool ``[t]``: others are passed over.
        query_keys: uint64 ``[q]``.
        item_keys: uint64 ``[n_items]``.
        above: int32 ``[t]``, added to.
        equal: int32 ``[t]``, added to.
        before: int32 ``[t]``, added to.
    """
    longest = 0
    for r in range(len(rows)):
        longest = max(longest, indptr[r + 1] - indptr[r])
    scores = np.empty(longest, np.float32)
    exact = np.empty(queries.shape[1])
    for r in range(len(rows)):
        q = rows[r]
        mine, known = queries[q], False
        row = items[indptr[r] : indptr[r + 1]]
        _products(mine, factors, row, scores)
        for t in range(target_indptr[q], target_indptr[q + 1]):
            if not counting[t]:
                continue
            score = target_scores[t]
            low, high = _bounds(np.float64(score), error[q])
            higher, reached = _counted(scores[: len(row)], low, high)
            above[t] += higher
            before[t] += higher
            if reached == higher:
                continue
            if not known:
                exact[:], known = mine, True
            found = _settle(
                scores[: len(row)],
                row,
                (low, high),
                exact,
                factors,
                score,
                (query_keys[q], targets[t]),
                item_keys,
            )
            above[t] += found[0]
            equal[t] += found[1]
            before[t] += found[2]
