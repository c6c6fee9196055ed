"""Weighted sums over users for resamples and sign flips, in whole numbers.

Weights are hashes of (seed, resample, user), as ``core.random.hash_elements`` makes them; values
are fixed-point integers. So sums are exact, and no order, chunk or thread count can change a bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

# SplitMix64, as in core.random.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S1, _S11, _S27, _S30, _S31, _S32 = (np.uint64(bits) for bits in (1, 11, 27, 30, 31, 32))

# round(2**32 * P(Poisson(1) <= k)) for k = 0..11: a weight is the number of them that a 32-bit
# draw reaches, so 12 at most (a Poisson draw exceeds 12 once in 1.6e10).
_P0, _P1, _P2, _P3, _P4, _P5 = (
    np.uint32(x) for x in (1580030169, 3160060337, 3950075422, 4213413783, 4279248374, 4292415292)
)
_P6, _P7, _P8, _P9, _P10, _P11 = (
    np.uint32(x) for x in (4294609778, 4294923276, 4294962463, 4294966817, 4294967253, 4294967292)
)
MAX_WEIGHT = 12
FLIPS = 64
"""Sign flips that one hash serves: one a bit."""

_TILE = 1024  # users whose weights and values stay in the L2 cache while resamples go by


@jit(inline="always")
def _mix(z: np.uint64) -> np.uint64:
    z = z + _GOLDEN
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@jit()
def poisson_weights(keys: NDArray[np.uint64], seed: np.uint64, out: NDArray[np.int64]) -> None:
    """Draw a Poisson(1) weight for each key into ``out[:len(keys)]``.

    Args:
        keys: uint64 ``[u]``, mixed user codes.
        seed: hash of (seed, resample).
        out: int64, at least ``u`` long.
    """
    for i in range(len(keys)):
        # Without a branch, so that it runs in vector registers.
        x = np.uint32(_mix(keys[i] ^ seed) >> _S32)
        low = np.int64(x >= _P0) + np.int64(x >= _P1) + np.int64(x >= _P2) + np.int64(x >= _P3)
        mid = np.int64(x >= _P4) + np.int64(x >= _P5) + np.int64(x >= _P6) + np.int64(x >= _P7)
        top = np.int64(x >= _P8) + np.int64(x >= _P9) + np.int64(x >= _P10) + np.int64(x >= _P11)
        out[i] = low + mid + top


@jit()
def _dot(values: NDArray[np.int64], weights: NDArray[np.int64]) -> np.int64:
    total = np.int64(0)
    for i in range(len(values)):
        total += values[i] * weights[i]
    return total


@jit()
def poisson_sums(
    values: NDArray[np.int64],
    keys: NDArray[np.uint64],
    seeds: NDArray[np.uint64],
    out: NDArray[np.int64],
) -> None:
    """Add the Poisson-weighted sums of each column for each resample to ``out``.

    Args:
        values: int64 ``[c, u]``; the caller scales them so that no sum can overflow.
        keys: uint64 ``[u]``, mixed user codes.
        seeds: uint64 ``[r]``, hashes of (seed, resample).
        out: int64 ``[r, c]``.
    """
    weights = np.empty(_TILE, dtype=np.int64)
    for start in range(0, len(keys), _TILE):
        stop = min(start + _TILE, len(keys))
        for r in range(len(seeds)):
            poisson_weights(keys[start:stop], seeds[r], weights)
            for c in range(values.shape[0]):
                out[r, c] += _dot(values[c, start:stop], weights)


@jit()
def multinomial_sums(
    values: NDArray[np.int64],
    keys: NDArray[np.uint64],
    seeds: NDArray[np.uint64],
    out: NDArray[np.int64],
) -> None:
    """Sums of each column over ``u`` users drawn with replacement, added to ``out``.

    Args:
        values: int64 ``[c, u]``, users in ascending order of their codes.
        keys: uint64 ``[u]``, mixed numbers of the draws.
        seeds: uint64 ``[r]``, hashes of (seed, resample).
        out: int64 ``[r, c]``.
    """
    n = len(keys)
    weights = np.empty(n, dtype=np.int64)
    for r in range(len(seeds)):
        weights[:] = 0
        for i in range(n):
            # Below 1 - 2**-53, so that its product with n < 2**52 stays below n.
            uniform = np.float64(_mix(keys[i] ^ seeds[r]) >> _S11) * 2.0**-53
            weights[np.int64(uniform * n)] += 1
        for c in range(values.shape[0]):
            out[r, c] += _dot(values[c], weights)


@jit()
def flipped_sums(
    values: NDArray[np.int64],
    keys: NDArray[np.uint64],
    seeds: NDArray[np.uint64],
    out: NDArray[np.int64],
) -> None:
    """Add, for 64 sign flips a seed, the sum of the values whose sign is kept to ``out``.

    Args:
        values: int64 ``[1, u]``, one row like the other kernels' columns.
        keys: uint64 ``[u]``, mixed user codes.
        seeds: uint64 ``[r]``, hashes of (seed, block of 64 flips).
        out: int64 ``[r, 64]``.
    """
    kept = np.empty(FLIPS, dtype=np.int64)
    for r in range(len(seeds)):
        kept[:] = 0
        for i in range(len(keys)):
            bits = _mix(keys[i] ^ seeds[r])
            for j in range(FLIPS):
                kept[j] += values[0, i] & -np.int64((bits >> np.uint64(j)) & _S1)
        for j in range(FLIPS):
            out[r, j] += kept[j]
