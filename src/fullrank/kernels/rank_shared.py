"""Rank queries that all share one row of scores: the row is sorted once, no product is made."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.masks import Allowed
from fullrank.kernels.order import tie_key
from fullrank.kernels.targets import UNRANKED


class SharedRow(NamedTuple):
    """The catalogue by score, highest first; items scored -inf are left out."""

    items: NDArray[np.int32]
    """``[n]``."""
    scores: NDArray[np.float32]
    """``[n]``."""
    first: NDArray[np.int32]
    """``[n_items]``: items above, which names the group of equal scores; -1 for other items."""
    size: NDArray[np.int32]
    """``[n_items]``: items in the group."""


@jit()
def group_row(row: SharedRow) -> None:
    """Fill ``first`` and ``size`` from the sorted scores."""
    row.first[:] = -1
    n = len(row.items)
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and row.scores[stop] == row.scores[start]:
            stop += 1
        for j in range(start, stop):
            row.first[row.items[j]] = start
            row.size[row.items[j]] = stop - start
        start = stop


@jit()
def _taken(groups: NDArray[np.int32], group: int) -> tuple[int, int]:
    """How many of the sorted ``groups`` are below ``group``, and how many equal it."""
    low = int(np.searchsorted(groups, group))
    high = int(np.searchsorted(groups, group, side="right"))
    return low, high - low


@jit()
def _sift_down(keys: NDArray[np.uint64], items: NDArray[np.int32], size: int, place: int) -> None:
    """Restore the heap whose root has the greatest (key, item)."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        other = child + 1
        if other < size and (keys[other], items[other]) > (keys[child], items[child]):
            child = other
        if (keys[place], items[place]) >= (keys[child], items[child]):
            return
        keys[place], keys[child] = keys[child], keys[place]
        items[place], items[child] = items[child], items[place]
        place = child


@jit()
def _least_keys(
    members: NDArray[np.int32],
    seen: NDArray[np.int64],
    stamp: int,
    query_key: Any,
    item_keys: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    out: NDArray[np.int32],
) -> int:
    """Write the members with the least (key, item) to ``out``, in order, as many as it holds."""
    n = 0
    for item in members:
        if seen[item] == stamp:
            continue
        key = tie_key(query_key, item_keys, item)
        if n < len(out):
            keys[n], out[n] = key, item
            n += 1
            if n == len(out):
                for j in range(n // 2 - 1, -1, -1):
                    _sift_down(keys, out, n, j)
        elif (key, item) < (keys[0], out[0]):
            keys[0], out[0] = key, item
            _sift_down(keys, out, n, 0)
    if n < len(out):
        for j in range(n // 2 - 1, -1, -1):
            _sift_down(keys, out, n, j)
    for size in range(n - 1, 0, -1):
        keys[0], keys[size] = keys[size], keys[0]
        out[0], out[size] = out[size], out[0]
        _sift_down(keys, out, size, 0)
    return n


@jit()
def _list(
    row: SharedRow,
    seen: NDArray[np.int64],
    stamp: int,
    query_key: Any,
    item_keys: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    top_items: NDArray[np.int32],
    top_scores: NDArray[np.float32],
) -> None:
    """Write the k best of the row that are not in the history; ties by the order of lists."""
    k, n, j = len(top_items), 0, 0
    while n < k and j < len(row.items):
        score, size = row.scores[j], row.size[row.items[j]]
        found = n
        if size > 1:
            members = row.items[j : j + size]
            found += _least_keys(members, seen, stamp, query_key, item_keys, keys, top_items[n:])
        elif seen[row.items[j]] != stamp:
            top_items[n] = row.items[j]
            found += 1
        top_scores[n:found] = score
        n = found
        j += size
    top_items[n:] = -1
    top_scores[n:] = -np.inf


@jit()
def rank_shared(
    row: SharedRow,
    allowed: Allowed,
    t_indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    query_keys: NDArray[np.uint64],
    item_keys: NDArray[np.uint64],
    best: NDArray[np.int32],
    worst: NDArray[np.int32],
    n_candidates: NDArray[np.int32],
    top_items: NDArray[np.int32],
    top_scores: NDArray[np.float32],
) -> None:
    """Rank a block of queries by the shared row.

    Args:
        row: the catalogue by score.
        allowed: catalogue and histories; eligibility is not used.
        t_indptr: int64 ``[b + 1]``.
        targets: int32 ``[t]``.
        query_keys: uint64 ``[b]``.
        item_keys: uint64 ``[n_items]``.
        best: int32 ``[t]`` out.
        worst: int32 ``[t]`` out.
        n_candidates: int32 ``[b]`` out: candidates, less the targets scored -inf.
        top_items: int32 ``[b, k]`` out; k may be 0.
        top_scores: float32 ``[b, k]`` out.
    """
    k = top_items.shape[1]
    seen = np.full(len(allowed.catalogue), -1, dtype=np.int64)
    keys = np.empty(k, dtype=np.uint64)
    for q in range(len(n_candidates)):
        start, stop = allowed.h_indptr[q], allowed.h_indptr[q + 1]
        groups = np.empty(stop - start, dtype=np.int32)
        left, n = allowed.size, 0
        for item in allowed.history[start:stop]:
            if seen[item] != q:
                seen[item] = q
                left -= allowed.catalogue[item]
                if row.first[item] >= 0:
                    groups[n] = row.first[item]
                    n += 1
        groups = np.sort(groups[:n])
        for t in range(t_indptr[q], t_indptr[q + 1]):
            item = targets[t]
            if row.first[item] < 0 or seen[item] == q:
                best[t] = worst[t] = UNRANKED
                left -= allowed.catalogue[item] and seen[item] != q
                continue
            above, level = _taken(groups, row.first[item])
            best[t] = row.first[item] - above + 1
            worst[t] = row.first[item] - above + row.size[item] - level
        n_candidates[q] = left
        if k > 0:
            _list(row, seen, q, query_keys[q], item_keys, keys, top_items[q], top_scores[q])
