"""Exact sums of floats: order-free, so that states merge with the same digits everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNIT_BITS = 1074
"""The smallest positive double is 2**-1074: every finite double is an integer times it."""

PRODUCT_BITS = 2 * UNIT_BITS

_BLOCK = 1 << 24
_VELTKAMP = 134217729.0  # 2**27 + 1: cuts a double into two halves of 26 bits (Dekker 1971)


@dataclass(frozen=True)
class ExactSum:
    """A sum of doubles, or of products of two, kept as one integer.

    Attributes:
        units: the sum in units of ``2**-bits``.
        bits: 1074 for doubles, twice that for products.
    """

    units: int = 0
    bits: int = UNIT_BITS

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> ExactSum:
        """Sum finite float64 ``[n]`` without rounding."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        return cls(_units(values, np.zeros(len(values), dtype=np.int64), UNIT_BITS))

    @classmethod
    def of_products(cls, a: NDArray[np.float64], b: NDArray[np.float64]) -> ExactSum:
        """Sum ``a * b`` of finite float64 ``[n]`` without rounding.

        The product of two mantissas is the rounded one plus its rounding error, itself a double
        (Dekker 1971); exponents are added apart, so that nothing is too small or too large.
        """
        (a, a_exponent), (b, b_exponent) = np.frexp(a), np.frexp(b)
        product = a * b
        a_high, a_low = _halves(a)
        b_high, b_low = _halves(b)
        cross = (a_high * b_high - product) + a_high * b_low + a_low * b_high
        exponent = a_exponent.astype(np.int64) + b_exponent
        parts = (product, cross + a_low * b_low)
        return cls(sum(_units(part, exponent, PRODUCT_BITS) for part in parts), PRODUCT_BITS)

    def __add__(self, other: ExactSum) -> ExactSum:
        assert self.bits == other.bits, "sums of doubles and sums of products don't add"
        return ExactSum(self.units + other.units, self.bits)

    def __float__(self) -> float:
        return self.over(1)

    def over(self, n: int) -> float:
        """The sum divided by a whole number, rounded once."""
        return self.units / (n << self.bits)


def _units(values: NDArray[np.float64], exponents: NDArray[np.int64], bits: int) -> int:
    """Sum ``values * 2**exponents`` in units of ``2**-bits``, block by block."""
    cuts = range(0, len(values), _BLOCK)
    blocks = ((values[at : at + _BLOCK], exponents[at : at + _BLOCK]) for at in cuts)
    return sum(_block_units(part, more, bits) for part, more in blocks)


def _block_units(values: NDArray[np.float64], more: NDArray[np.int64], bits: int) -> int:
    """Sum up to ``_BLOCK`` doubles as an integer number of units, by binary exponent."""
    known = values != 0
    values, more = values[known], more[known]
    if not len(values):
        return 0
    mantissa, exponent = np.frexp(values)
    exponent = exponent + more
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = int(exponent.min())
    place = exponent - lowest
    # Halves of 27 and 26 bits: sums of 2**24 of them are whole numbers below 2**53, so exact.
    high = np.bincount(place, weights=whole >> 26)
    low = np.bincount(place, weights=whole & ((1 << 26) - 1))
    units = 0
    for i in np.flatnonzero((high != 0) | (low != 0)):
        shift = lowest + int(i) - 53 + bits
        part = (int(high[i]) << 26) + int(low[i])
        units += part << shift if shift >= 0 else part >> -shift
    return units


def _halves(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    spread = _VELTKAMP * values
    high = spread - (spread - values)
    return high, values - high
