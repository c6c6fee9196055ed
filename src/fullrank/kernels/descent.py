"""Stochastic gradient descent of factors by pairwise and pointwise objectives, block by block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.draws import _uniform
from fullrank.kernels.order import mix
from fullrank.kernels.slopes import WARP, slopes_of

_TRIES = 64
"""Draws that may hit an item of the user before the group is walked for one that does not."""


class Factors(NamedTuple):
    """What is learnt: all float32, changed in place.

    Attributes:
        users: ``[n_users, d]``.
        items: ``[n_items, d]``.
        user_bias: ``[n_users]``.
        item_bias: ``[n_items]``.
        user_squares: ``[n_users, d + 1]`` sums of squared gradients (AdaGrad), else ``[0, 0]``.
        item_squares: ``[n_items, d + 1]``, likewise.
    """

    users: NDArray[np.float32]
    items: NDArray[np.float32]
    user_bias: NDArray[np.float32]
    item_bias: NDArray[np.float32]
    user_squares: NDArray[np.float32]
    item_squares: NDArray[np.float32]


class Positives(NamedTuple):
    """The distinct pairs of the training rows.

    Attributes:
        users: int32 ``[n]``.
        items: int32 ``[n]``.
        indptr: int64 ``[n_users + 1]`` into ``items``, ascending within a user.
        keys: uint64 ``[n]``, from the outside ids.
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    indptr: NDArray[np.int64]
    keys: NDArray[np.uint64]


class Blocks(NamedTuple):
    """An epoch's division into blocks that share neither users nor items.

    Attributes:
        users: int32 ``[n]`` of the positives, by cell.
        items: int32 ``[n]``.
        keys: uint64 ``[n]``, of the draws.
        starts: int64 ``[b * b + 1]``: cell ``stratum * b + group of users`` begins here.
        members: int32 ``[n_known]`` items by group.
        member_starts: int64 ``[b + 1]``.
        running: float64 ``[n_known + 1]`` running sums of the weights of ``members``.
        even: all weights are equal.
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    keys: NDArray[np.uint64]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    member_starts: NDArray[np.int64]
    running: NDArray[np.float64]
    even: bool


class Step(NamedTuple):
    """How a step is made.

    Attributes:
        objective: one of the codes of ``slopes``.
        option: margin, weight of positives, or temperature, as the objective has it.
        m: negatives for each positive; for ``WARP`` looked at, at most.
        hardest: of so many draws the one that scores highest is taken.
        rate: learning rate.
        reg: L2 of factors and biases, for each time that a row is met.
        l1: L1, likewise.
        user_bias: biases of users are learnt.
        adagrad: AdaGrad in place of plain descent.
        n_items: of the catalogue, for ``WARP``.
    """

    objective: int
    option: float
    m: int
    hardest: int
    rate: float
    reg: float
    l1: float
    user_bias: bool
    adagrad: bool
    n_items: int


@jit()
def arrange(
    positives: Positives,
    user_group: NDArray[np.int64],
    item_group: NDArray[np.int64],
    b: int,
    stride: int,
    offset: int,
    seed: np.uint64,
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    keys: NDArray[np.uint64],
    starts: NDArray[np.int64],
) -> None:
    """Sort positives into cells, within a cell in the order ``offset, offset + stride, …``.

    Args:
        positives: ``[n]``.
        user_group: int64 ``[n_users]`` from 0 to b - 1.
        item_group: int64 ``[n_items]``, likewise.
        b: groups; the items of stratum s and users g are of group ``(g + s) mod b``.
        stride: coprime to n, below it.
        offset: below n.
        seed: of the keys.
        users: int32 ``[n]``, overwritten.
        items: int32 ``[n]``, overwritten.
        keys: uint64 ``[n]``, overwritten.
        starts: int64 ``[b * b + 1]``, overwritten.
    """
    n = len(positives.users)
    starts[:] = 0
    for p in range(n):
        g = user_group[positives.users[p]]
        s = (item_group[positives.items[p]] - g) % b
        starts[s * b + g + 1] += 1
    for c in range(b * b):
        starts[c + 1] += starts[c]
    fill = starts[:-1].copy()
    p = offset
    for _ in range(n):
        g = user_group[positives.users[p]]
        cell = ((item_group[positives.items[p]] - g) % b) * b + g
        at = fill[cell]
        users[at], items[at] = positives.users[p], positives.items[p]
        keys[at] = mix(positives.keys[p] ^ seed)
        fill[cell] += 1
        p += stride
        if p >= n:
            p -= n


# Kernels that take the tuples above are compiled into their callers: to hand over some thirty
# arrays costs more than what they do. Rows are read by two indices, not as slices: a view counts
# its references, which costs as much as a short row. Sums of a product may be reordered (they are
# the same on one machine).
@jit(fastmath={"reassoc", "contract", "nsz"})
def _score(factors: Factors, user: int, item: int) -> float:
    users, items = factors.users, factors.items
    total = np.float32(0.0)
    for f in range(users.shape[1]):
        total += users[user, f] * items[item, f]
    return float(total) + float(factors.item_bias[item]) + float(factors.user_bias[user])


@jit(inline="always")
def _has(positives: Positives, user: int, item: int) -> bool:
    """Whether a user has an item."""
    low, high = positives.indptr[user], positives.indptr[user + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if positives.items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and positives.items[low] == item)


@jit(inline="always")
def _place(running: NDArray[np.float64], first: int, last: int, u: float) -> int:
    """The place from ``first`` to ``last - 1`` whose share of the running sums holds ``u``."""
    low, high = first, last - 1
    while low < high:
        middle = (low + high) // 2
        if running[middle + 1] > u:
            high = middle
        else:
            low = middle + 1
    return low


@jit(inline="always")
def _draw(
    key: np.uint64, number: int, user: int, positives: Positives, group: int, blocks: Blocks
) -> int:
    """An item of a group that is not the user's, by weight; -1 if there is none."""
    first, last = blocks.member_starts[group], blocks.member_starts[group + 1]
    low, high = blocks.running[first], blocks.running[last]
    if not high > low:
        return -1
    begin = first
    for attempt in range(_TRIES):
        u = _uniform(key, number * _TRIES + attempt)
        if blocks.even:
            place = min(first + int(u * (last - first)), last - 1)
        else:
            place = _place(blocks.running, first, last, low + (high - low) * u)
        if not _has(positives, user, blocks.members[place]):
            return int(blocks.members[place])
        begin = place
    for i in range(last - first):
        place = first + (begin - first + i) % (last - first)
        weighs = blocks.running[place + 1] > blocks.running[place]
        if weighs and not _has(positives, user, blocks.members[place]):
            return int(blocks.members[place])
    return -1


