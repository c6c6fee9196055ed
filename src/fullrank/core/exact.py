"""Exact sums of floats: order-free, so that states merge with the same digits everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# The smallest positive double is 2**-1074: every finite double is an integer times it.
_SHIFT = 1074


@dataclass(frozen=True)
class ExactSum:
    """A sum of doubles kept as one integer in units of 2**-1074."""

    units: int = 0

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> ExactSum:
        """Sum finite float64 ``[n]`` without rounding."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        values = values[values != 0]
        mantissa, exponent = np.frexp(values)
        whole = np.ldexp(mantissa, 53).astype(np.int64)
        total = 0
        for e in np.unique(exponent):
            part = whole[exponent == e]
            # Halves of 27 and 26 bits: sums of up to 2**36 of them stay within int64.
            high = int((part >> 26).sum())
            low = int((part & ((1 << 26) - 1)).sum())
            shift = int(e) - 53 + _SHIFT
            units = (high << 26) + low
            total += units << shift if shift >= 0 else units >> -shift
        return cls(total)

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.units + other.units)

    def __float__(self) -> float:
        return self.over(1)

    def over(self, n: int) -> float:
        """The sum divided by a whole number, rounded once."""
        return self.units / (n << _SHIFT)
