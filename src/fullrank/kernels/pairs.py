"""Pairs of a relevant and another candidate that are in the right order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.lists import UNRANKED

_UNRANKED = int(UNRANKED)


@jit()
def pair_shares(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    relevant: NDArray[np.bool_],
    n_candidates: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Share of (relevant target, other candidate) pairs in order, equal scores as one half.

    Args:
        indptr: int64 ``[q + 1]``.
        best: int32 ``[t]``, ascending within a query.
        worst: int32 ``[t]``.
        relevant: bool ``[t]``.
        n_candidates: int32 ``[q]``.

    Returns:
        float64 ``[q]``, NaN without a pair.
    """
    out = np.full(len(indptr) - 1, np.nan)
    for q in range(len(indptr) - 1):
        ranked, total = 0, 0
        for t in range(indptr[q], indptr[q + 1]):
            total += relevant[t]
            ranked += relevant[t] and best[t] != _UNRANKED
        others = int(n_candidates[q]) - ranked
        if total == 0 or others <= 0:
            continue
        t, above, wins = indptr[q], 0, 0.0
        while t < indptr[q + 1] and best[t] != _UNRANKED:
            first, in_block = t, 0
            while t < indptr[q + 1] and best[t] == best[first]:
                in_block += relevant[t]
                t += 1
            higher = best[first] - 1 - above
            equal = worst[first] - best[first] + 1 - in_block
            wins += in_block * (others - higher - 0.5 * equal)
            above += in_block
        out[q] = wins / (float(total) * others)
    return out
