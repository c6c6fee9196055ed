"""Sums of the precision at each relevant target (the numerator of AP), expected over ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.weights import DIRECT


@jit()
def _block(
    above: int, size: int, relevant: int, before: int, places: int, prefix: NDArray[np.float64]
) -> float:
    """What one block of several places adds.

    A relevant target at place ``j`` of the block has ``before`` relevant ones above the block
    and, on average, ``(relevant - 1)(j - 1) / (size - 1)`` within it (McSherry & Najork 2008,
    section 3.2). Summed over places, ``(j - 1)/(s + j) = 1 - (s + 1)/(s + j)``.
    """
    share = (relevant - 1.0) / (size - 1.0)
    total = 0.0
    if places <= DIRECT:
        for j in range(1, places + 1):
            total += (before + 1.0 + share * (j - 1.0)) / (above + j)
    else:
        harmonic = prefix[above + places] - prefix[above]
        total = (before + 1.0) * harmonic + share * (places - (above + 1.0) * harmonic)
    return total * relevant / size


@jit()
def precision_sums(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    relevant: NDArray[np.bool_],
    prefix: NDArray[np.float64],
    cuts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Expectation of the sum of precisions at the ranks of relevant targets: ``[q, k]``.

    The queries of a cut lie side by side.

    Args:
        indptr: int64 ``[q + 1]``.
        best: int32 ``[t]``, ascending within a query.
        worst: int32 ``[t]``.
        relevant: bool ``[t]``.
        prefix: float64 ``[n + 1]``, harmonic numbers.
        cuts: int64 ``[k]``, at most ``n``.
    """
    out = np.zeros((len(cuts), len(indptr) - 1))
    deepest = cuts.max() if len(cuts) else 0
    for q in range(len(indptr) - 1):
        t, before = indptr[q], 0
        while t < indptr[q + 1] and best[t] <= deepest:
            first, in_block = t, 0
            while t < indptr[q + 1] and best[t] == best[first]:
                in_block += relevant[t]
                t += 1
            above, size = best[first] - 1, worst[first] - best[first] + 1
            if in_block == 0:
                continue
            if size == 1:
                precision = (before + 1.0) / (above + 1.0)
                for j in range(len(cuts)):  # without a branch, which nothing could foresee
                    out[j, q] += precision if above < cuts[j] else 0.0
                before += 1
                continue
            for j in range(len(cuts)):
                places = min(size, cuts[j] - above)
                if places > 0:
                    out[j, q] += _block(above, size, in_block, before, places, prefix)
            before += in_block
    return out.T
