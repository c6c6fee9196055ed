"""Ridge regressions of implicit feedback: one small normal equation a row, each on its own.

The matrix products are BLAS's, called from compiled code, where they need no GIL; callers see to it
that it runs on one thread. A row's solution depends on its own indices and on what all rows share,
so that threads and chunks change no bit of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

Whitened = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]

# Factors taken together at a time: with 128 factors 128 KiB, which stay in the second-level cache
# for both products of a step.
_BLOCK = 256

# Factors of a row that a thread keeps together, a multiple of the block; the few rows that are
# longer gather the rest again in each step, so that no copy of half of all factors is made.
_KEPT = 128 * _BLOCK


@jit()
def _gather(
    rows: NDArray[np.int32], factors: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """``out[p] = factors[rows[p]]``."""
    for p in range(len(rows)):
        source, target = factors[rows[p]], out[p]
        for a in range(len(source)):
            target[a] = source[a]


@jit()
def _add_rows(rows: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """``out += sum of rows``, one after the other."""
    for p in range(len(rows)):
        row = rows[p]
        for a in range(len(out)):
            out[a] += row[a]


@jit()
def _sum_rows(
    mine: NDArray[np.int32],
    factors: NDArray[np.float32],
    gathered: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """``out = sum of factors[mine]``, of which the first are in ``gathered``."""
    kept = min(len(mine), _KEPT)
    out[:] = np.float32(0.0)
    _add_rows(gathered[:kept], out)
    for p in range(kept, len(mine)):
        _add_rows(factors[mine[p] : mine[p] + 1], out)


@jit()
def _times_gram(
    mine: NDArray[np.int32],
    factors: NDArray[np.float32],
    gathered: NDArray[np.float32],
    again: NDArray[np.float32],
    x: NDArray[np.float32],
    work: NDArray[np.float32],
    part: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Add ``FᵀF x`` to ``out`` for F the factors of ``mine``, without FᵀF, a block at a time.

    The first of them are in ``gathered``; blocks beyond are gathered again.
    """
    for start in range(0, len(mine), _BLOCK):
        stop = min(start + _BLOCK, len(mine))
        if stop <= len(gathered):
            block = gathered[start:stop]
        else:
            block = again[: stop - start]
            _gather(mine[start:stop], factors, block)
        dots = work[: len(block)]
        np.dot(block, x, dots)
        np.dot(dots, block, part)
        for a in range(len(out)):
            out[a] += part[a]


@jit()
def solve_rows_cg(
    start: int,
    stop: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    whitened: Whitened,
    excess: NDArray[np.float32],
    tolerance: float,
    out: NDArray[np.float32],
) -> None:
    """Solve the normal equations by preconditioned conjugate gradients, in whitened coordinates.

    With ``x = basis y`` the equations of a row with n indices are

        (I + excess metric + sum f fᵀ) y = sum f

    and ``I + n diag(spectrum)`` is what the matrix is on average over rows of that length. Each row
    starts from 0.

    Args:
        start: first row of the chunk.
        stop: end of the chunk.
        indptr: int64 ``[n + 1]``.
        indices: int32, rows of the factors.
        whitened: factors of the other side ``[m, d]``; basis ``[d, d]``, from whitened coordinates
            to plain ones; metric ``basisᵀ basis``; spectrum ``[d]``, >= 0; all float32.
        excess: float32 ``[n]``, regularisation of each row beyond what was whitened.
        tolerance: stops where the preconditioned residual is this share of the first, or after d
            steps.
        out: float32 ``[n, d]``, zeros; a row without indices stays so.
    """
    factors, basis, metric, spectrum = whitened
    d = factors.shape[1]
    longest = 0
    for r in range(start, stop):
        longest = max(longest, indptr[r + 1] - indptr[r])
    gathered = np.empty((min(longest, _KEPT), d), dtype=np.float32)
    again = np.empty((_BLOCK, d), dtype=np.float32)
    work = np.empty(_BLOCK, dtype=np.float32)
    y, residual, towards = np.empty(d, np.float32), np.empty(d, np.float32), np.empty(d, np.float32)
    image, part, inverse = np.empty(d, np.float32), np.empty(d, np.float32), np.empty(d, np.float32)
    for r in range(start, stop):
        n = indptr[r + 1] - indptr[r]
        if n == 0:
            continue
        mine = indices[indptr[r] : indptr[r + 1]]
        _gather(mine[:_KEPT], factors, gathered)
        _sum_rows(mine, factors, gathered, residual)
        for a in range(d):
            y[a] = np.float32(0.0)
            inverse[a] = np.float32(1.0) / (np.float32(1.0) + np.float32(n) * spectrum[a])
            towards[a] = inverse[a] * residual[a]
        size = np.dot(residual, towards)
        enough = tolerance * tolerance * size
        for _ in range(d):
            if size <= enough:
                break
            np.dot(metric, towards, image)
            for a in range(d):
                image[a] = towards[a] + excess[r] * image[a]
            _times_gram(mine, factors, gathered, again, towards, work, part, image)
            step = size / np.dot(towards, image)
            for a in range(d):
                y[a] += step * towards[a]
                residual[a] -= step * image[a]
                part[a] = inverse[a] * residual[a]
            before = size
            size = np.dot(residual, part)
            for a in range(d):
                towards[a] = part[a] + size / before * towards[a]
        np.dot(basis, y, out[r])


@jit()
def _solve_in_place(U: NDArray[np.float32], b: NDArray[np.float32]) -> None:
    """Solve ``Uᵀ U x = b`` for an upper triangle U; ``b`` becomes x."""
    d = len(b)
    for k in range(d):
        row, rest = U[k][k:], b[k:]
        scaled = rest[0] / row[0]
        for j in range(len(row)):
            rest[j] -= scaled * row[j]
        rest[0] = scaled
    for k in range(d - 1, -1, -1):
        b[k] = (b[k] - np.dot(U[k][k + 1 :], b[k + 1 :])) / U[k, k]


@jit()
def solve_rows_exactly(
    start: int,
    stop: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    shared: tuple[NDArray[np.float32], NDArray[np.float32]],
    regs: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Solve ``(sum f fᵀ + gram + reg I) x = sum f`` by Cholesky, for rows ``start`` to ``stop``.

    Args:
        start: first row of the chunk.
        stop: end of the chunk.
        indptr: int64 ``[n + 1]``.
        indices: int32, rows of ``factors``.
        shared: factors of the other side ``[m, d]``, and the Gram matrix of all of them, weighted,
            ``[d, d]``; both float32.
        regs: float32 ``[n]``, regularisation of each row.
        out: float32 ``[n, d]``, zeros; a row without indices stays so.
    """
    factors, gram = shared
    d = factors.shape[1]
    gathered = np.empty((_BLOCK, d), dtype=np.float32)
    A = np.empty((d, d), dtype=np.float32)
    part, sums = np.empty((d, d), dtype=np.float32), np.empty(d, dtype=np.float32)
    for r in range(start, stop):
        if indptr[r] == indptr[r + 1]:
            continue
        b = out[r]
        A[:] = gram
        for p in range(indptr[r], indptr[r + 1], _BLOCK):
            mine = indices[p : min(p + _BLOCK, indptr[r + 1])]
            rows = gathered[: len(mine)]
            _gather(mine, factors, rows)
            np.dot(rows.T, rows, part)
            A += part
            sums[:] = np.float32(0.0)
            _add_rows(rows, sums)
            b += sums
        for a in range(d):
            A[a, a] += regs[r]
        _solve_in_place(np.ascontiguousarray(np.linalg.cholesky(A).T), b)
