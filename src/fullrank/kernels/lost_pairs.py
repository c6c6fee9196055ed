"""For each positive of a query, the share of negatives that stand above it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

_UNRANKED = np.iinfo(np.int32).max


@jit()
def lost_pairs(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    items: NDArray[np.int32],
    n_candidates: NDArray[np.int32],
    targets: NDArray[np.int32],
    lost: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Inverse AUC of each positive: negatives above it, half of those beside it, of all negatives.

    The negatives of a query are its candidates that are none of its positives.

    Args:
        indptr: int64 ``[q + 1]``.
        best: int32 ``[t]`` ranks among all candidates, the positives included, ascending within a
            query; int32's largest for unranked ones, which lose to all.
        worst: int32 ``[t]``, as far as ties reach.
        items: int32 ``[t]``, of these ranks.
        n_candidates: int32 ``[q]``, without the unranked.
        targets: int32 ``[t]``, the same items in the order in which they are wanted.
        lost: float64 ``[n_items]``, room to work in.
        out: float64 ``[t]``, overwritten; 0 where there is no negative.
    """
    for q in range(len(n_candidates)):
        start, stop = indptr[q], indptr[q + 1]
        ranked = start
        while ranked < stop and best[ranked] != _UNRANKED:
            ranked += 1
        negatives = n_candidates[q] - (ranked - start)
        at = start
        while at < stop:
            end = at + 1
            while end < stop and best[end] == best[at]:
                end += 1
            share = 1.0 if negatives > 0 else 0.0
            if negatives > 0 and at < ranked:
                above = best[at] - 1 - (at - start)
                beside = worst[at] - best[at] + 1 - (end - at)
                share = (above + 0.5 * beside) / negatives
            for t in range(at, end):
                lost[items[t]] = share
            at = end
        for t in range(start, stop):
            out[t] = lost[targets[t]]
