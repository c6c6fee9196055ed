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
def _running_sums(
    row: NDArray[np.float64],
    weights: NDArray[np.float64],
    cuts: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Fill the sum of ``row x weights`` up to each cut."""
    total = 0.0
    for i in range(len(row)):
        if row[i] != 0.0:
            total += row[i] * weights[i]
        for j in range(len(cuts)):
            if cuts[j] == i + 1:
                out[j] = total
    for j in range(len(cuts)):
        if cuts[j] > len(row):
            out[j] = total


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
        float64 ``[q, k]``, the queries of a cut side by side.
    """
    out = np.zeros((len(cuts), len(indptr) - 1))
    longest = 0
    for q in range(len(indptr) - 1):
        longest = max(longest, indptr[q + 1] - indptr[q])
    row, of_ones = np.empty(longest), np.zeros(longest + 1)
    for i in range(longest):
        of_ones[i + 1] = of_ones[i] + weights[i]
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        others = 0
        for i in range(start, start + n):
            others += gains[i] != 1.0
        if others == 0:
            for j in range(len(cuts)):
                out[j, q] = of_ones[min(cuts[j], n)]
            continue
        _copy_down(gains[start : start + n], row)
        _running_sums(row[:n], weights, cuts, out[:, q])
    return out.T
