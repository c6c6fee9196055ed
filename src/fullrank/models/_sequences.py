"""Rows as sequences of places: what models of "what comes next" share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.core.ragged import as_indptr, rows_of
from fullrank.models._threads import run_chunks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fullrank.core.interactions import Interactions
    from fullrank.core.queries import Queries

_CHUNK = 128


def places_of(indptr: NDArray[np.int64], times: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Place of each row in its sequence, from 0; rows of a sequence with one time share a place.

    Args:
        indptr: int64 ``[q + 1]``, which rows are a sequence, oldest first.
        times: int64 ``[n]``, or None if each row has a place of its own.
    """
    n = int(indptr[-1])
    if n == 0 or times is None:
        return np.arange(n) - np.repeat(indptr[:-1], np.diff(indptr))
    new = np.append(True, times[1:] != times[:-1])
    rows = rows_of(indptr)
    new[1:] |= rows[1:] != rows[:-1]
    count = np.cumsum(new)
    first = indptr[:-1][np.diff(indptr) > 0]
    return np.asarray(count - np.repeat(count[first], np.diff(indptr)[np.diff(indptr) > 0]))


def following(
    train: Interactions, weights: NDArray[np.float64], scales: NDArray[np.float64], k: int
) -> csr_matrix:
    """Row i: for the items that follow item i, the sum of weights by distance, times a scale.

    Args:
        train: rows with times.
        weights: float64 ``[window + 1]`` by the distance of places; at 0 for rows of the same time,
            which follow one another.
        scales: float64 ``[n_items]``.
        k: items that are kept for each, and all that tie with the last of them.

    Returns:
        float32 CSR ``[n_items, n_items]``.
    """
    from scipy.sparse import csr_matrix

    from fullrank.kernels.sequences import followers

    places = places_of(train.user_indptr, train.times).astype(np.int32)
    starts = train.user_indptr[:-1][train.users]
    sequences = (train.items, places, starts, train.user_indptr[1:][train.users])
    rows = (as_indptr(train.item_counts), np.argsort(train.items, kind="stable"))
    n = train.n_items
    parts = run_chunks(
        lambda start, stop: followers(start, stop, rows, sequences, weights, scales, k), n, _CHUNK
    )
    counts, found, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    out = csr_matrix((values, found, as_indptr(counts)), shape=(n, n))
    out.sort_indices()
    return out


def ages_of(queries: Queries) -> NDArray[np.int64]:
    """Age of each row of the histories in places: 1 for the last place, 2 for the one before."""
    indptr, n = queries.history_indptr, len(queries.history_items)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    places = places_of(indptr, queries.history_times)
    last = indptr[1:][np.diff(indptr) > 0] - 1
    return np.asarray(np.repeat(places[last], np.diff(indptr)[np.diff(indptr) > 0]) - places + 1)


def weighted_histories(queries: Queries, weights: NDArray[np.float64]) -> csr_matrix:
    """Histories with a weight for each row: float32 CSR ``[q, n_items]``, items ascending.

    Args:
        queries: ``[q]``.
        weights: float64 ``[n]``, >= 0, one a row of the histories; of several rows of an item the
            greatest counts, and rows of weight 0 are left out.
    """
    from scipy.sparse import csr_matrix

    kept = np.flatnonzero(weights > 0)
    rows, items = rows_of(queries.history_indptr)[kept], queries.history_items[kept]
    order = np.lexsort((weights[kept], items, rows))
    rows, items = rows[order], items[order]
    new = np.append((rows[1:] != rows[:-1]) | (items[1:] != items[:-1]), True)[: len(rows)]
    indptr = as_indptr(np.bincount(rows[new], minlength=len(queries)))
    data = weights[kept][order][new].astype(np.float32)
    return csr_matrix((data, items[new], indptr), shape=(len(queries), queries.n_items))
