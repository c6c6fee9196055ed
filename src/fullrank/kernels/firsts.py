"""The first relevant target within blocks of equal scores: its chance and its reciprocal rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.weights import weight_sum

# Up to this many terms a plain sum is as fast as the recurrence, and has the smaller error.
_PLAIN = 256
# The recurrence multiplies rounding errors; past this factor the plain sum is taken.
_GROWTH = 1000.0


@jit()
def miss_chance(size: int, relevant: int, places: int) -> float:
    """Chance that none of ``relevant`` targets is in the first ``places`` of a block.

    Hypergeometric: ``C(size - relevant, places) / C(size, places)``.
    """
    if places >= size:
        return 0.0
    chance = 1.0
    for i in range(relevant):
        chance *= max(size - places - i, 0) / (size - i)
    return chance


@jit()
def hit_chances(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    relevant: NDArray[np.bool_],
    cuts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Chance of at least one relevant target within each cut: ``[q, k]``.

    The queries of a cut lie side by side.

    Args:
        indptr: int64 ``[q + 1]``.
        best: int32 ``[t]``, ascending within a query.
        worst: int32 ``[t]``.
        relevant: bool ``[t]``.
        cuts: int64 ``[k]``.
    """
    out = np.zeros((len(cuts), len(indptr) - 1))
    for q in range(len(indptr) - 1):
        for j in range(len(cuts)):
            in_block, size, places = 0, 0, 0
            for t in range(indptr[q], indptr[q + 1]):
                if best[t] > cuts[j]:
                    break
                if not relevant[t]:
                    continue
                if worst[t] <= cuts[j]:
                    out[j, q] = 1.0
                    break
                in_block += 1
                size, places = worst[t] - best[t] + 1, cuts[j] - best[t] + 1
            if out[j, q] == 0.0 and in_block == 1:
                out[j, q] = places / size
            elif out[j, q] == 0.0 and in_block > 1:
                out[j, q] = 1.0 - miss_chance(size, in_block, places)
    return out.T


@jit()
def _plain(above: int, size: int, relevant: int, places: int) -> float:
    """Sum of ``C(size - j, relevant - 1) / C(size, relevant) / (above + j)`` over places ``j``."""
    total, chance = 0.0, relevant / size
    terms = min(places, size - relevant + 1)
    for j in range(1, terms + 1):
        total += chance / (above + j)
        chance *= (size - j - relevant + 1) / (size - j)
        # Chances fall with j: what is left can't reach the last digit.
        if chance * (terms - j) < 1e-18 * total:
            break
    return total


@jit()
def _growth(above: int, size: int, relevant: int) -> float:
    """How much the recurrence magnifies rounding errors."""
    growth = 1.0 * relevant
    for t in range(2, relevant + 1):
        growth *= (size + above - t + 2) / (size - t + 1)
        if growth > _GROWTH:
            break
    return growth


@jit()
def _recurrence(above: int, size: int, relevant: int, places: int, one: float) -> float:
    """Go from one target in the block to ``relevant`` of them.

    With ``f(t)`` the expectation for ``t`` targets, ``s`` candidates above, a block of ``B`` and
    ``miss(t)`` the chance of none in reach, ``C(B-j, t-1) = C(B-j, t-2) (B-j-t+2) / (t-1)`` gives
    ``f(t) = t / ((t-1)(B-t+1)) * ((B+s-t+2) f(t-1) - (1 - miss(t-1)))``.
    """
    value, miss = one, 1.0
    for t in range(2, relevant + 1):
        miss *= max(size - places - (t - 2), 0) / (size - (t - 2))
        value = (size + above - t + 2) * value - (1.0 - miss)
        value *= t / ((t - 1.0) * (size - t + 1.0))
    return value


@jit()
def reciprocal_firsts(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    relevant: NDArray[np.bool_],
    reciprocals: NDArray[np.float64],
    prefix: NDArray[np.float64],
    cuts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Expected reciprocal rank of the first relevant target within each cut: ``[q, k]``.

    The queries of a cut lie side by side.

    Args:
        indptr: int64 ``[q + 1]``.
        best: int32 ``[t]``, ascending within a query.
        worst: int32 ``[t]``.
        relevant: bool ``[t]``.
        reciprocals: float64 ``[n]``, ``1 / r``.
        prefix: float64 ``[n + 1]``, running sums of ``reciprocals``.
        cuts: int64 ``[k]``, at most ``n``.
    """
    out = np.zeros((len(cuts), len(indptr) - 1))
    for q in range(len(indptr) - 1):
        first, in_block = -1, 0
        for t in range(indptr[q], indptr[q + 1]):
            if first >= 0 and best[t] != best[first]:
                break
            if relevant[t]:
                first = t if first < 0 else first
                in_block += 1
        if first < 0:
            continue
        above, size = best[first] - 1, worst[first] - best[first] + 1
        for j in range(len(cuts)):
            places = min(size, cuts[j] - above)
            if places <= 0:
                continue
            if in_block == 1 or size == 1:
                end = above + places
                alone = size == 1  # the common case, without the cost of a call with arrays
                one = (
                    reciprocals[above] if alone else weight_sum(above + 1, end, reciprocals, prefix)
                )
                out[j, q] = one / size
            elif places <= _PLAIN or _growth(above, size, in_block) > _GROWTH:
                out[j, q] = _plain(above, size, in_block, places)
            else:
                one = weight_sum(above + 1, above + places, reciprocals, prefix) / size
                out[j, q] = _recurrence(above, size, in_block, places, one)
    return out.T
