"""Inverse of a symmetric positive definite matrix in its own place, tile by tile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit


@jit()
def subtract_products(
    start: int,
    stop: int,
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    size: int,
    done: tuple[int, int],
    out: NDArray[np.float64],
) -> None:
    """Subtract ``left rightᵀ`` from tile rows ``start`` to ``stop`` of an upper triangle of tiles.

    A tile is subtracted while it is in cache; BLAS makes it, on the caller's word that it runs on
    one thread.

    Args:
        start: first row of tiles.
        stop: end of the rows of tiles.
        left: float64 ``[n, k]``.
        right: float64 ``[n, k]``.
        size: rows and columns of a tile.
        done: first and end of whole tiles of rows and columns to leave as they are.
        out: float64 ``[n, n]``.
    """
    n = len(out)
    work = np.empty(size * size, dtype=np.float64)
    for i in range(start * size, min(stop * size, n), size):
        if done[0] <= i < done[1]:
            continue
        mine = left[i : min(i + size, n)]
        for j in range(i, n, size):
            if done[0] <= j < done[1]:
                continue
            other = right[j : min(j + size, n)]
            tile = work[: len(mine) * len(other)].reshape((len(mine), len(other)))
            np.dot(mine, other.T, tile)
            for a in range(len(mine)):
                row, taken = out[i + a, j : j + len(other)], tile[a]
                for b in range(len(row)):
                    row[b] -= taken[b]
