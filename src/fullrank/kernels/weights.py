"""Expected sums of position weights over targets, ties included; and the tables they read."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

# Blocks up to this many places are summed term by term: a difference of two prefix sums has an
# error of one unit in the last place of the larger, which only a long block divides away.
DIRECT = 64


@jit()
def log_discounts(n: int) -> NDArray[np.float64]:
    """``1 / log2(r + 1)`` for ranks 1 to ``n``."""
    out = np.empty(n)
    for r in range(1, n + 1):
        out[r - 1] = 1.0 / math.log2(r + 1.0)
    return out


@jit()
def prefix_sums(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Running sums ``[n + 1]`` with a compensation term (Neumaier 1974), each rounded once."""
    out = np.zeros(len(weights) + 1)
    total, rest = 0.0, 0.0
    for i in range(len(weights)):
        after = total + weights[i]
        if abs(total) >= abs(weights[i]):
            rest += (total - after) + weights[i]
        else:
            rest += (weights[i] - after) + total
        total = after
        out[i + 1] = total + rest
    return out


@jit()
def weight_sum(
    first: int, last: int, weights: NDArray[np.float64], prefix: NDArray[np.float64]
) -> float:
    """Sum of the weights of ranks ``first`` to ``last``, both included."""
    if last - first >= DIRECT:
        return float(prefix[last] - prefix[first - 1])
    total = 0.0
    for r in range(first, last + 1):
        total += weights[r - 1]
    return total


@jit()
def expected_weights(
    indptr: NDArray[np.int64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    gains: NDArray[np.float64],
    weights: NDArray[np.float64],
    prefix: NDArray[np.float64],
    cuts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Expectation of ``sum of gain x weight(rank)`` over targets ranked within a cut.

    A target of a block of equal scores is at each place of the block with the same chance,
    whatever the other targets do (McSherry & Najork 2008, section 3), so the expectation of a
    sum is the sum of gains times mean weights.

    Args:
        indptr: int64 ``[q + 1]``.
        best: int32 ``[t]``, ascending within a query.
        worst: int32 ``[t]``.
        gains: float64 ``[t]``.
        weights: float64 ``[n]``, weight of rank ``r`` at ``r - 1``.
        prefix: float64 ``[n + 1]``, running sums of weights.
        cuts: int64 ``[1, k]`` for all queries or ``[q, k]``; at most ``n``.

    Returns:
        float64 ``[q, k]``, the queries of a cut side by side.
    """
    n_cuts = cuts.shape[1]
    shared = cuts.shape[0] == 1
    deepest = cuts.max() if cuts.size else 0
    out = np.zeros((n_cuts, len(indptr) - 1))
    for q in range(len(indptr) - 1):
        row = 0 if shared else q
        for t in range(indptr[q], indptr[q + 1]):
            if best[t] > deepest:
                break
            if gains[t] == 0.0:
                continue
            if best[t] == worst[t]:
                gained = gains[t] * weights[best[t] - 1]
                for j in range(n_cuts):  # without a branch, which nothing could foresee
                    out[j, q] += gained if best[t] <= cuts[row, j] else 0.0
                continue
            for j in range(n_cuts):
                if best[t] <= cuts[row, j]:
                    total = weight_sum(best[t], min(worst[t], cuts[row, j]), weights, prefix)
                    out[j, q] += gains[t] * (total / (worst[t] - best[t] + 1))
    return out.T
