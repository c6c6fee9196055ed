"""Sums over a history: rows of a dense or sparse item-item matrix, or item factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

Triple = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]

# Columns summed at a time: float64 sums of one tile stay in the first-level cache.
_TILE = 2048


@jit()
def sum_dense_rows(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Write ``out[q] = sum of weights[item] over the history of q``, in the order of the history.

    Args:
        indptr: int64 ``[q + 1]``.
        items: int32 rows of ``weights``; negative ones have no row and are passed over.
        weights: float32 ``[m, c]``.
        out: float32 ``[q, c]``, overwritten; sums run in float64.
    """
    n = weights.shape[1]
    sums = np.empty(min(_TILE, n), dtype=np.float64)
    for q in range(len(indptr) - 1):
        for start in range(0, n, _TILE):
            width = min(_TILE, n - start)
            for c in range(width):
                sums[c] = 0.0
            for h in range(indptr[q], indptr[q + 1]):
                if items[h] >= 0:
                    row = weights[items[h], start : start + width]
                    for c in range(width):
                        sums[c] += row[c]
            for c in range(width):
                out[q, start + c] = sums[c]


@jit()
def sum_sparse_rows(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: Triple,
    out: NDArray[np.float32],
) -> None:
    """The same for sparse rows ``weights`` (CSR ``[n_items, n_items]``, float32 data)."""
    w_indptr, w_items, w_data = weights
    sums = np.empty(out.shape[1], dtype=np.float64)
    for q in range(len(indptr) - 1):
        for c in range(len(sums)):
            sums[c] = 0.0
        for h in range(indptr[q], indptr[q + 1]):
            for p in range(w_indptr[items[h]], w_indptr[items[h] + 1]):
                sums[w_items[p]] += w_data[p]
        for c in range(len(sums)):
            out[q, c] = sums[c]


@jit()
def sum_dense_pairs(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.float32],
    pair_indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    out: NDArray[np.float32],
) -> None:
    """``sum_dense_rows`` for some columns of each query, to the same bits.

    Args:
        indptr: int64 ``[q + 1]``.
        items: int32 rows of ``weights``; negative ones have no row and are passed over.
        weights: float32 ``[m, c]``.
        pair_indptr: int64 ``[q + 1]`` into the columns.
        columns: int32 ``[n]`` columns of ``weights``; negative ones score 0.
        out: float32 ``[n]``, overwritten; sums run in float64.
    """
    longest = 0
    for q in range(len(indptr) - 1):
        longest = max(longest, pair_indptr[q + 1] - pair_indptr[q])
    sums = np.empty(longest, np.float64)
    for q in range(len(indptr) - 1):
        mine = columns[pair_indptr[q] : pair_indptr[q + 1]]
        for p in range(len(mine)):
            sums[p] = 0.0
        for h in range(indptr[q], indptr[q + 1]):
            if items[h] >= 0:
                row = weights[items[h]]
                for p in range(len(mine)):
                    if mine[p] >= 0:
                        sums[p] += row[mine[p]]
        for p in range(len(mine)):
            out[pair_indptr[q] + p] = sums[p]


@jit()
def sum_sparse_pairs(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: Triple,
    n_items: int,
    pair_indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    out: NDArray[np.float32],
) -> None:
    """``sum_sparse_rows`` for some columns of each query, to the same bits; as above."""
    w_indptr, w_items, w_data = weights
    sums = np.zeros(n_items, dtype=np.float64)
    for q in range(len(indptr) - 1):
        for h in range(indptr[q], indptr[q + 1]):
            for p in range(w_indptr[items[h]], w_indptr[items[h] + 1]):
                sums[w_items[p]] += w_data[p]
        for p in range(pair_indptr[q], pair_indptr[q + 1]):
            out[p] = sums[columns[p]]
        for h in range(indptr[q], indptr[q + 1]):
            for p in range(w_indptr[items[h]], w_indptr[items[h] + 1]):
                sums[w_items[p]] = 0.0
