"""Factors on a grid so coarse that float64 adds up their products without any rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit


@jit()
def grid_bits(d: int) -> int:
    """Bits kept of a factor, so that the sum of ``d`` products fits into the 53 of float64."""
    sums = 0
    while (1 << sums) < d:
        sums += 1
    return min(24, (53 - sums) // 2)


@jit()
def to_grid(factors: NDArray[np.float32], out: NDArray[np.floating[Any]]) -> None:
    """Round each row to multiples of ``2**-grid_bits`` of the power of two above its largest entry.

    Rounding again changes nothing: the largest entry never reaches that power of two.

    Args:
        factors: float32 ``[n, d]``; a row that is not finite becomes NaN.
        out: float32 or float64 ``[n, d]``, overwritten; may be ``factors``.
    """
    n, d = factors.shape
    bits = grid_bits(d)
    most = 2.0**bits - 1.0
    for i in range(n):
        largest = np.float32(0.0)
        finite = True
        for j in range(d):
            largest = max(largest, abs(factors[i, j]))
            finite &= abs(factors[i, j]) < np.float32(np.inf)
        if not finite:
            out[i] = np.nan  # so that the scores are refused
            continue
        _, exponent = math.frexp(np.float64(largest))
        scale = math.ldexp(1.0, bits - exponent)
        step = math.ldexp(1.0, exponent - bits)
        for j in range(d):
            whole = np.rint(np.float64(factors[i, j]) * scale)
            out[i, j] = min(max(whole, -most), most) * step


@jit()
def norms(factors: NDArray[np.float32], out: NDArray[np.float64]) -> None:
    """Euclidean norm of each row ``[n]``; NaN or inf where an entry is."""
    for i in range(factors.shape[0]):
        total = 0.0
        for j in range(factors.shape[1]):
            total += np.float64(factors[i, j]) ** 2
        out[i] = math.sqrt(total)
