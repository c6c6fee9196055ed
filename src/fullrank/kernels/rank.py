"""Rank a block of score rows: ranks of the targets with their ties, and the k best items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

FEW_TARGETS = 12
"""Up to this many targets one vectorised count each is cheaper than a binary search per item."""

UNRANKED = np.int32(np.iinfo(np.int32).max)
OK, BAD_SCORE = 0, 1


@jit()
def _mix(z: Any) -> Any:
    """SplitMix64, the scalar twin of ``core.random.mix``."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit()
def _keep_catalogue(row: NDArray[np.float32], catalogue: NDArray[np.bool_]) -> None:
    for c in range(len(row)):
        if not catalogue[c]:
            row[c] = -np.inf


@jit()
def _keep_eligible(
    row: NDArray[np.float32],
    catalogue: NDArray[np.bool_],
    eligible: NDArray[np.int32],
    barred: NDArray[np.uint8],
) -> int:
    barred[:] = 1
    left = 0
    for item in eligible:
        if catalogue[item] and barred[item] == 1:
            barred[item] = 0
            left += 1
    for c in range(len(row)):
        if barred[c] == 1:
            row[c] = -np.inf
    return left


@jit()
def mask_history(
    row: NDArray[np.float32],
    catalogue: NDArray[np.bool_],
    history: NDArray[np.int32],
    barred: NDArray[np.uint8],
    left: int,
) -> int:
    """Set the history to -inf; return how many of ``left`` candidates remain.

    ``barred`` is uint8 ``[c]`` scratch: 1 where an item is no candidate already; zero where no
    eligibility list was applied, and then again on exit.
    """
    for item in history:
        if catalogue[item] and barred[item] == 0:
            left -= 1
        barred[item] = 1
        row[item] = -np.inf
    return left


@jit()
def _never(
    row: NDArray[np.float32],
    catalogue: NDArray[np.bool_],
    barred: NDArray[np.uint8],
    targets: NDArray[np.int32],
) -> int:
    """How many targets are candidates scored -inf, and so unranked."""
    found = 0
    for item in targets:
        found += 1 if catalogue[item] and barred[item] == 0 and row[item] == -np.inf else 0
    return found


@jit()
def first_bad(row: NDArray[np.float32]) -> int:
    """Place of the first NaN or +inf, -1 if there is none."""
    bad = 0
    for c in range(len(row)):
        # NaN fails the comparison as +inf does; a branch-free count vectorises.
        bad += 0 if row[c] < np.float32(np.inf) else 1
    if bad == 0:
        return -1
    for c in range(len(row)):
        if not row[c] < np.float32(np.inf):
            return c
    return -1


@jit()
def count_few(
    row: NDArray[np.float32],
    targets: NDArray[np.int32],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
) -> None:
    """Ranks of a few targets, one pass over the row for each."""
    for t in range(len(targets)):
        score = row[targets[t]]
        if score == -np.inf:
            best[t] = UNRANKED
            worst[t] = UNRANKED
            continue
        above = np.int32(0)
        level = np.int32(0)
        for c in range(len(row)):
            above += np.int32(row[c] > score)
            level += np.int32(row[c] == score)
        best[t] = above + 1
        worst[t] = above + level


@jit()
def _lower_bound(level: NDArray[np.float32], score: float) -> int:
    """First place in ascending ``level`` that is not below ``score``."""
    low, high = 0, len(level)
    while low < high:
        middle = (low + high) // 2
        if level[middle] < score:
            low = middle + 1
        else:
            high = middle
    return low


@jit()
def count_many(
    row: NDArray[np.float32],
    targets: NDArray[np.int32],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
) -> None:
    """Ranks of many targets: one binary search in their sorted scores for each item."""
    n = len(targets)
    own = np.empty(n, dtype=np.float32)
    for t in range(n):
        own[t] = row[targets[t]]
    order = np.argsort(own)
    level = own[order]
    # above[j], equal[j]: items whose score lies between level[j] and level[j + 1], or on level[j].
    above = np.zeros(n + 1, dtype=np.int64)
    equal = np.zeros(n, dtype=np.int64)
    lowest = level[0]
    for c in range(len(row)):
        score = row[c]
        if score < lowest:
            continue
        low = _lower_bound(level, score)
        if low < n and level[low] == score:
            equal[low] += 1
        above[low] += 1
    higher = 0
    j = n - 1
    beyond = above[n]
    while j >= 0:
        first = j
        while first > 0 and level[first - 1] == level[j]:
            first -= 1
        # Scores in (level[first - 1], level[first]] fell on `first`; the equal ones tie.
        for i in range(first, j + 1):
            t = order[i]
            if level[i] == -np.inf:
                best[t] = UNRANKED
                worst[t] = UNRANKED
            else:
                best[t] = higher + beyond + 1
                worst[t] = higher + beyond + equal[first]
        higher += beyond
        beyond = above[first]
        j = first - 1


@jit()
def _before(score: float, key: int, item: int, score2: float, key2: int, item2: int) -> bool:
    """True if the first stands before the second: score descending, then key, then item."""
    if score != score2:
        return score > score2
    if key != key2:
        return key < key2
    return item < item2


