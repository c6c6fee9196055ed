"""The one product of factors that all factor models score with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Items at a time, so that no float64 copy of all factors is made.
_TILE = 4096


def product(queries: NDArray[np.float32], items: NDArray[np.float32]) -> NDArray[np.float32]:
    """Canonical scores of factors: the exact product of factors on a grid, rounded to float32.

    A float32 product has other last bits for other block sizes, threads and processors, and gives
    items with equal factors unequal scores. So each row of factors is first rounded to multiples
    of a power of two (23 bits below its largest entry for up to 128 factors: as fine as float32
    keeps that entry), few enough bits that float64 adds up all products without any rounding. The
    sum is then exact in any order, and the score is its float32.

    Args:
        queries: float32 ``[q, d]``.
        items: float32 ``[n_items, d]``.

    Returns:
        float32 ``[q, n_items]``.
    """
    from fullrank.kernels.grid import to_grid

    left = np.empty(queries.shape)
    to_grid(np.ascontiguousarray(queries), left)
    out = np.empty((len(queries), len(items)), dtype=np.float32)
    right = np.empty((min(_TILE, len(items)), items.shape[1]))
    for start in range(0, len(items), _TILE):
        part = np.ascontiguousarray(items[start : start + _TILE])
        to_grid(part, right[: len(part)])
        out[:, start : start + len(part)] = left @ right[: len(part)].T
    return out
