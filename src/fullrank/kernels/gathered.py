"""Products of a sparse binary matrix with a vector, row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit


@jit()
def sum_gathered(
    start: int,
    stop: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write ``out[r] = sum of x[indices of r]`` for rows ``start`` to ``stop``.

    Four sums side by side, always the same four, so that additions don't wait for one another.

    Args:
        start: first row of the chunk.
        stop: end of the chunk.
        indptr: int64 ``[n + 1]``.
        indices: int32, places in ``x``.
        x: float64 ``[m]``.
        out: float64 ``[n]``.
    """
    for r in range(start, stop):
        mine = indices[indptr[r] : indptr[r + 1]]
        whole = len(mine) - len(mine) % 4
        s0 = s1 = s2 = s3 = 0.0
        for p in range(0, whole, 4):
            s0 += x[mine[p]]
            s1 += x[mine[p + 1]]
            s2 += x[mine[p + 2]]
            s3 += x[mine[p + 3]]
        for p in range(whole, len(mine)):
            s0 += x[mine[p]]
        out[r] = (s0 + s1) + (s2 + s3)
