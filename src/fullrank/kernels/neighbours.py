"""Neighbours by similarity, from sparse rows alone: of items for ItemKNN, of users for UserKNN.

Entities are rows over features: items over users, or users over items. Two entities share features;
their dot product over them, divided by their norms, is the similarity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

Triple = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]
Neighbours = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


@jit()
def _similarities(
    features: NDArray[np.int32],
    weights: NDArray[np.float64],
    own: int,
    norm: float,
    columns: Triple,
    norms: NDArray[np.float64],
    shrinkage: float,
    jaccard: bool,
    dot: NDArray[np.float64],
    shared: NDArray[np.int64],
    found: NDArray[np.int32],
    values: NDArray[np.float32],
) -> int:
    """Fill ``found`` and ``values`` with the positive similarities of one entity; their number.

    ``dot`` and ``shared`` (``[n]``) must be zero, and are again afterwards.
    """
    indptr, entities, data = columns
    n = 0
    for p in range(len(features)):
        for t in range(indptr[features[p]], indptr[features[p] + 1]):
            other = entities[t]
            if shared[other] == 0:
                found[n] = other
                n += 1
            dot[other] += weights[p] * data[t]
            shared[other] += 1
    kept = 0
    for p in range(n):
        other = found[p]
        scale = norm * norms[other]
        if jaccard:
            scale = norm + norms[other] - dot[other]
        if other != own and dot[other] > 0.0 and scale > 0.0:
            together = shared[other] / (shared[other] + shrinkage)
            values[kept] = dot[other] / scale * together
            found[kept] = other
            kept += 1
        dot[other] = 0.0
        shared[other] = 0
    return kept


@jit()
def kth_largest(work: NDArray[np.float32], n: int, k: int) -> float:
    """The ``k``-th largest of the first ``n`` values, which are shuffled (Hoare's quickselect)."""
    low, high = 0, n - 1
    while low < high:
        pivot = work[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while work[i] > pivot:
                i += 1
            while work[j] < pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return float(work[k - 1])


@jit()
def _keep_nearest(
    n: int, k: int, found: NDArray[np.int32], values: NDArray[np.float32], work: NDArray[np.float32]
) -> int:
    """Move the ``k`` most similar to the front, and all that are as similar as the last of them."""
    if n <= k:
        return n
    for p in range(n):
        work[p] = values[p]
    last = kth_largest(work, n, k)
    kept = 0
    for p in range(n):
        if values[p] >= last:
            found[kept] = found[p]
            values[kept] = values[p]
            kept += 1
    return kept


@jit()
def nearest(
    start: int,
    stop: int,
    rows: Triple,
    columns: Triple,
    norms: NDArray[np.float64],
    k: int,
    shrinkage: float,
    jaccard: bool,
) -> Neighbours:
    """Find the neighbours of entities ``start`` to ``stop``, themselves left out.

    Args:
        start: first entity of the chunk.
        stop: end of the chunk.
        rows: entities × features, CSR, float64 data.
        columns: features × entities, CSR, float64 data.
        norms: float64 ``[n]``; for Jaccard the number of features.
        k: neighbours to keep; all that tie with the k-th are kept.
        shrinkage: similarities are multiplied by ``s / (s + shrinkage)``, s shared features.
        jaccard: divide by the size of the union, not by the norms.

    Returns:
        counts int64 ``[stop - start]``, then neighbours and similarities, flat.
    """
    indptr, features, data = rows
    n = len(norms)
    dot = np.zeros(n, dtype=np.float64)
    shared = np.zeros(n, dtype=np.int64)
    found = np.empty(n, dtype=np.int32)
    values = np.empty(n, dtype=np.float32)
    work = np.empty(n, dtype=np.float32)
    counts = np.zeros(stop - start, dtype=np.int64)
    out = np.empty((stop - start) * min(k, n), dtype=np.int32)
    similar = np.empty(len(out), dtype=np.float32)
    total = 0
    for i in range(start, stop):
        part = slice(indptr[i], indptr[i + 1])
        kept = _similarities(
            features[part], data[part], i, norms[i], columns, norms, shrinkage, jaccard,
            dot, shared, found, values,
        )  # fmt: skip
        kept = _keep_nearest(kept, k, found, values, work)
        if total + kept > len(out):
            more = np.empty(2 * len(out) + kept, dtype=np.int32)
            larger = np.empty(len(more), dtype=np.float32)
            for p in range(total):
                more[p], larger[p] = out[p], similar[p]
            out, similar = more, larger
        for p in range(kept):
            out[total + p], similar[total + p] = found[p], values[p]
        counts[i - start] = kept
        total += kept
    return counts, out[:total], similar[:total]


@jit()
def score_by_neighbours(
    queries: Triple,
    query_norms: NDArray[np.float64],
    own: NDArray[np.int64],
    rows: Triple,
    columns: Triple,
    norms: NDArray[np.float64],
    k: int,
    shrinkage: float,
    jaccard: bool,
    out: NDArray[np.float32],
) -> None:
    """Score items by the summed similarity of the neighbours that have them.

    Args:
        queries: histories over features, CSR, float64 data.
        query_norms: float64 ``[q]``.
        own: int64 ``[q]``, the entity that is no neighbour (the user's own row), or -1.
        rows: entities × features (whose features are summed), CSR.
        columns: features × entities, CSR, float64 data.
        norms: float64 ``[n]``.
        k: as in ``nearest``.
        shrinkage: as in ``nearest``.
        jaccard: as in ``nearest``.
        out: float32 ``[q, n_features]``, overwritten; sums run in float64.
    """
    q_indptr, q_features, q_data = queries
    r_indptr, r_features, _ = rows
    n = len(norms)
    dot = np.zeros(n, dtype=np.float64)
    shared = np.zeros(n, dtype=np.int64)
    found = np.empty(n, dtype=np.int32)
    values = np.empty(n, dtype=np.float32)
    work = np.empty(n, dtype=np.float32)
    sums = np.empty(out.shape[1], dtype=np.float64)
    for q in range(len(own)):
        part = slice(q_indptr[q], q_indptr[q + 1])
        kept = _similarities(
            q_features[part], q_data[part], own[q], query_norms[q], columns, norms, shrinkage,
            jaccard, dot, shared, found, values,
        )  # fmt: skip
        kept = _keep_nearest(kept, k, found, values, work)
        for c in range(len(sums)):
            sums[c] = 0.0
        for p in range(kept):
            for t in range(r_indptr[found[p]], r_indptr[found[p] + 1]):
                sums[r_features[t]] += values[p]
        for c in range(len(sums)):
            out[q, c] = sums[c]
