"""Scores of given pairs, and where targets stand among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.order import tie_key


# The sums are exact (factors on the grid), so that their order is free.
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
        indptr: int64 ``[q + 1]`` into the candidates.
        items: int32 ``[n]`` item codes.
        scores: float32 ``[n]``.
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
    for q in range(len(query_keys)):
        for t in range(target_indptr[q], target_indptr[q + 1]):
            if not counting[t]:
                continue
            mine = target_scores[t]
            higher = ties = np.int32(0)
            for p in range(indptr[q], indptr[q + 1]):
                higher += np.int32(scores[p] > mine)
                ties += np.int32(scores[p] == mine)
            above[t] += higher
            equal[t] += ties
            before[t] += higher
            if ties == 0:
                continue
            key = tie_key(query_keys[q], item_keys, targets[t])
            for p in range(indptr[q], indptr[q + 1]):
                if scores[p] == mine:
                    other = tie_key(query_keys[q], item_keys, items[p])
                    before[t] += np.int32(other < key or (other == key and items[p] < targets[t]))
