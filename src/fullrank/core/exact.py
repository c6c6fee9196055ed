"""Exact sums of floats: order-free, so that states merge with the same digits everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNIT_BITS = 1074
"""The smallest positive double is 2**-1074: every finite double is an integer times it."""

_BLOCK = 1 << 24
_VELTKAMP = 134217729.0  # 2**27 + 1: cuts a double into two halves of 26 bits (Dekker 1971)


@dataclass(frozen=True)
class ExactSum:
    """A sum of doubles kept as one integer in units of 2**-1074."""

    units: int = 0

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> ExactSum:
        """Sum finite float64 ``[n]`` without rounding."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        blocks = (values[start : start + _BLOCK] for start in range(0, len(values), _BLOCK))
        return cls(sum(_block_units(block) for block in blocks))

    @classmethod
    def of_products(cls, a: NDArray[np.float64], b: NDArray[np.float64]) -> ExactSum:
        """Sum ``a * b`` without rounding, for factors between 1e-140 and 1e140 (or zero).

        Each product is the rounded one plus its rounding error, itself a double (Dekker 1971).
        """
        product = a * b
        a_high, a_low = _halves(a)
        b_high, b_low = _halves(b)
        cross = (a_high * b_high - product) + a_high * b_low + a_low * b_high
        return cls.of(product) + cls.of(cross + a_low * b_low)

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.units + other.units)

    def __float__(self) -> float:
        return self.over(1)

    def over(self, n: int) -> float:
        """The sum divided by a whole number, rounded once."""
        return self.units / (n << UNIT_BITS)


def _block_units(values: NDArray[np.float64]) -> int:
    """Sum up to ``_BLOCK`` doubles as an integer number of units, by binary exponent."""
    if not len(values):
        return 0
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = int(exponent.min())
    place = exponent - lowest
    # Halves of 27 and 26 bits: sums of 2**24 of them are whole numbers below 2**53, so exact.
    high = np.bincount(place, weights=whole >> 26)
    low = np.bincount(place, weights=whole & ((1 << 26) - 1))
    units = 0
    for i in np.flatnonzero((high != 0) | (low != 0)):
        shift = lowest + int(i) - 53 + UNIT_BITS
        part = (int(high[i]) << 26) + int(low[i])
        units += part << shift if shift >= 0 else part >> -shift
    return units


def _halves(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    spread = _VELTKAMP * values
    high = spread - (spread - values)
    return high, values - high
