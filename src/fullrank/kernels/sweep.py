"""Inverse of a symmetric positive definite matrix in its own place, tile by tile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

if TYPE_CHECKING:
    from typing import Any

    _dgemm: Any = None
else:
    from numba import types

    # What Numba's own np.dot calls: SciPy's BLAS. Said directly it adds to a part of a matrix, in
    # one pass and without a copy, which np.dot can't.
    _pointer = types.CPointer(types.float64)
    _dgemm = types.ExternalFunction(
        "numba_xxgemm",
        types.intc(
            *(types.char, types.char, types.char),  # kind, transposed a, transposed b
            *(types.intp, types.intp, types.intp),  # m, n, k
            *(_pointer, _pointer, types.intp, _pointer, types.intp),  # alpha, a, lda, b, ldb
            *(_pointer, _pointer, types.intp),  # beta, c, ldc
        ),
    )

_DOUBLE, _PLAIN, _TURNED = ord("d"), ord("n"), ord("t")
_TILE = 64


@jit()
def scale_panel(
    start: int,
    stop: int,
    matrix: NDArray[np.float64],
    part: tuple[int, int],
    inverse: NDArray[np.float64],
    column: NDArray[np.float64],
    scaled: NDArray[np.float64],
) -> None:
    """Copy rows ``start`` to ``stop`` of the columns ``part``, and multiply them by ``inverse``.

    BLAS makes the product here and below, on the caller's word that it runs on one thread.

    Args:
        start: first row.
        stop: end of the rows; all are above ``part``, in it, or below it.
        matrix: float64 ``[n, n]``, symmetric, of which the upper triangle is read.
        part: first and end of the columns; its own rows are left out.
        inverse: float64 ``[k, k]``.
        column: float64 ``[n, k]``, to be filled.
        scaled: float64 ``[n, k]``, to be filled.
    """
    first, end = part
    if start >= end:
        for a in range(first, end):
            row = matrix[a]
            for i in range(start, stop):
                column[i, a - first] = row[i]
    elif start < first:
        column[start:stop] = matrix[start:stop, first:end]
    else:
        return
    np.dot(column[start:stop], inverse, scaled[start:stop])


@jit()
def eliminate_rows(
    start: int,
    stop: int,
    matrix: NDArray[np.float64],
    part: tuple[int, int],
    inverse: NDArray[np.float64],
    column: NDArray[np.float64],
    scaled: NDArray[np.float64],
) -> None:
    """Rows ``start`` to ``stop`` of the upper triangle after ``part`` is eliminated.

    Args:
        start: first row.
        stop: end of the rows; all are above ``part``, in it, or below it.
        matrix: float64 ``[n, n]``; of rows i, what is right of column ``start`` changes.
        part: first and end of the rows and columns to eliminate.
        inverse: float64 ``[k, k]``, of their square.
        column: float64 ``[n, k]``, as ``scale_panel`` filled it.
        scaled: float64 ``[n, k]``, the same.
    """
    n, (first, end) = len(matrix), part
    if first <= start < end:
        for i in range(start, stop):
            row, a = matrix[i], i - first
            for j in range(i, end):
                row[j] = -inverse[a, j - first]
            for j in range(end, n):
                row[j] = scaled[j, a]
    elif start >= end:
        _subtract(start, stop, start, n, matrix, column, scaled)
    else:
        _subtract(start, stop, start, first, matrix, column, scaled)
        matrix[start:stop, first:end] = scaled[start:stop]
        _subtract(start, stop, end, n, matrix, column, scaled)


@jit()
def _subtract(
    start: int,
    stop: int,
    left: int,
    right: int,
    matrix: NDArray[np.float64],
    column: NDArray[np.float64],
    scaled: NDArray[np.float64],
) -> None:
    """``matrix[start:stop, left:right] -= scaled[start:stop] column[left:right]ᵀ``."""
    n, k = column.shape
    if left >= right:
        return
    signs = np.array([-1.0, 1.0])
    # BLAS goes down columns, so that to it everything here is turned.
    failed = _dgemm(
        _DOUBLE, _TURNED, _PLAIN, right - left, stop - start, k,
        signs.ctypes, column[left:].ctypes, k, scaled[start:].ctypes, k,
        signs[1:].ctypes, matrix[start:, left:].ctypes, n,
    )  # fmt: skip
    if failed != 0:
        raise RuntimeError("BLAS did not take a product")


@jit()
def divide_columns(
    start: int, stop: int, matrix: NDArray[np.float64], out: NDArray[np.float32]
) -> None:
    """``-matrix[i, j] / matrix[j, j]`` off the diagonal, 0 on it; both triangles of some rows.

    Args:
        start: first row.
        stop: end of the rows.
        matrix: float64 ``[n, n]``, symmetric, of which the upper triangle is read.
        out: float32 ``[n, n]``; rows and columns from start to stop are filled, right of and below
            the diagonal.
    """
    n = len(matrix)
    for top in range(start, stop, _TILE):
        for left in range(top, n, _TILE):  # small enough that both its rows and columns stay near
            for i in range(top, min(top + _TILE, stop)):
                own, row = -matrix[i, i], matrix[i]
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    out[i, j] = row[j] / -matrix[j, j]
                    out[j, i] = row[j] / own
    for i in range(start, stop):
        out[i, i] = np.float32(0.0)
