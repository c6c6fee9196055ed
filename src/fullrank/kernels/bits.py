"""Discrete coordinate descent: codes of ±1, bit by bit, given the codes of the other side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.coordinates import Rows, _dots


@jit()
def _pull(
    a: int,
    mine: NDArray[np.int32],
    values: NDArray[np.float32],
    dots: NDArray[np.float64],
    column: NDArray[np.float32],
    line: NDArray[np.float64],
    total: float,
    unobserved: float,
    x: NDArray[np.float64],
) -> float:
    """What the cells of a row, there or not, want bit ``a`` to be: its sign."""
    d, bit = len(x), x[a]
    pull: float = unobserved * (line[a] * bit - d * total)
    for b in range(d):
        pull -= unobserved * line[b] * x[b]
    for p in range(len(mine)):
        f = column[mine[p]]
        rest = dots[p] - bit * f
        pull += ((values[p] - rest) + unobserved * (d + rest)) * f
    return pull


@jit()
def code_rows(
    start: int,
    stop: int,
    rows: Rows,
    codes: NDArray[np.float32],
    sums: tuple[NDArray[np.float64], NDArray[np.float64]],
    unobserved: float,
    near: NDArray[np.float64],
    cycles: int,
    out: NDArray[np.float32],
) -> None:
    """Set the bits of rows, each to the sign that lowers the loss, until none changes.

    With f the codes of the other side, d their length and ``w = unobserved``, row r minimises

        sum over its cells (v - x · f)^2 + w sum over others (-d - x · f)^2 - 2 near_r · x

    Args:
        start: first row of the chunk.
        stop: end of the chunk.
        rows: indptr int64 ``[n + 1]``, indices int32, values float32 from -d to d.
        codes: float32 ``[d, m]``, ±1, or 0 for those without cells.
        sums: ``sum of f_j fⱼᵀ`` ``[d, d]`` and ``sum of f_j`` ``[d]``, float64.
        unobserved: weight of cells that aren't there.
        near: float64 ``[n, d]``, what codes are drawn to.
        cycles: over the bits, at most.
        out: float32 ``[n, d]``, where rows start from; a row of zeros gets its first bits
            one after another, those to come being 0. A row without cells becomes 0.
    """
    indptr, indices, values = rows
    gram, total = sums
    d, longest = len(codes), 0
    for r in range(start, stop):
        longest = max(longest, indptr[r + 1] - indptr[r])
    dots, x = np.empty(longest, dtype=np.float64), np.empty(d, dtype=np.float64)
    for r in range(start, stop):
        mine = indices[indptr[r] : indptr[r + 1]]
        v = values[indptr[r] : indptr[r + 1]]
        x[:] = out[r]
        if len(mine) == 0:
            x[:] = 0.0
        _dots(mine, codes, x, dots)
        for _ in range(cycles if len(mine) else 0):
            flips = 0
            for a in range(d):
                bit = x[a]
                pull = near[r, a] + _pull(
                    a, mine, v, dots, codes[a], gram[a], total[a], unobserved, x
                )
                new = bit if pull == 0.0 and bit != 0.0 else (1.0 if pull >= 0.0 else -1.0)
                if new != bit:
                    flips += 1
                    x[a] = new
                    for p in range(len(mine)):
                        dots[p] += (new - bit) * codes[a, mine[p]]
            if flips == 0:
                break
        for a in range(d):
            out[r, a] = x[a]