@jit(inline="always")
def _move(
    rows: NDArray[np.float32],
    at: int,
    gradient: NDArray[np.float32],
    scale: float,
    squares: NDArray[np.float32],
    step: Step,
) -> None:
    """One step of a row against ``scale * gradient`` and its penalties."""
    rate, reg, s = np.float32(step.rate), np.float32(step.reg), np.float32(scale)
    if not step.adagrad and step.l1 == 0.0:
        keep, go = np.float32(1.0) - rate * reg, rate * s
        for f in range(rows.shape[1]):
            rows[at, f] = keep * rows[at, f] - go * gradient[f]
        return
    for f in range(rows.shape[1]):
        g = s * gradient[f] + reg * rows[at, f] + np.float32(step.l1) * np.sign(rows[at, f])
        if step.adagrad:
            squares[at, f] += g * g
            g /= np.sqrt(squares[at, f]) + np.float32(1e-10)
        rows[at, f] -= rate * g


@jit(inline="always")
def _move_one(
    values: NDArray[np.float32], at: int, slope: float, squares: NDArray[np.float32], step: Step
) -> None:
    """The same for a bias, whose square is the last of the row's."""
    g = np.float32(slope + step.reg * values[at] + step.l1 * np.sign(values[at]))
    if step.adagrad:
        squares[at, -1] += g * g
        g /= np.sqrt(squares[at, -1]) + np.float32(1e-10)
    values[at] -= np.float32(step.rate) * g


@jit(inline="always")
def _negatives(
    factors: Factors,
    user: int,
    positives: Positives,
    group: int,
    key: np.uint64,
    blocks: Blocks,
    step: Step,
    items: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> int:
    """Draw and score the negatives of a positive; how many there are."""
    found = 0
    for j in range(step.m):
        best, best_score = -1, 0.0
        for h in range(step.hardest):
            item = _draw(key, j * step.hardest + h, user, positives, group, blocks)
            if item < 0:
                return found
            score = _score(factors, user, item)
            if best < 0 or score > best_score:
                best, best_score = item, score
        items[found], scores[found] = best, best_score
        found += 1
    return found


@jit(inline="always")
def _violating(
    factors: Factors,
    user: int,
    positives: Positives,
    group: int,
    key: np.uint64,
    blocks: Blocks,
    step: Step,
    positive: float,
    items: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> int:
    """Look for a negative within the margin; after how many looks it came, 0 for none."""
    for look in range(step.m):
        item = _draw(key, look, user, positives, group, blocks)
        if item < 0:
            return 0
        score = _score(factors, user, item)
        if step.option + score - positive > 0:
            items[0], scores[0] = item, score
            return look + 1
    return 0


@jit()
def descend(
    cell: int,
    stratum: int,
    b: int,
    factors: Factors,
    positives: Positives,
    blocks: Blocks,
    step: Step,
) -> int:
    """Steps for the positives of one cell, one after another.

    Cells of one stratum share neither users nor items, so that they can run in any threads.

    Returns:
        Positives that no negative could be drawn for.
    """
    d = factors.users.shape[1]
    items, scores = np.empty(step.m, np.int64), np.empty(step.m)
    slopes, own_gradient = np.empty(step.m), np.empty(d, np.float32)
    user_before = np.empty(d, np.float32)
    group, missed = (cell % b + stratum) % b, 0
    for at in range(blocks.starts[cell], blocks.starts[cell + 1]):
        user, item, key = blocks.users[at], blocks.items[at], blocks.keys[at]
        positive = _score(factors, user, item)
        if step.objective == WARP:
            count = _violating(
                factors, user, positives, group, key, blocks, step, positive, items, scores
            )
            used = min(count, 1)
        else:
            count = _negatives(factors, user, positives, group, key, blocks, step, items, scores)
            used = count
        if count == 0:
            missed += 1
            continue
        slope = slopes_of(
            step.objective, step.option, step.n_items, positive, scores, count, slopes
        )
        total = slope
        for f in range(d):
            user_before[f] = factors.users[user, f]
            own_gradient[f] = np.float32(slope) * factors.items[item, f]
        for j in range(used):
            total += slopes[j]
            s, negative = np.float32(slopes[j]), items[j]
            for f in range(d):
                own_gradient[f] += s * factors.items[negative, f]
        _move(factors.users, user, own_gradient, 1.0, factors.user_squares, step)
        if step.user_bias:
            _move_one(factors.user_bias, user, total, factors.user_squares, step)
        _move(factors.items, item, user_before, slope, factors.item_squares, step)
        _move_one(factors.item_bias, item, slope, factors.item_squares, step)
        for j in range(used):
            _move(factors.items, items[j], user_before, slopes[j], factors.item_squares, step)
            _move_one(factors.item_bias, items[j], slopes[j], factors.item_squares, step)
    return missed
