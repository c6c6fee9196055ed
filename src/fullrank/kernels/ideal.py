"""Weighted sums of gains in the best order that a query's targets can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

# Gaps of a Shell sort (Ciura 2001).
_GAPS = (701, 301, 132, 57, 23, 10, 4, 1)


@jit()
def _sort_down(values: NDArray[np.float64]) -> None:
    """Sort in place, largest first."""
    for gap in _GAPS:
        for i in range(gap, len(values)):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] < value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value


@jit()
def _copy_down(gains: NDArray[np.float64], row: NDArray[np.float64]) -> None:
    """Copy gains to the front of ``row``, largest first."""
    ordered = True
    for i in range(len(gains)):
        row[i] = gains[i]
        ordered = ordered and (i == 0 or row[i] <= row[i - 1])
    if not ordered:
        _sort_down(row[: len(gains)])


@jit()
def ideal_sums(
    indptr: NDArray[np.int64],
    gains: NDArray[np.float64],
    weights: NDArray[np.float64],
    cuts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Sum of ``gain x weight(place)`` of each query's targets, gains descending, within each cut.

    Args:
        indptr: int64 ``[q + 1]``.
        gains: float64 ``[t]``.
        weights: float64 ``[n]``, of place ``p`` at ``p - 1``; no query has more than ``n`` targets.
        cuts: int64 ``[k]``.

    Returns:
        float64 ``[q, k]``.
    """
    out = np.zeros((len(indptr) - 1, len(cuts)))
    longest = 0
    for q in range(len(indptr) - 1):
        longest = max(longest, indptr[q + 1] - indptr[q])
    row = np.empty(longest)
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        _copy_down(gains[start : start + n], row)
        total = 0.0
        for i in range(n):
            if row[i] != 0.0:
                total += row[i] * weights[i]
            for j in range(len(cuts)):
                if cuts[j] == i + 1:
                    out[q, j] = total
        for j in range(len(cuts)):
            if cuts[j] > n:
                out[q, j] = total
    return out
