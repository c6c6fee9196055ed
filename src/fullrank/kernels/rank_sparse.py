"""Rank by scores that are 0 for most items: only what a sparse product touches is looked at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.masks import Allowed
from fullrank.kernels.shortlist import (
    Product,
    Shortlists,
    bound_of_kth,
    finish_list,
    push,
    push_rows,
)
from fullrank.kernels.simd import LANES, count_from
from fullrank.kernels.targets import (
    MANY_TARGETS,
    Targets,
    count_rows,
    finish_row,
    n_below,
    sort_row,
)

OK, BAD_SCORE = 0, 1


class SparseProduct(NamedTuple):
    """``left [b, m] @ right [m, n_items]``; sums run in float64 in the order of the left's rows."""

    l_indptr: NDArray[np.int64]
    l_rows: NDArray[np.int32]
    l_data: NDArray[np.float32]
    r_indptr: NDArray[np.int64]
    r_items: NDArray[np.int32]
    r_data: NDArray[np.float32]


class Outputs(NamedTuple):
    """Where a block's results go; see ``rank_block`` of the same names."""

    best: NDArray[np.int32]
    worst: NDArray[np.int32]
    n_candidates: NDArray[np.int32]
    top_items: NDArray[np.int32]
    top_scores: NDArray[np.float32]


class _Row(NamedTuple):
    """Scratch of one thread: sums by item, and marks that need no clearing between queries."""

    sums: NDArray[np.float64]
    """``[n_items]``."""
    touched: NDArray[np.int64]
    """``[n_items]``: the last query whose product touched the item."""
    barred: NDArray[np.int64]
    """``[n_items]``: the last query that may not get the item."""
    items: NDArray[np.int32]
    """``[whole]``: candidates touched, the targets left out; ``whole`` in vectors."""
    scores: NDArray[np.float32]
    """``[whole]``: theirs."""


@jit()
def _sum(product: SparseProduct, q: int, row: _Row) -> int:
    """Sum one row of the product; the touched items are listed, and counted."""
    sums, touched, items = row.sums, row.touched, row.items
    r_indptr, r_items, r_data = product.r_indptr, product.r_items, product.r_data
    n = 0
    for h in range(product.l_indptr[q], product.l_indptr[q + 1]):
        weight = np.float64(product.l_data[h])
        j = product.l_rows[h]
        for p in range(r_indptr[j], r_indptr[j + 1]):
            item = r_items[p]
            if touched[item] != q:
                touched[item] = q
                sums[item] = 0.0
                items[n] = item
                n += 1
            sums[item] += weight * np.float64(r_data[p])
    return n


@jit()
def _bar(allowed: Allowed, q: int, barred: NDArray[np.int64]) -> int:
    """Mark the history; the number of candidates left."""
    left = allowed.size
    for h in range(allowed.h_indptr[q], allowed.h_indptr[q + 1]):
        item = allowed.history[h]
        if barred[item] != q:
            barred[item] = q
            left -= allowed.catalogue[item]
    return left


@jit()
def _place_targets(
    targets: Targets, items: NDArray[np.int32], allowed: Allowed, q: int, row: _Row
) -> int:
    """Score the targets, sort them and bar them from the row; how many are never recommended."""
    never = 0
    for t in range(targets.indptr[q], targets.indptr[q + 1]):
        item = items[t]
        targets.places[t] = item
        score = np.float32(-np.inf)
        if allowed.catalogue[item] and row.barred[item] != q:
            score = np.float32(row.sums[item]) if row.touched[item] == q else np.float32(0.0)
            never += score == -np.inf
        targets.scores[t] = score
    for t in range(targets.indptr[q], targets.indptr[q + 1]):
        row.barred[items[t]] = q
    sort_row(targets, q, 0.0)
    return never


