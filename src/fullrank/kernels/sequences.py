"""What follows an item in the sequences of users: sums over pairs of rows near one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.neighbours import Neighbours, _keep_nearest

Sequences = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]


@jit()
def _follow(
    p: int,
    sequences: Sequences,
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    found: NDArray[np.int32],
    n: int,
) -> int:
    """Add the weights of what follows row ``p``; the new number of items that were found."""
    items, places, starts, stops = sequences
    q = p
    while q > starts[p] and places[q - 1] == places[p]:
        q -= 1
    while q < stops[p] and places[q] - places[p] < len(weights):
        weight = weights[places[q] - places[p]]
        if q != p and weight > 0.0:
            if sums[items[q]] == 0.0:
                found[n] = items[q]
                n += 1
            sums[items[q]] += weight
        q += 1
    return n


@jit()
def followers(
    start: int,
    stop: int,
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    sequences: Sequences,
    weights: NDArray[np.float64],
    scales: NDArray[np.float64],
    k: int,
) -> Neighbours:
    """Find what follows the items ``start`` to ``stop``.

    Args:
        start: first item of the chunk.
        stop: end of the chunk.
        rows: indptr int64 ``[n_items + 1]`` and, for each item, its rows in ascending order.
        sequences: for each row its item, its place in the user's sequence (rows of the same time
            share one), and where the user's rows start and stop.
        weights: float64 ``[window + 1]``, by the distance of places.
        scales: float64 ``[n_items]``, factors of the items that follow.
        k: items to keep; all that tie with the k-th are kept.

    Returns:
        counts int64 ``[stop - start]``, then items and scaled sums of weights, flat.
    """
    indptr, mine = rows
    n_items = len(scales)
    sums, found = np.zeros(n_items, dtype=np.float64), np.empty(n_items, dtype=np.int32)
    values, work = np.empty(n_items, dtype=np.float32), np.empty(n_items, dtype=np.float32)
    counts = np.zeros(stop - start, dtype=np.int64)
    out, kept = np.empty(n_items, dtype=np.int32), np.empty(n_items, dtype=np.float32)
    total = 0
    for i in range(start, stop):
        n = 0
        for r in range(indptr[i], indptr[i + 1]):
            n = _follow(mine[r], sequences, weights, sums, found, n)
        for p in range(n):
            values[p] = sums[found[p]] * scales[found[p]]
            sums[found[p]] = 0.0
        n = _keep_nearest(n, k, found, values, work)
        if total + n > len(out):
            out = np.concatenate((out[:total], np.empty(2 * total + n, np.int32)))
            kept = np.concatenate((kept[:total], np.empty(2 * total + n, np.float32)))
        for p in range(n):
            out[total + p], kept[total + p] = found[p], values[p]
        counts[i - start] = n
        total += n
    return counts, out[:total], kept[:total]
