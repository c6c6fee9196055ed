"""Leave out of a row of scores what may not be recommended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.simd import count_bad


class Allowed(NamedTuple):
    """What the queries of a block may get."""

    catalogue: NDArray[np.bool_]
    """``[n_items]``."""
    size: int
    """Number of True in it."""
    h_indptr: NDArray[np.int64]
    """``[b + 1]`` histories to leave out (all empty if repeats are kept)."""
    history: NDArray[np.int32]
    """Items."""
    e_indptr: NDArray[np.int64]
    """``[b + 1]`` items that each query may get, or length 0 for no restriction."""
    eligible: NDArray[np.int32]
    """Items."""


@jit()
def _keep_eligible(
    row: NDArray[np.float32],
    catalogue: NDArray[np.bool_],
    eligible: NDArray[np.int32],
    barred: NDArray[np.uint8],
) -> int:
    barred[:] = 1
    left = 0
    for item in eligible:
        if catalogue[item] and barred[item] == 1:
            barred[item] = 0
            left += 1
    for c in range(len(row)):
        if barred[c] == 1:
            row[c] = -np.inf
    return left


@jit()
def mask_row(
    row: NDArray[np.float32], query: int, allowed: Allowed, barred: NDArray[np.uint8]
) -> int:
    """Set what the query may not get to -inf; the number of candidates left.

    Args:
        row: float32 ``[n_items]``.
        query: in the block.
        allowed: what may be recommended.
        barred: uint8 ``[n_items]``, zero; 1 on exit where history or eligibility bar an item (not
            the catalogue). ``free_row`` zeroes it.
    """
    catalogue = allowed.catalogue
    if len(allowed.e_indptr) > 0:
        first, last = allowed.e_indptr[query], allowed.e_indptr[query + 1]
        left = _keep_eligible(row, catalogue, allowed.eligible[first:last], barred)
    else:
        left = allowed.size
        if left < len(row):
            for c in range(len(row)):
                row[c] = row[c] if catalogue[c] else np.float32(-np.inf)
    for h in range(allowed.h_indptr[query], allowed.h_indptr[query + 1]):
        item = allowed.history[h]
        if catalogue[item] and barred[item] == 0:
            left -= 1
        barred[item] = 1
        row[item] = -np.inf
    return left


@jit()
def free_row(query: int, allowed: Allowed, barred: NDArray[np.uint8]) -> None:
    """Zero what ``mask_row`` set."""
    if len(allowed.e_indptr) > 0:
        barred[:] = 0
    for h in range(allowed.h_indptr[query], allowed.h_indptr[query + 1]):
        barred[allowed.history[h]] = 0


@jit()
def first_bad(row: NDArray[np.float32]) -> int:
    """Place of the first NaN or +inf in whole vectors of scores, -1 if there is none."""
    if count_bad(row, 0, len(row)) == 0:
        return -1
    for c in range(len(row)):
        if not row[c] < np.float32(np.inf):
            return c
    return -1