@jit()
def _compact(allowed: Allowed, q: int, n: int, row: _Row) -> tuple[int, int]:
    """Keep the candidates among the ``n`` touched; how many, and a bad item or -1.

    The row of scores is filled up to whole vectors with -inf.
    """
    items, scores = row.items, row.scores
    kept = 0
    for j in range(n):
        item = items[j]
        if allowed.catalogue[item] and row.barred[item] != q:
            score = np.float32(row.sums[item])
            if not score < np.float32(np.inf):
                return kept, item
            items[kept], scores[kept] = item, score
            kept += 1
    for j in range(kept, (kept + LANES - 1) // LANES * LANES):
        scores[j] = -np.inf
    return kept, -1


@jit()
def _bad_target(targets: Targets, q: int) -> int:
    """A target of the query that scored NaN or +inf, -1 if there is none."""
    for t in range(targets.indptr[q], targets.indptr[q + 1]):
        if not targets.scores[t] < np.float32(np.inf):
            return int(targets.places[t])
    return -1


@jit()
def _count_zeros(targets: Targets, q: int, zeros: int) -> None:
    """Add the untouched candidates, all of score 0."""
    zero = np.float32(0.0)
    first, stop = targets.first[q], targets.indptr[q + 1]
    if stop - first > MANY_TARGETS:
        higher = n_below(targets.scores, first, stop, zero)
        if higher < stop and targets.scores[higher] == zero:
            targets.level[higher] += zeros
        if higher > first:
            targets.above[higher - 1] += zeros
        return
    for t in range(first, stop):
        if targets.scores[t] < zero:
            targets.above[t] += zeros
        elif targets.scores[t] == zero:
            targets.level[t] += zeros


@jit()
def _append_zeros(allowed: Allowed, q: int, n: int, row: _Row) -> int:
    """List the untouched candidates behind the ``n`` touched ones; the new length."""
    for item in range(len(row.sums)):
        if row.touched[item] != q and row.barred[item] != q and allowed.catalogue[item]:
            row.items[n], row.scores[n] = item, 0.0
            n += 1
    for j in range(n, (n + LANES - 1) // LANES * LANES):
        row.scores[j] = -np.inf
    return n


@jit()
def _list(
    lists: Shortlists,
    canonical: Product,
    targets: Targets,
    allowed: Allowed,
    q: int,
    n: int,
    row: _Row,
    top_items: NDArray[np.int32],
    top_scores: NDArray[np.float32],
) -> None:
    """Write the list of one query from the ``n`` candidates touched, and zeros where they enter."""
    whole = (n + LANES - 1) // LANES * LANES
    least = np.nextafter(np.float32(0.0), np.float32(1.0))
    positive = count_from(row.scores, 0, whole, least)
    for t in range(targets.first[q], targets.indptr[q + 1]):
        positive += targets.scores[t] > 0.0
    if positive < lists.k:
        n = _append_zeros(allowed, q, n, row)
        whole = (n + LANES - 1) // LANES * LANES
    lists.n[q], lists.kth[q] = 0, -1
    lists.threshold[q] = bound_of_kth(row.scores, 0, whole, lists.k)
    # Places are those of the touched items; the targets stand behind them.
    for t in range(targets.first[q], targets.indptr[q + 1]):
        row.items[whole + t - targets.first[q]] = targets.places[t]
        if targets.scores[t] >= lists.threshold[q]:
            push(lists, canonical, q, whole + t - targets.first[q], targets.scores[t])
    push_rows(lists, canonical, row.scores, whole, 0, q, q + 1)
    finish_list(lists, canonical, q, top_items, top_scores)


@jit()
def rank_sparse(
    product: SparseProduct,
    allowed: Allowed,
    targets: Targets,
    items: NDArray[np.int32],
    lists: Shortlists,
    out: Outputs,
) -> tuple[int, int, int]:
    """Rank a block of queries by a sparse product.

    Args:
        product: of the block.
        allowed: catalogue and histories; eligibility is not used.
        targets: filled and counted into.
        items: int32 ``[t]`` target items.
        lists: collected into; ``k = 0`` for none.
        out: filled.

    Returns:
        (status, query, item): ``OK``, or ``BAD_SCORE`` with a NaN or +inf.
    """
    n_items = len(allowed.catalogue)
    b = len(targets.first)
    room = n_items + 2 * LANES
    marks = np.full((2, n_items), -1, dtype=np.int64)
    row = _Row(
        np.empty(n_items),
        marks[0],
        marks[1],
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.float32),
    )
    none = np.empty((b, 0), dtype=np.float32)
    canonical = Product(none, none, np.zeros(b), row.items)
    for q in range(b):
        n = _sum(product, q, row)
        left = _bar(allowed, q, row.barred)
        left -= _place_targets(targets, items, allowed, q, row)
        out.n_candidates[q] = left
        bad = _bad_target(targets, q)
        n, other = _compact(allowed, q, n, row)
        if bad >= 0 or other >= 0:
            return BAD_SCORE, q, max(bad, other)
        whole = (n + LANES - 1) // LANES * LANES
        count_rows(targets, canonical, row.scores, whole, 0, q, q + 1)
        _count_zeros(targets, q, left - n - (targets.indptr[q + 1] - targets.first[q]))
        finish_row(targets, q, out.best, out.worst)
        if lists.k > 0:
            _list(
                lists,
                canonical,
                targets,
                allowed,
                q,
                n,
                row,
                out.top_items[q],
                out.top_scores[q],
            )
    return OK, 0, 0