@jit()
def _sift_down(
    scores: NDArray[np.float32], keys: NDArray[np.uint64], items: NDArray[np.int32], size: int
) -> None:
    """Restore the heap whose root is the last of the kept ones."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        other = child + 1
        if other < size and _before(
            scores[child], keys[child], items[child], scores[other], keys[other], items[other]
        ):
            child = other
        if not _before(
            scores[place], keys[place], items[place], scores[child], keys[child], items[child]
        ):
            return
        scores[place], scores[child] = scores[child], scores[place]
        keys[place], keys[child] = keys[child], keys[place]
        items[place], items[child] = items[child], items[place]
        place = child


@jit()
def top_k(
    row: NDArray[np.float32],
    query_key: Any,
    item_keys: NDArray[np.uint64],
    items: NDArray[np.int32],
    scores: NDArray[np.float32],
    keys: NDArray[np.uint64],
) -> None:
    """Write the best items of a row, best first; equal scores go by a hash of query and item.

    ``items`` (-1 where the row has fewer), ``scores`` and the scratch ``keys`` have length k.
    """
    k = len(items)
    for j in range(k):
        items[j] = -1
        scores[j] = -np.inf
        keys[j] = np.uint64(0xFFFFFFFFFFFFFFFF)
    for c in range(len(row)):
        score = row[c]
        if score < scores[0] or score == -np.inf:
            continue
        key = _mix(query_key ^ item_keys[c])
        if items[0] >= 0 and not _before(score, key, c, scores[0], keys[0], items[0]):
            continue
        scores[0], keys[0], items[0] = score, key, np.int32(c)
        _sift_down(scores, keys, items, k)
    for size in range(k - 1, 0, -1):  # heap sort: the last of the kept ones moves to the end
        scores[0], scores[size] = scores[size], scores[0]
        keys[0], keys[size] = keys[size], keys[0]
        items[0], items[size] = items[size], items[0]
        _sift_down(scores, keys, items, size)


@jit()
def rank_block(
    block: NDArray[np.float32],
    catalogue: NDArray[np.bool_],
    n_catalogue: int,
    h_indptr: NDArray[np.int64],
    history: NDArray[np.int32],
    e_indptr: NDArray[np.int64],
    eligible: NDArray[np.int32],
    t_indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    query_keys: NDArray[np.uint64],
    item_keys: NDArray[np.uint64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    n_candidates: NDArray[np.int32],
    top_items: NDArray[np.int32],
    top_scores: NDArray[np.float32],
) -> tuple[int, int, int]:
    """Rank a block of queries; masks ``block`` in place.

    Args:
        block: float32 ``[b, c]`` scores, overwritten at what is masked.
        catalogue: bool ``[c]``, and the number of True in it.
        n_catalogue: see ``catalogue``.
        h_indptr: int64 ``[b + 1]`` histories to mask (all empty if repeats are kept).
        history: int32 items.
        e_indptr: int64 ``[b + 1]`` items each query may get, or length 0 for no restriction.
        eligible: int32 items.
        t_indptr: int64 ``[b + 1]`` targets.
        targets: int32 items.
        query_keys: uint64 ``[b]`` for ties in ``top_items``.
        item_keys: uint64 ``[c]``.
        best: int32 ``[t]`` out.
        worst: int32 ``[t]`` out.
        n_candidates: int32 ``[b]`` out: candidates, less the targets scored -inf.
        top_items: int32 ``[b, k]`` out; k may be 0.
        top_scores: float32 ``[b, k]`` out.

    Returns:
        (status, row, item): ``OK``, or ``BAD_SCORE`` with the first NaN or +inf.
    """
    n_items = block.shape[1]
    barred = np.zeros(n_items, dtype=np.uint8)
    keys = np.empty(top_items.shape[1], dtype=np.uint64)
    restrict = len(e_indptr) > 0
    for r in range(block.shape[0]):
        row = block[r]
        seen = history[h_indptr[r] : h_indptr[r + 1]]
        if restrict:
            may = eligible[e_indptr[r] : e_indptr[r + 1]]
            left = _keep_eligible(row, catalogue, may, barred)
        else:
            left = n_catalogue
            if n_catalogue < n_items:
                _keep_catalogue(row, catalogue)
        left = mask_history(row, catalogue, seen, barred, left)
        own = targets[t_indptr[r] : t_indptr[r + 1]]
        n_candidates[r] = left - _never(row, catalogue, barred, own)
        for item in seen:
            barred[item] = 0
        bad = first_bad(row)
        if bad >= 0:
            return BAD_SCORE, r, bad
        start, stop = t_indptr[r], t_indptr[r + 1]
        if 0 < len(own) <= FEW_TARGETS:
            count_few(row, own, best[start:stop], worst[start:stop])
        elif len(own):
            count_many(row, own, best[start:stop], worst[start:stop])
        if len(keys):
            top_k(row, query_keys[r], item_keys, top_items[r], top_scores[r], keys)
    return OK, 0, 0
