"""Hashes of (query, item) cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit


@jit()
def hashed_scores(
    rows: NDArray[np.uint64], columns: NDArray[np.uint64], out: NDArray[np.float32]
) -> None:
    """Write a uniform draw in [0, 1) for each cell: SplitMix64 of ``row ^ column``.

    Args:
        rows: uint64 ``[q]`` hashes.
        columns: uint64 ``[c]`` hashes.
        out: float32 ``[q, c]``, multiples of 2**-24 (all equally likely).
    """
    for q in range(len(rows)):
        for c in range(len(columns)):
            z = (rows[q] ^ columns[c]) + np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
            out[q, c] = np.float32(z >> np.uint64(40)) * np.float32(2.0**-24)
