"""Hashes of rows, column by column, as ``core.random.hash_elements`` makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit


@jit()
def _mix(z: Any) -> Any:
    """SplitMix64 of a uint64 (Steele, Lea & Flood 2014)."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit()
def absorb(states: NDArray[np.uint64], column: NDArray[np.uint64]) -> None:
    """Go on with the hash of each row under each seed.

    Args:
        states: uint64 ``[seeds, n]``, changed.
        column: uint64 ``[n]``.
    """
    for i in range(len(column)):
        bits = _mix(column[i])
        for s in range(len(states)):
            states[s, i] = _mix(states[s, i] ^ bits)


@jit()
def sum_row_hashes(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], sums: NDArray[np.uint64]
) -> None:
    """Add to each column of a sparse pattern the hashes of the rows that have it.

    Args:
        indptr: int64 ``[n + 1]``.
        indices: int32, columns.
        sums: uint64 ``[n_columns]``, changed; they wrap.
    """
    for r in range(len(indptr) - 1):
        hashed = _mix(np.uint64(r))
        for p in range(indptr[r], indptr[r + 1]):
            sums[indices[p]] += hashed
