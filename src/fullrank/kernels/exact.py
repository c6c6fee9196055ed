"""Doubles taken apart into whole numbers and added up by exponent, so that nothing is rounded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

# An IEEE double is (-1)**sign * mantissa * 2**(exponent - 1075), 52 stored bits of mantissa.
_MANTISSA = (1 << 52) - 1
_HIDDEN = 1 << 52
_EXPONENT = 0x7FF
_ABSOLUTE = (1 << 63) - 1

EXPONENTS = 2047
"""Exponents of finite doubles; sums of two have ``2 * EXPONENTS - 1``."""

HALF = 26
"""Bits of the lower part of a mantissa: 2**24 parts of 27 bits add up within 63 bits."""

LIMB = 18
"""Bits of a third of a mantissa: 2**24 sums of three products of thirds stay within 63 bits."""


_ALIKE = 256
"""Doubles added up as fixed-point numbers: sums of so many products stay within 63 bits."""


@jit(inline="always")
def _exponent(bits: int) -> int:
    return max((bits >> 52) & _EXPONENT, 1)


@jit(inline="always")
def _mantissa(bits: int) -> int:
    """The mantissa with its hidden bit; a subnormal has none."""
    hidden = _HIDDEN if (bits >> 52) & _EXPONENT else 0
    return (bits & _MANTISSA) | hidden


@jit()
def add_doubles(bits: NDArray[np.int64], bins: NDArray[np.int64]) -> None:
    """Add finite doubles to bins by exponent.

    Args:
        bits: int64 ``[n]``, the doubles' bits; up to 2**24 of them.
        bins: int64 ``[EXPONENTS, 2]``, added to: sums of the lower 26 bits of the mantissas and
            of the bits above, in units of ``2**(exponent - 1075)`` and ``2**26`` times that.
    """
    for i in range(len(bits)):
        b = bits[i]
        m = _mantissa(b)
        sign = (b >> 63) | 1
        e = _exponent(b)
        bins[e, 0] += sign * (m & ((1 << HALF) - 1))
        bins[e, 1] += sign * (m >> HALF)


@jit()
def add_products(a: NDArray[np.int64], b: NDArray[np.int64], bins: NDArray[np.int64]) -> None:
    """Add the products of pairs of finite doubles to bins by the sum of their exponents.

    Args:
        a: int64 ``[n]``, bits of doubles; up to 2**24 of them.
        b: int64 ``[n]``.
        bins: int64 ``[2 * EXPONENTS - 1, 5]``, added to: digit ``i`` of the products of mantissas
            in base ``2**18``, not carried.
    """
    low = np.int64((1 << LIMB) - 1)
    for i in range(len(a)):
        x, y = _mantissa(a[i]), _mantissa(b[i])
        sign = ((a[i] ^ b[i]) >> 63) | 1
        x0, x1, x2 = x & low, (x >> LIMB) & low, x >> (2 * LIMB)
        y0, y1, y2 = sign * (y & low), sign * ((y >> LIMB) & low), sign * (y >> (2 * LIMB))
        e = _exponent(a[i]) + _exponent(b[i])
        bins[e, 0] += x0 * y0
        bins[e, 1] += x0 * y1 + x1 * y0
        bins[e, 2] += x0 * y2 + x1 * y1 + x2 * y0
        bins[e, 3] += x1 * y2 + x2 * y1
        bins[e, 4] += x2 * y2


@jit()
def _add_each(
    bits: NDArray[np.int64], doubles: NDArray[np.int64], squares: NDArray[np.int64]
) -> None:
    """``add_both`` one by one, whatever the doubles are."""
    low = np.int64((1 << LIMB) - 1)
    for i in range(len(bits)):
        b = bits[i]
        x, e, sign = _mantissa(b), _exponent(b), (b >> 63) | 1
        doubles[e, 0] += sign * (x & ((1 << HALF) - 1))
        doubles[e, 1] += sign * (x >> HALF)
        x0, x1, x2 = x & low, (x >> LIMB) & low, x >> (2 * LIMB)
        squares[2 * e, 0] += x0 * x0
        squares[2 * e, 1] += 2 * x0 * x1
        squares[2 * e, 2] += 2 * x0 * x2 + x1 * x1
        squares[2 * e, 3] += 2 * x1 * x2
        squares[2 * e, 4] += x2 * x2


@jit()
def largest_bits(bits: NDArray[np.int64]) -> int:
    """The greatest bits of doubles without their sign: of the largest absolute value, or of NaN."""
    found = 0
    for i in range(len(bits)):
        found = max(found, bits[i] & _ABSOLUTE)
    return found


@jit(inline="always")
def _carry(squares: NDArray[np.int64], e: int, total: int) -> None:
    """Add a sum of up to 63 bits to the bins of an exponent, in two digits far below 63 bits."""
    squares[e, 0] += total & ((1 << (2 * LIMB)) - 1)
    squares[e, 2] += total >> (2 * LIMB)


@jit(inline="always")
def _add_alike(
    bits: NDArray[np.int64], doubles: NDArray[np.int64], squares: NDArray[np.int64]
) -> bool:
    """Add up to 256 doubles whose sizes are alike as fixed-point numbers; False for others.

    With ``E`` the exponent of the largest, those down to ``2**-26`` of it (and zeros) are
    ``x * 2**52 + y * 2**26 + z`` in units of ``2**(E - 1075 - 26)``, with x below ``2**27`` and y
    and z below ``2**26``: sums of 256 products stay within 63 bits, and whole numbers add up in
    vectors, where bins wait for each other.
    """
    top = largest_bits(bits) >> 52
    if top <= HALF or top >= _EXPONENT - HALF:  # the bins reach no further
        return False
    low, unfit = (1 << HALF) - 1, 0
    s0 = s1 = s2 = p0 = p1 = p2 = p3 = p4 = 0
    for i in range(len(bits)):
        b = bits[i]
        e = (b >> 52) & _EXPONENT
        m = (b & _MANTISSA) | ((e != 0) << 52)
        shift = top - e
        unfit |= (HALF - shift) & -m  # negative if it is too small and not 0
        shift = min(shift, HALF)
        sign = b >> 63
        x = (m >> shift) >> HALF
        y = (m >> shift) & low
        z = (m << (HALF - shift)) & low
        s2 += (x ^ sign) - sign
        s1 += (y ^ sign) - sign
        s0 += (z ^ sign) - sign
        p4 += x * x
        p3 += x * y
        p2 += 2 * x * z + y * y
        p1 += y * z
        p0 += z * z
    if unfit < 0:
        return False
    doubles[top, 1] += s2
    doubles[top, 0] += s1
    doubles[top - HALF, 0] += s0
    _carry(squares, 2 * top + 2 * HALF, p4)
    _carry(squares, 2 * top + HALF, 2 * p3)
    _carry(squares, 2 * top, p2)
    _carry(squares, 2 * top - HALF, 2 * p1)
    _carry(squares, 2 * top - 2 * HALF, p0)
    return True


@jit()
def add_both(
    bits: NDArray[np.int64], doubles: NDArray[np.int64], squares: NDArray[np.int64]
) -> None:
    """``add_doubles`` and ``add_products`` of doubles with themselves, in one pass.

    Args:
        bits: int64 ``[n]``, bits of finite doubles; up to 2**24 of them.
        doubles: int64 ``[EXPONENTS, 2]``, added to.
        squares: int64 ``[2 * EXPONENTS - 1, 5]``, added to; within 63 bits for ``_ALIKE`` too.
    """
    for start in range(0, len(bits), _ALIKE):
        part = bits[start : start + _ALIKE]
        if not _add_alike(part, doubles, squares):
            _add_each(part, doubles, squares)
