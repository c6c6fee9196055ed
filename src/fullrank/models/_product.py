"""The one product of factors that all factor models score with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Items at a time, so that no float64 copy of all factors is made.
_TILE = 4096


def product(queries: NDArray[np.float32], items: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores of factors: computed in float64, then rounded to float32.

    A float32 product has other last bits for other block sizes, and gives items with equal
    factors unequal scores. Rounding a float64 product hides its own last bits (the chance that one
    shows is about 1e-9 a score), so that a query's scores are its own.

    Args:
        queries: float32 ``[q, d]``.
        items: float32 ``[n_items, d]``.

    Returns:
        float32 ``[q, n_items]``.
    """
    left = queries.astype(np.float64)
    out = np.empty((len(queries), len(items)), dtype=np.float32)
    for start in range(0, len(items), _TILE):
        part = slice(start, start + _TILE)
        out[:, part] = left @ items[part].astype(np.float64).T
    return out
