"""Sparse matrices as the triples of arrays that kernels take, and what models ask of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.ragged import as_indptr, rows_of, take_ragged
from fullrank.core.random import mix

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fullrank.core.queries import Queries

Triple = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]
"""A CSR matrix: ``indptr`` int64 ``[n + 1]``, ``indices`` int32, ``data`` (one dtype a kernel)."""


def triple(matrix: csr_matrix, dtype: type = np.float64) -> Triple:
    """The arrays of a CSR matrix, in the dtypes that kernels were compiled for."""
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(dtype, copy=False),
    )


def transpose(matrix: csr_matrix) -> csr_matrix:
    """The transpose as CSR with sorted indices."""
    out = matrix.T.tocsr()
    out.sort_indices()
    return out


def row_sums(matrix: csr_matrix, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum ``values`` (one a stored cell) by row, each row from left to right."""
    rows = rows_of(matrix.indptr.astype(np.int64))
    return np.bincount(rows, weights=values, minlength=matrix.shape[0]).astype(np.float64)


def history_values(queries: Queries, model: str) -> csr_matrix:
    """Histories with the value of each item's last row: float32 CSR ``[q, n_items]``.

    Args:
        queries: with ``history_values``.
        model: who asks, for the message.

    Raises:
        DataError: the queries carry no values.
    """
    from scipy.sparse import csr_matrix

    if queries.history_values is None and len(queries.history_items):
        raise DataError(
            f"{model} needs the values of histories and these queries have none; make them from "
            "interactions with values, or choose a setting that does without"
        )
    values = queries.history_values
    rows = rows_of(queries.history_indptr)
    key = rows * max(queries.n_items, 1) + queries.history_items
    order = np.argsort(key, kind="stable")
    key = key[order]
    last = np.append(key[1:] != key[:-1], True)[: len(key)]
    kept = order[last]
    data = np.zeros(0, np.float32) if values is None else values[kept].astype(np.float32)
    indptr = as_indptr(np.bincount(rows[kept], minlength=len(queries)))
    return csr_matrix(
        (data, queries.history_items[kept], indptr), shape=(len(queries), queries.n_items)
    )


def first_twins(matrix: csr_matrix) -> NDArray[np.int64]:
    """For each column of a binary CSR matrix, the first column with exactly the same rows.

    Factorisations give such twins factors that differ in the last bits; models copy those of the
    first to the others, so that items nobody could tell apart get equal scores.

    Returns:
        int64 ``[n_columns]``; its own number for a column without an earlier twin.
    """
    from fullrank.kernels.hash_sums import sum_row_hashes

    n = matrix.shape[1]
    indices = matrix.indices.astype(np.int32, copy=False)
    sums: NDArray[np.uint64] = np.zeros(n, dtype=np.uint64)
    sum_row_hashes(matrix.indptr.astype(np.int64, copy=False), indices, sums)
    counts = np.bincount(indices, minlength=n)
    sums ^= counts.astype(np.uint64)
    key = mix(sums)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    out = first[group]
    twins = np.flatnonzero(out != np.arange(n))
    if len(twins) == 0:
        return out
    some = np.union1d(twins, out[twins])  # the only columns to be compared, so to be turned
    kept = np.zeros_like(counts)
    kept[some] = counts[some]
    return _without_collisions(as_indptr(kept), transpose(matrix[:, some]).indices, out, twins)


def _without_collisions(
    indptr: NDArray[np.int64],
    rows: NDArray[Any],
    first: NDArray[np.int64],
    twins: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Undo pairs whose hashes agree and whose rows don't."""
    counts = np.diff(indptr)
    same = counts[twins] == counts[first[twins]]
    first[twins[~same]] = twins[~same]
    twins = twins[same]
    flat, mine = take_ragged(indptr, twins)
    _, theirs = take_ragged(indptr, first[twins])
    wrong = np.unique(rows_of(flat)[rows[mine] != rows[theirs]])
    first[twins[wrong]] = twins[wrong]
    return first
