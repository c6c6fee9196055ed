"""Exact sums of floats: order-free, so that states merge with the same digits everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNIT_BITS = 1074
"""The smallest positive double is 2**-1074: every finite double is an integer times it."""

PRODUCT_BITS = 2 * UNIT_BITS

_BLOCK = 1 << 24  # doubles whose parts add up within 63 bits


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
        from fullrank.kernels.exact import EXPONENTS, HALF, add_doubles

        bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
        units = 0
        for at in range(0, len(bits), _BLOCK):
            bins = np.zeros((EXPONENTS, 2), dtype=np.int64)
            add_doubles(bits[at : at + _BLOCK], bins)
            units += _units(bins, HALF)
        # Exponent e of a bin stands for 2**(e - 1075), in units of 2**-1074.
        return cls(units >> 1)

    @classmethod
    def of_products(cls, a: NDArray[np.float64], b: NDArray[np.float64]) -> ExactSum:
        """Sum ``a * b`` of finite float64 ``[n]`` without rounding."""
        from fullrank.kernels.exact import EXPONENTS, LIMB, add_products

        x = np.ascontiguousarray(a, dtype=np.float64).view(np.int64)
        y = np.ascontiguousarray(b, dtype=np.float64).view(np.int64)
        units = 0
        for at in range(0, len(x), _BLOCK):
            bins = np.zeros((2 * EXPONENTS - 1, 5), dtype=np.int64)
            add_products(x[at : at + _BLOCK], y[at : at + _BLOCK], bins)
            units += _units(bins, LIMB)
        return cls(units >> 2, PRODUCT_BITS)

    def __add__(self, other: ExactSum) -> ExactSum:
        assert self.bits == other.bits, "sums of doubles and sums of products don't add"
        return ExactSum(self.units + other.units, self.bits)

    @classmethod
    def with_squares(cls, values: NDArray[np.float64]) -> tuple[ExactSum, ExactSum]:
        """``of(values)`` and ``of_products(values, values)`` in one pass."""
        from fullrank.kernels.exact import EXPONENTS, HALF, LIMB, add_both

        bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
        total = squares = 0
        for at in range(0, len(bits), _BLOCK):
            bins = np.zeros((EXPONENTS, 2), dtype=np.int64)
            pairs = np.zeros((2 * EXPONENTS - 1, 5), dtype=np.int64)
            add_both(bits[at : at + _BLOCK], bins, pairs)
            total, squares = total + _units(bins, HALF), squares + _units(pairs, LIMB)
        return cls(total >> 1), cls(squares >> 2, PRODUCT_BITS)

    def as_products(self) -> ExactSum:
        """The same sum of doubles in the units of products: each times 1."""
        assert self.bits == UNIT_BITS, "a sum of products is one already"
        return ExactSum(self.units << UNIT_BITS, PRODUCT_BITS)

    def __float__(self) -> float:
        return self.over(1)

    def over(self, n: int) -> float:
        """The sum divided by a whole number, rounded once."""
        return self.units / (n << self.bits)


def peak(values: NDArray[np.float64]) -> float:
    """The largest absolute value, 0 without any; NaN if one is NaN."""
    from fullrank.kernels.exact import largest_bits

    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return float(np.array([largest_bits(bits)]).view(np.float64)[0])


def _units(bins: NDArray[np.int64], digit: int) -> int:
    """Sum of bins ``[e, d]``: exponent ``e`` and digit ``i`` stand for ``2**(e + digit * i)``."""
    return sum(
        sum(int(part) << digit * i for i, part in enumerate(bins[e])) << int(e)
        for e in np.flatnonzero(bins.any(axis=1))
    )
