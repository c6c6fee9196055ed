"""Elastic nets of SLIM: coordinate descent on rows of the Gram matrix, a working set an item.

The Gram matrix holds what items share: ``G[i, k]`` users of both. Its rows are kept where they were
stored, and walked from the training rows elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.neighbours import kth_largest

Pattern = tuple[NDArray[np.int64], NDArray[np.int32]]
Gram = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32], Pattern, Pattern]
Rule = tuple[float, float, bool, int, int, float]

# Candidates that enter a working set at a time, at least; beyond as many as have a weight, as by
# Massias, Gramfort & Salmon 2018, "Celer", who begin with 100 for problems of a million columns.
_FIRST = 16


@jit()
def gram_rows(
    start: int, stop: int, chosen: NDArray[np.int32], rows: Pattern, columns: Pattern
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32]]:
    """Rows of the Gram matrix for the items ``chosen[start:stop]``.

    Args:
        start: first of the chunk.
        stop: end of the chunk.
        chosen: int32 ``[c]``, items.
        rows: items × users, CSR.
        columns: users × items, CSR.

    Returns:
        counts int64 ``[stop - start]``, then other items and shared users, flat.
    """
    indptr, users = rows
    c_indptr, items = columns
    n = len(indptr) - 1
    sums, found = np.zeros(n, dtype=np.float32), np.empty(n, dtype=np.uint32)
    counts = np.zeros(stop - start, dtype=np.int64)
    others, shared = np.empty(n, dtype=np.uint32), np.empty(n, dtype=np.float32)
    total = 0
    for r in range(start, stop):
        m = 0
        for p in range(indptr[chosen[r]], indptr[chosen[r] + 1]):
            for t in range(c_indptr[users[p]], c_indptr[users[p] + 1]):
                if sums[items[t]] == 0.0:
                    found[m] = items[t]
                    m += 1
                sums[items[t]] += np.float32(1.0)
        if total + m > len(others):
            others = np.concatenate((others[:total], np.empty(2 * total + m, np.uint32)))
            shared = np.concatenate((shared[:total], np.empty(2 * total + m, np.float32)))
        for p in range(m):
            others[total + p], shared[total + p] = found[p], sums[found[p]]
            sums[found[p]] = np.float32(0.0)
        counts[r - start] = m
        total += m
    return counts, others[:total], shared[:total]


@jit()
def _add_row(k: int, scale: float, gram: Gram, out: NDArray[np.float64]) -> None:
    """``out += scale G[k]``."""
    starts, others, shared, rows, columns = gram
    if starts[k] < starts[k + 1]:
        for p in range(starts[k], starts[k + 1]):
            out[others[p]] += scale * shared[p]
        return
    for p in range(rows[0][k], rows[0][k + 1]):
        user = rows[1][p]
        for t in range(columns[0][user], columns[0][user + 1]):
            out[columns[1][t]] += scale


@jit()
def _take_row(k: int, gram: Gram, places: NDArray[np.int32], out: NDArray[np.float64]) -> None:
    """``out[places[i]] = G[k, i]`` for the items that have a place (others have -1)."""
    starts, others, shared, rows, columns = gram
    out[:] = 0.0
    if starts[k] < starts[k + 1]:
        for p in range(starts[k], starts[k + 1]):
            if places[others[p]] >= 0:
                out[places[others[p]]] = shared[p]
        return
    for p in range(rows[0][k], rows[0][k + 1]):
        user = rows[1][p]
        for t in range(columns[0][user], columns[0][user + 1]):
            if places[columns[1][t]] >= 0:
                out[places[columns[1][t]]] += 1.0


@jit()
def _candidates(
    target: int,
    alone: bool,
    slopes: NDArray[np.float64],
    squares: NDArray[np.float64],
    rule: Rule,
    found: NDArray[np.int32],
    work: NDArray[np.float32],
) -> int:
    """Fill in the items that may get a weight; their number.

    No weight below 0 means that slopes only fall from where they start, at what items share with
    the target: so those that start within ``l1`` keep weight 0.
    """
    l1, _, non_negative, most, _, _ = rule
    m = 0
    for i in range(len(slopes)):
        if (i != target or not alone) and (
            slopes[i] > l1 if non_negative else squares[i] > 0.0 and (most == 0 or slopes[i] > 0.0)
        ):
            found[m] = i
            m += 1
    if most == 0 or m <= most:
        return m
    for p in range(m):
        work[p] = slopes[found[p]] ** 2 / squares[found[p]]
    last = kth_largest(work, m, most)
    kept = 0
    for p in range(m):
        if np.float32(slopes[found[p]] ** 2 / squares[found[p]]) >= last:
            found[kept] = found[p]
            kept += 1
    return kept


@jit()
def _step(
    slope: float, weight: float, square: float, l1: float, l2: float, positive: bool
) -> float:
    """The weight that minimises the objective along one coordinate."""
    pull = slope + square * weight
    if pull > l1:
        return (pull - l1) / (square + l2)
    if pull < -l1 and not positive:
        return (pull + l1) / (square + l2)
    return 0.0


@jit()
def _enter(
    candidates: NDArray[np.int32],
    slopes: NDArray[np.float64],
    squares: NDArray[np.float64],
    ridges: NDArray[np.float64],
    rule: Rule,
    many: int,
    n: int,
    active: NDArray[np.int32],
    places: NDArray[np.int32],
    steps: NDArray[np.float32],
) -> int:
    """Append the candidates without a place whose weight would move most; the new number."""
    l1, _, positive, _, _, tolerance = rule
    m = 0
    for p in range(len(candidates)):
        i = candidates[p]
        if places[i] < 0 and abs(slopes[i]) > l1:
            moved = abs(_step(slopes[i], 0.0, squares[i], l1, ridges[i], positive))
            if moved > tolerance:
                steps[m] = moved
                m += 1
    if m == 0:
        return n
    least = kth_largest(steps, m, min(many, m))
    for p in range(len(candidates)):
        i = candidates[p]
        if places[i] < 0 and abs(slopes[i]) > l1:
            moved = abs(_step(slopes[i], 0.0, squares[i], l1, ridges[i], positive))
            if moved > tolerance and np.float32(moved) >= least:
                places[i] = n
                active[n] = i
                n += 1
    return n


@jit()
def _sweep(
    n: int,
    weights: NDArray[np.float64],
    slopes: NDArray[np.float64],
    sub: NDArray[np.float64],
    ridges: NDArray[np.float64],
    rule: Rule,
) -> float:
    """One cycle of coordinate descent over a working set; the largest change of a weight."""
    l1, _, positive, _, _, _ = rule
    largest = 0.0
    for a in range(n):
        row = sub[a][:n]
        weight = _step(slopes[a], weights[a], row[a], l1, ridges[a], positive)
        change = weight - weights[a]
        if change != 0.0:
            weights[a] = weight
            largest = max(largest, abs(change))
            for b in range(n):
                slopes[b] -= change * row[b]
    return largest


@jit()
def _wider(sub: NDArray[np.float64], kept: int, size: int) -> NDArray[np.float64]:
    """The same first rows and columns in a larger square."""
    out = np.empty((size, size), dtype=np.float64)
    for a in range(kept):
        for b in range(kept):
            out[a, b] = sub[a, b]
    return out


@jit()
def _solve(
    candidates: NDArray[np.int32],
    slopes: NDArray[np.float64],
    squares: NDArray[np.float64],
    ridges: NDArray[np.float64],
    gram: Gram,
    rule: Rule,
    active: NDArray[np.int32],
    places: NDArray[np.int32],
    weights: NDArray[np.float64],
    steps: NDArray[np.float32],
    sub: NDArray[np.float64],
) -> tuple[int, bool, NDArray[np.float64]]:
    """Solve one elastic net; ``slopes`` follow the weights.

    Returns:
        Size of the working set, whether it converged, and ``sub``, or what took its place.
    """
    _, _, _, _, max_iter, tolerance = rule
    n, sweeps, support = 0, 0, 0
    settled = True
    while True:
        before = n
        n = _enter(
            candidates, slopes, squares, ridges, rule, max(support, _FIRST), n, active, places,
            steps,
        )  # fmt: skip
        if n == before and settled:
            return n, True, sub
        if sweeps >= max_iter:
            return n, False, sub
        if n > len(sub):
            sub = _wider(sub, before, 2 * n)
        for a in range(before, n):
            weights[a] = 0.0
            _take_row(active[a], gram, places, sub[a][:n])
            for b in range(before):
                sub[b, a] = sub[a, b]
        old = weights[:n].copy()
        near, ridge = slopes[active[:n]], ridges[active[:n]]
        first, moved = True, tolerance + 1.0
        while moved > tolerance and sweeps < max_iter:
            moved = _sweep(n, weights, near, sub, ridge, rule)
            settled = first and moved <= tolerance
            first = False
            sweeps += 1
        support = 0
        for a in range(n):
            if weights[a] != old[a]:
                _add_row(active[a], old[a] - weights[a], gram, slopes)
            support += weights[a] != 0.0


@jit()
def solve_items(
    start: int,
    stop: int,
    gram: Gram,
    squares: NDArray[np.float64],
    sizes: NDArray[np.int64],
    rule: Rule,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], int]:
    """Fit the columns of the weights for items ``start`` to ``stop``, all of them distinct.

    An item may stand for several with the same users: its weight is then the sum of theirs, all
    equal, so that its ridge is ``l2`` by their number.

    Args:
        start: first item of the chunk.
        stop: end of the chunk.
        gram: stored rows (starts int64 ``[n + 1]``, others, shared users; a row that isn't stored
            is empty), then items × users and users × items, CSR.
        squares: float64 ``[n]``, users of each item: the diagonal.
        sizes: int64 ``[n]``, how many items each stands for.
        rule: ``l1`` and ``l2``; no weight below 0; candidates by cosine at most, ties at the last
            beyond them, 0 for all; sweeps at most; ``tolerance``.

    Returns:
        counts int64 ``[stop - start]``, then items with a weight and the weights, flat; and how
        many of the columns did not converge.
    """
    l2, n = rule[1], len(squares)
    slopes, found = np.zeros(n, dtype=np.float64), np.empty(n, dtype=np.int32)
    active, places = np.empty(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    weights, steps = np.empty(n, dtype=np.float64), np.empty(n, dtype=np.float32)
    sub, ridges = np.empty((2 * _FIRST, 2 * _FIRST)), l2 / sizes
    counts = np.zeros(stop - start, dtype=np.int64)
    out, values = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.float32)
    total, failed = 0, 0
    for j in range(start, stop):
        slopes[:] = 0.0
        _add_row(j, 1.0, gram, slopes)
        m = _candidates(j, sizes[j] == 1, slopes, squares, rule, found, steps)
        own = ridges[j]
        ridges[j] = l2 / max(sizes[j] - 1, 1)
        size, converged, sub = _solve(
            found[:m], slopes, squares, ridges, gram, rule, active, places, weights, steps, sub
        )
        ridges[j] = own
        failed += not converged
        if total + size > len(out):
            out = np.concatenate((out[:total], np.empty(2 * total + size, np.int32)))
            values = np.concatenate((values[:total], np.empty(2 * total + size, np.float32)))
        for a in range(size):
            places[active[a]] = -1
            if weights[a] != 0.0:
                out[total], values[total] = active[a], weights[a]
                total += 1
                counts[j - start] += 1
    return counts, out[:total], values[:total], failed
