"""Stochastic gradient descent of items against a context made of other rows: a history, a place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.descent import (
    Blocks,
    Factors,
    Positives,
    Step,
    _move,
    _move_one,
    _negatives,
    _score,
    _violating,
)
from fullrank.kernels.draws import _uniform
from fullrank.kernels.order import mix
from fullrank.kernels.slopes import WARP, slopes_of


@jit()
def _step_items(
    item: int,
    key: np.uint64,
    factors: Factors,
    own: Positives,
    pool: Blocks,
    step: Step,
    items: NDArray[np.int64],
    scores: NDArray[np.float64],
    slopes: NDArray[np.float64],
    gradient: NDArray[np.float32],
    biased: bool,
) -> bool:
    """Move a positive and its negatives against the context ``factors.users[0]``.

    Args:
        item: the positive.
        key: of the draws.
        factors: whose only user is the context, which is left as it is.
        own: the items of the context's user, as those of user 0.
        pool: one group of all items.
        step: how.
        items: ``[m]``, overwritten.
        scores: ``[m]``, overwritten.
        slopes: ``[m]``, overwritten.
        gradient: float32 ``[d]``, overwritten with the loss's by the context.
        biased: biases of items are learnt.

    Returns:
        Whether there was a step: a negative could be drawn.
    """
    positive = _score(factors, 0, item)
    if step.objective == WARP:
        count = _violating(factors, 0, own, 0, key, pool, step, positive, items, scores)
        used = min(count, 1)
    else:
        count = _negatives(factors, 0, own, 0, key, pool, step, items, scores)
        used = count
    gradient[:] = 0.0
    if count == 0:
        return False
    context = factors.users[0]
    slope = slopes_of(step.objective, step.option, step.n_items, positive, scores, count, slopes)
    for f in range(len(gradient)):
        gradient[f] = np.float32(slope) * factors.items[item, f]
    for j in range(used):
        s, negative = np.float32(slopes[j]), items[j]
        for f in range(len(gradient)):
            gradient[f] += s * factors.items[negative, f]
    _move(factors.items, item, context, slope, factors.item_squares, step)
    if biased:
        _move_one(factors.item_bias, item, slope, factors.item_squares, step)
    for j in range(used):
        _move(factors.items, items[j], context, slopes[j], factors.item_squares, step)
        if biased:
            _move_one(factors.item_bias, items[j], slopes[j], factors.item_squares, step)
    return True


@jit()
def walk_histories(
    users: NDArray[np.int64],
    factors: Factors,
    history: NDArray[np.float32],
    positives: Positives,
    pool: Blocks,
    step: Step,
    alpha: float,
    seed: np.uint64,
) -> None:
    """One step for each item of each user, against the sum of the user's other items.

    The step of item i moves all p_j of the history but its own by the same vector, so that the sum
    of any of them is known from the sum of the gradients; the rows are written at the user's end.

    Args:
        users: int64, in their order.
        factors: items ``[n_items, d]`` and biases; ``users`` ``[1, d]`` is scratch.
        history: float32 ``[n_items, d]``, the p_j.
        positives: the pairs.
        pool: one group of all items.
        step: how.
        alpha: the sum is divided by the number of its terms to this power.
        seed: of draws and of the order within a user.
    """
    d, context, bounds = history.shape[1], factors.users, np.zeros(2, np.int64)
    items, scores, slopes = np.empty(step.m, np.int64), np.empty(step.m), np.empty(step.m)
    own = Positives(positives.users, positives.items, bounds, positives.keys)
    total, gathered, gradient = np.empty(d), np.empty(d), np.empty(d, np.float32)
    for user in users:
        first, last = positives.indptr[user], positives.indptr[user + 1]
        n = last - first
        bounds[0], bounds[1] = first, last
        scale = (n - 1.0) ** -alpha if n > 1 else 0.0
        total[:], gathered[:] = 0.0, 0.0
        keys, moved = np.empty(n, np.uint64), np.empty((n, d), np.float32)
        for p in range(n):
            keys[p] = mix(positives.keys[first + p] ^ seed)
            for f in range(d):
                total[f] += history[positives.items[first + p], f]
        back = step.rate * scale * (n - 2)
        for p in np.argsort(keys):
            item = positives.items[first + p]
            for f in range(d):
                context[0, f] = scale * (total[f] - history[item, f] - back * gathered[f])
            _step_items(
                item, keys[p], factors, own, pool, step, items, scores, slopes, gradient, True
            )  # fmt: skip
            for f in range(d):
                moved[p, f] = gradient[f]
                gathered[f] += gradient[f]
        keep, go = 1.0 - step.rate * step.reg, step.rate * scale
        for p in range(n):
            item = positives.items[first + p]
            for f in range(d):
                history[item, f] = keep * history[item, f] - go * (gathered[f] - moved[p, f])


@jit()
def walk_transitions(
    rows: NDArray[np.int64],
    row_users: NDArray[np.int32],
    row_items: NDArray[np.int32],
    before: NDArray[np.int64],
    keys: NDArray[np.uint64],
    factors: Factors,
    users: NDArray[np.float32],
    last: NDArray[np.float32],
    positives: Positives,
    pool: Blocks,
    step: Step,
) -> None:
    """One step for each row, against its user and the mean of the items of the place before.

    Args:
        rows: int64, in their order.
        row_users: int32 ``[n]``.
        row_items: int32 ``[n]``.
        before: int64 ``[n, 2]``, the rows of the place before: from, and up to; none if equal.
        keys: uint64 ``[n]``, of the draws.
        factors: items ``[n_items, 2 d]`` and biases; ``users`` ``[1, 2 d]`` is scratch.
        users: float32 ``[n_users, d]``.
        last: float32 ``[n_items, d]``, of the items before.
        positives: the pairs, which are no negatives.
        pool: one group of all items.
        step: how.
    """
    d, context, bounds = users.shape[1], factors.users, np.zeros(2, np.int64)
    items, scores, slopes = np.empty(step.m, np.int64), np.empty(step.m), np.empty(step.m)
    own = Positives(positives.users, positives.items, bounds, positives.keys)
    gradient, sums = np.empty(2 * d, np.float32), np.empty(d)
    keep = 1.0 - step.rate * step.reg
    for r in rows:
        user, first, stop = row_users[r], before[r, 0], before[r, 1]
        bounds[0], bounds[1] = positives.indptr[user], positives.indptr[user + 1]
        share = 1.0 / max(stop - first, 1)
        sums[:] = 0.0
        for b in range(first, stop):
            for f in range(d):
                sums[f] += last[row_items[b], f]
        for f in range(d):
            context[0, f] = users[user, f]
            context[0, d + f] = share * sums[f]
        if not _step_items(
            row_items[r], keys[r], factors, own, pool, step, items, scores, slopes, gradient, True
        ):
            continue
        for f in range(d):
            users[user, f] = keep * users[user, f] - step.rate * gradient[f]
        for b in range(first, stop):
            for f in range(d):
                moved = keep * last[row_items[b], f] - step.rate * share * gradient[d + f]
                last[row_items[b], f] = moved


@jit()
def walk_companions(
    rows: NDArray[np.int64],
    keys: NDArray[np.uint64],
    keep: NDArray[np.float64],
    companions: int,
    factors: Factors,
    vectors: NDArray[np.float32],
    positives: Positives,
    pool: Blocks,
    step: Step,
) -> None:
    """Steps for each pair of a user and an item: others of the user's items are its positives.

    Args:
        rows: int64 places of ``positives``, in their order.
        keys: uint64 ``[n]`` of the positives, of the draws.
        keep: float64 ``[n_items]``, the share of an item's occurrences that are not passed over.
        companions: others that are drawn for a row, with replacement.
        factors: of items as companions ``[n_items, d]``; ``users`` ``[1, d]`` is scratch.
        vectors: float32 ``[n_items, d]``, of the items themselves.
        positives: the pairs.
        pool: one group of all items.
        step: how.
    """
    d, context, bounds = vectors.shape[1], factors.users, np.zeros(2, np.int64)
    items, scores, slopes = np.empty(step.m, np.int64), np.empty(step.m), np.empty(step.m)
    own = Positives(positives.users, positives.items, bounds, positives.keys)
    gradient, shrink = np.empty(d, np.float32), 1.0 - step.rate * step.reg
    for p in rows:
        user, item = positives.users[p], positives.items[p]
        bounds[0], bounds[1] = positives.indptr[user], positives.indptr[user + 1]
        n = bounds[1] - bounds[0]
        if n < 2 or _uniform(keys[p], 0) >= keep[item]:
            continue
        for c in range(companions):
            other = bounds[0] + min(int(_uniform(keys[p], 2 * c + 1) * (n - 1)), n - 2)
            if other >= p:
                other += 1
            companion = positives.items[other]
            if _uniform(keys[p], 2 * c + 2) >= keep[companion]:
                continue
            for f in range(d):
                context[0, f] = vectors[item, f]
            key = mix(keys[p] ^ mix(np.uint64(c)))
            _step_items(
                companion, key, factors, own, pool, step, items, scores, slopes, gradient, False
            )
            for f in range(d):
                vectors[item, f] = shrink * vectors[item, f] - step.rate * gradient[f]
