"""What users of items share: counts of all pairs, and neighbours where items weigh a user alike.

The sums over shared users are sparse for most items. The few with most users are kept as bits
beside, so that what two of them share is counted 64 users at a time: at MovieLens' shape a
thousandth of the pairs hold half of the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.neighbours import Neighbours, kth_largest

Pattern = tuple[NDArray[np.int64], NDArray[np.int32]]
Head = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]

if TYPE_CHECKING:

    def _ones(word: np.uint64) -> int:
        """Number of bits that are set."""

else:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def _ones(typingctx: Any, word: Any) -> Any:  # noqa: ARG001 (Numba's signature)
        """Number of bits that are set."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
            return builder.ctpop(args[0])

        return types.int64(types.uint64), generate


@jit()
def set_bits(
    start: int, stop: int, head: NDArray[np.int32], rows: Pattern, out: NDArray[np.uint64]
) -> None:
    """Set bit u of ``out[h]`` for the users u of item ``head[h]``, h from start to stop."""
    indptr, users = rows
    for h in range(start, stop):
        word = out[h]
        for p in range(indptr[head[h]], indptr[head[h] + 1]):
            word[users[p] >> 6] |= np.uint64(1) << np.uint64(users[p] & 63)


@jit()
def count_bits(start: int, stop: int, bits: NDArray[np.uint64], out: NDArray[np.float64]) -> None:
    """``out[i, j]`` and ``out[j, i]``: bits that rows i and j share, for i <= j, i from start."""
    for j in range(start, len(bits)):
        right = bits[j]
        for i in range(start, min(stop, j + 1)):
            left, total = bits[i], 0
            for w in range(len(right)):
                total += _ones(left[w] & right[w])
            out[i, j] = total
            out[j, i] = total


@jit()
def without(columns: Pattern, places: NDArray[np.int32]) -> Pattern:
    """The rows of ``columns`` without the items that have a place (others have -1)."""
    indptr, items = columns
    starts = np.zeros(len(indptr), dtype=np.int64)
    n = 0
    for r in range(len(indptr) - 1):
        for p in range(indptr[r], indptr[r + 1]):
            n += places[items[p]] < 0
        starts[r + 1] = n
    rest = np.empty(n, dtype=np.int32)
    n = 0
    for p in range(len(items)):
        if places[items[p]] < 0:
            rest[n] = items[p]
            n += 1
    return starts, rest


