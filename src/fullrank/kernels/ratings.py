"""Factors and biases of ratings: ridge regressions row by row, and steps of gradient descent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]

# Cells gathered at a time, so that a popular row needs no memory of its length.
_BLOCK = 256


@jit()
def solve_ratings(
    start: int,
    stop: int,
    rows: Rows,
    others: NDArray[np.float32],
    mean: float,
    reg: float,
    weighted: bool,
    out: NDArray[np.float32],
) -> None:
    """Factors and bias of rows, given those of the other side: one ridge regression each.

    Row r minimises ``sum over its cells (v - mean - b_j - b - x · f_j)^2 + reg s (|x|^2 + b^2)``,
    s its number of cells if ``weighted``, else 1.

    Args:
        start: first row of the chunk.
        stop: end of the chunk.
        rows: indptr int64 ``[n + 1]``, indices int32, values float32.
        others: float32 ``[m, d + 1]``, factors and, last, biases.
        mean: of all values.
        reg: regularisation, > 0.
        weighted: multiply it by the cells of the row.
        out: float32 ``[n, d + 1]``, overwritten; a row without cells becomes 0.
    """
    indptr, indices, values = rows
    d = others.shape[1]
    features, rest = np.ones((_BLOCK, d)), np.empty(_BLOCK)
    A, b = np.empty((d, d)), np.empty(d)
    for r in range(start, stop):
        n = indptr[r + 1] - indptr[r]
        if n == 0:
            out[r] = np.float32(0.0)
            continue
        A[:], b[:] = 0.0, 0.0
        for first in range(indptr[r], indptr[r + 1], _BLOCK):
            size = min(_BLOCK, indptr[r + 1] - first)
            for p in range(size):
                row = others[indices[first + p]]
                for a in range(d - 1):
                    features[p, a] = row[a]
                rest[p] = values[first + p] - mean - row[d - 1]
            A += np.dot(features[:size].T, features[:size])
            b += np.dot(rest[:size], features[:size])
        for a in range(d):
            A[a, a] += reg * n if weighted else reg
        out[r] = np.linalg.solve(A, b).astype(np.float32)


@jit()
def _shuffle(mine: NDArray[np.int64], seed: np.uint64) -> None:
    """Put rows in a random order (Fisher & Yates), by xorshift (Marsaglia 2003)."""
    state = seed | np.uint64(1)
    for p in range(len(mine) - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        at = np.int64((state >> np.uint64(11)) % np.uint64(p + 1))
        mine[p], mine[at] = mine[at], mine[p]


@jit()
def descend(
    mine: NDArray[np.int64],
    seed: np.uint64,
    cells: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]],
    mean: float,
    rate: float,
    reg: float,
    users: NDArray[np.float32],
    items: NDArray[np.float32],
) -> None:
    """One step of gradient descent for each of some rows, in an order of their own.

    Args:
        mine: int64, numbers of rows; shuffled.
        seed: of the order.
        cells: users, items and values of all rows.
        mean: of all values.
        rate: length of a step.
        reg: regularisation, for each row anew.
        users: float32 ``[n_users, d + 1]``, factors and, last, biases; changed.
        items: the same of items; changed.
    """
    d = users.shape[1] - 1
    _shuffle(mine, seed)
    for p in range(len(mine)):
        x, y = users[cells[0][mine[p]]], items[cells[1][mine[p]]]
        error = cells[2][mine[p]] - mean - x[d] - y[d]
        for a in range(d):
            error -= x[a] * y[a]
        x[d] += rate * (error - reg * x[d])
        y[d] += rate * (error - reg * y[d])
        for a in range(d):
            before = x[a]
            x[a] += rate * (error * y[a] - reg * x[a])
            y[a] += rate * (error * before - reg * y[a])
