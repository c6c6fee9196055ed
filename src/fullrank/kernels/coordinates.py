"""Factors row by row, one coordinate after another, given the factors of the other side.

Factors of the other side come transposed, ``[d, m]``, so that one coordinate of a row's cells is
read from one stretch of memory and nothing has to be gathered.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


@jit()
def _dots(
    mine: NDArray[np.int32],
    factors: NDArray[np.float32],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """``out[p] = x · factors[:, mine[p]]``."""
    for p in range(len(mine)):
        out[p] = 0.0
    for a in range(len(x)):
        column, weight = factors[a], x[a]
        if weight != 0.0:
            for p in range(len(mine)):
                out[p] += weight * column[mine[p]]


@jit()
def _move(
    a: int,
    column: NDArray[np.float32],
    mine: NDArray[np.int32],
    rest: NDArray[np.float64],
    missing: NDArray[np.float64],
    own: float,
    line: NDArray[np.float64],
    reg: float,
    x: NDArray[np.float64],
) -> float:
    """Set ``x[a]`` to its optimum; by how much it moved. ``rest`` are the predictions."""
    pull, curve = 0.0, own * line[a] + reg
    for b in range(len(x)):
        pull -= own * line[b] * x[b]
    pull += own * line[a] * x[a]
    for p in range(len(mine)):
        f = np.float64(column[mine[p]])
        more = 1.0 - own * missing[mine[p]]
        pull += (1.0 - more * (rest[p] - x[a] * f)) * f
        curve += more * f * f
    change: float = pull / curve - x[a]
    x[a] += change
    for p in range(len(mine)):
        rest[p] += change * column[mine[p]]
    return change


@jit()
def weighted_rows(
    start: int,
    stop: int,
    rows: tuple[NDArray[np.int64], NDArray[np.int32]],
    factors: NDArray[np.float32],
    gram: NDArray[np.float64],
    missing: tuple[NDArray[np.float64], NDArray[np.float64]],
    reg: float,
    stopping: tuple[int, float],
    out: NDArray[np.float32],
) -> None:
    """Move rows towards the minimum of a weighted squared loss over all cells.

    With f the factors of the other side, row r minimises

        sum over its cells (1 - x · f)^2 + sum over others own_r other_j (x · f_j)^2 + reg |x|^2

    Args:
        start: first row of the chunk.
        stop: end of the chunk.
        rows: indptr int64 ``[n + 1]`` and indices int32.
        factors: float32 ``[d, m]``.
        gram: float64 ``[d, d]``, ``sum of other_j f_j f_jᵀ``.
        missing: weights of cells that aren't there: own ``[n]`` times other ``[m]``, float64.
        reg: regularisation.
        stopping: cycles over the coordinates at most, and the share of the length of x that a
            cycle has to move it by for another one.
        out: float32 ``[n, d]``, where rows start from; a row without cells becomes 0.
    """
    indptr, indices = rows
    owns, others = missing
    d, longest = len(factors), 0
    for r in range(start, stop):
        longest = max(longest, indptr[r + 1] - indptr[r])
    rest, x = np.empty(longest, dtype=np.float64), np.empty(d, dtype=np.float64)
    for r in range(start, stop):
        mine = indices[indptr[r] : indptr[r + 1]]
        x[:] = out[r]
        if len(mine) == 0:
            x[:] = 0.0
        _dots(mine, factors, x, rest)
        for _ in range(stopping[0] if len(mine) else 0):
            moved, size = 0.0, 0.0
            for a in range(d):
                moved += _move(a, factors[a], mine, rest, others, owns[r], gram[a], reg, x) ** 2
                size += x[a] ** 2
            if moved <= stopping[1] ** 2 * size:
                break
        for a in range(d):
            out[r, a] = x[a]


@jit()
def non_negative_rows(
    start: int,
    stop: int,
    rows: Rows,
    factors: NDArray[np.float32],
    gram: NDArray[np.float64],
    penalty: tuple[float, float],
    stopping: tuple[int, float],
    out: NDArray[np.float32],
) -> None:
    """Move rows towards the minimum of ``½ |v - x F|² + l1 sum x + ½ l2 |x|²`` with ``x >= 0``.

    Args:
        start: first row of the chunk.
        stop: end of the chunk.
        rows: indptr int64 ``[n + 1]``, indices int32, values float32; others are 0.
        factors: F, float32 ``[d, m]``.
        gram: ``F Fᵀ``, float64 ``[d, d]``.
        penalty: l1 and l2.
        stopping: as of ``weighted_rows``.
        out: float32 ``[n, d]``, where rows start from.
    """
    indptr, indices, values = rows
    l1, l2 = penalty
    d = len(factors)
    x, target = np.empty(d, dtype=np.float64), np.empty(d, dtype=np.float64)
    for r in range(start, stop):
        x[:] = out[r]
        for a in range(d):
            target[a] = -l1
            for p in range(indptr[r], indptr[r + 1]):
                target[a] += values[p] * factors[a, indices[p]]
        for _ in range(stopping[0]):
            moved, size = 0.0, 0.0
            for a in range(d):
                curve, pull = gram[a, a] + l2, target[a] - l2 * x[a]
                for b in range(d):
                    pull -= gram[a, b] * x[b]
                if curve > 0.0:
                    new = max(x[a] + pull / curve, 0.0)
                    moved += (new - x[a]) ** 2
                    x[a] = new
                size += x[a] ** 2
            if moved <= stopping[1] ** 2 * size:
                break
        for a in range(d):
            out[r, a] = x[a]