@jit()
def count_together(
    start: int,
    stop: int,
    rows: Pattern,
    columns: tuple[Pattern, Pattern],
    head: Head,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out[i, j]`` with the number of users of both items, for items ``i <= j`` of a chunk.

    Args:
        start: first item of the chunk.
        stop: end of the chunk.
        rows: items × users, CSR.
        columns: users × items, CSR, sorted, with all items and without those of the head.
        head: items of the head ``[h]``; place in it of each item, or -1; their counts ``[h, h]``.
        out: float64 ``[n_items, n_items]``, zeros; what is below the diagonal means nothing.
    """
    indptr, users = rows
    items, places, shared = head
    for i in range(start, stop):
        row = out[i]
        whole = places[i] < 0
        c_indptr, c_items = columns[0] if whole else columns[1]
        for p in range(indptr[i], indptr[i + 1]):
            t = c_indptr[users[p] + 1] - 1
            while t >= c_indptr[users[p]] and c_items[t] >= i:
                row[c_items[t]] += 1.0
                t -= 1
        if not whole:
            row[items] = shared[places[i]]


@jit()
def _sum_weights(
    mine: NDArray[np.int32],
    columns: Pattern,
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    found: NDArray[np.int32],
) -> int:
    """Add the weights of the users ``mine`` to the sums of their items; fill in which those are.

    Returns:
        How many are found, or -1 where so many were met that all are to be looked at.
    """
    indptr, items = columns
    met = 0
    for p in range(len(mine)):
        met += indptr[mine[p] + 1] - indptr[mine[p]]
    if met > len(sums):
        for p in range(len(mine)):
            weight = weights[mine[p]]
            for t in range(indptr[mine[p]], indptr[mine[p] + 1]):
                sums[items[t]] += weight
        return -1
    n = 0
    for p in range(len(mine)):
        weight = weights[mine[p]]
        if weight == 0.0:
            continue
        for t in range(indptr[mine[p]], indptr[mine[p] + 1]):
            if sums[items[t]] == 0.0:
                found[n] = items[t]
                n += 1
            sums[items[t]] += weight
    return n


@jit()
def _positive(sums: NDArray[np.float64], found: NDArray[np.int32]) -> int:
    """Fill in the items whose sum is above 0; their number."""
    n = 0
    for j in range(len(sums)):
        found[n] = j
        n += sums[j] > 0.0
    return n


@jit()
def _shrink(
    n: int, k: int, kept: NDArray[np.int32], values: NDArray[np.float32], work: NDArray[np.float32]
) -> tuple[int, float]:
    """Keep the k greatest values and all that equal the last of them; their number, and that."""
    for p in range(n):
        work[p] = values[p]
    last = kth_largest(work, n, k)
    m = 0
    for p in range(n):
        if values[p] >= last:
            kept[m], values[m] = kept[p], values[p]
            m += 1
    return m, last


@jit()
def _nearest_of(
    i: int,
    n: int,
    sums: NDArray[np.float64],
    found: NDArray[np.int32],
    sizes: tuple[NDArray[np.float64], NDArray[np.float64]],
    rule: tuple[int, float, bool],
    kept: NDArray[np.int32],
    values: NDArray[np.float32],
    work: NDArray[np.float32],
) -> int:
    """Turn sums into similarities, keep the nearest; the sums are zeroed."""
    scales, norms = sizes
    k, shrinkage, jaccard = rule
    m, least, full = 0, np.float32(0.0), 4 * k
    for p in range(n):
        j = found[p]
        shared = sums[j]
        sums[j] = 0.0
        scale = norms[i] * norms[j]
        if jaccard:
            scale = norms[i] + norms[j] - shared
        if j == i or shared <= 0.0 or scale <= 0.0:
            continue
        value = np.float32(scales[i] * scales[j] * shared / scale)
        if shrinkage > 0.0:
            value = np.float32(shared / scale * (shared / (shared + shrinkage)))
        if value <= 0.0 or value < least:
            continue
        kept[m], values[m] = j, value
        m += 1
        if m == full:
            m, last = _shrink(m, k, kept, values, work)
            least = np.float32(last)
            full = min(max(4 * k, 2 * m), len(kept))
    if m > k:
        m, _ = _shrink(m, k, kept, values, work)
    return m


@jit()
def nearest_together(
    start: int,
    stop: int,
    rows: Pattern,
    columns: Pattern,
    tail: Pattern,
    weights: NDArray[np.float64],
    head: Head,
    sizes: tuple[NDArray[np.float64], NDArray[np.float64]],
    rule: tuple[int, float, bool],
) -> Neighbours:
    """Find the neighbours of items ``start`` to ``stop``, themselves left out.

    Args:
        start: first item of the chunk.
        stop: end of the chunk.
        rows: items × users, CSR.
        columns: users × items, CSR.
        tail: ``columns`` without the items of the head.
        weights: float64 ``[n_users]``, >= 0: what a shared user counts.
        head: items of the head ``[h]``; place in it of each item, or -1; sums of weights over
            shared users, float64 ``[h, h]``.
        sizes: scale and norm of each item, float64 ``[n]``; for Jaccard the norm is the count.
        rule: neighbours to keep (all that tie with the last are kept); shrinkage (then weights are
            1), as in ``nearest``; divide by the size of the union.

    Returns:
        counts int64 ``[stop - start]``, then neighbours and similarities, flat.
    """
    indptr, users = rows
    head_items, places, shared = head
    n, k = len(places), rule[0]
    sums, found = np.zeros(n, dtype=np.float64), np.empty(n, dtype=np.int32)
    kept = np.empty(max(n, 4 * k) + 1, dtype=np.int32)
    values, work = np.empty(len(kept), np.float32), np.empty(len(kept), np.float32)
    counts = np.zeros(stop - start, dtype=np.int64)
    out = np.empty((stop - start) * min(k, n), dtype=np.int32)
    similar = np.empty(len(out), dtype=np.float32)
    total = 0
    for i in range(start, stop):
        mine = users[indptr[i] : indptr[i + 1]]
        if places[i] < 0:
            met = _sum_weights(mine, columns, weights, sums, found)
        else:
            _sum_weights(mine, tail, weights, sums, found)
            sums[head_items] = shared[places[i]]
            met = -1
        if met < 0:
            met = _positive(sums, found)
        m = _nearest_of(i, met, sums, found, sizes, rule, kept, values, work)
        if total + m > len(out):
            out = np.concatenate((out[:total], np.empty(2 * total + m, np.int32)))
            similar = np.concatenate((similar[:total], np.empty(2 * total + m, np.float32)))
        out[total : total + m] = kept[:m]
        similar[total : total + m] = values[:m]
        counts[i - start] = m
        total += m
    return counts, out[:total], similar[:total]
