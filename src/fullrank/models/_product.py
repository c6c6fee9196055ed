"""The one product of factors that all factor models score with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Items at a time, so that no float64 copy of all factors is made.
_TILE = 4096

# Scores are kept to 2**-30 of the largest possible term: finer than float32 keeps a score of
# that size, and a million times coarser than the noise of a float64 sum.
_BITS = 30


def product(queries: NDArray[np.float32], items: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores of factors: summed in float64, rounded to a grid, then to float32.

    A float32 product has other last bits for other block sizes, and gives items with equal
    factors unequal scores. Rounding a float64 product hides its own last bits, so that a query's
    scores are its own; the chance that one shows is below 1e-7 a score. The grid is for
    sums that cancel: without it a score that should be 0 is noise, which float32 would keep.

    Args:
        queries: float32 ``[q, d]``.
        items: float32 ``[n_items, d]``.

    Returns:
        float32 ``[q, n_items]``.
    """
    left = queries.astype(np.float64)
    # Adding 1.5 * 2**52 steps and taking them off rounds to whole steps (both numbers are exact).
    large = np.ldexp(1.5 * 2.0 ** (52 - _BITS), _exponents(left))[:, None]
    out = np.empty((len(queries), len(items)), dtype=np.float32)
    for start in range(0, len(items), _TILE):
        part = slice(start, start + _TILE)
        right = items[part].astype(np.float64)
        steps = large * np.ldexp(1.0, _exponents(right))
        sums = left @ right.T
        sums += steps
        sums -= steps
        out[:, part] = sums
    return out


def _exponents(factors: NDArray[np.float64]) -> NDArray[np.int32]:
    """Power of two above the largest entry of each row."""
    _, exponents = np.frexp(np.abs(factors).max(axis=1, initial=0.0))
    return np.asarray(exponents, dtype=np.int32)
