"""The steps of ``descent`` for the commonest case, BPR with one negative and plain descent.

The same bits as ``descent.descend`` gives (a test compares them) in half the time: all
stands in one loop, since to hand arrays to other kernels, and to read them from tuples, costs more
there than a step does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit
from fullrank.kernels.descent import _TRIES, Blocks, Factors, Positives, Step
from fullrank.kernels.draws import _uniform
from fullrank.kernels.slopes import _logistic


@jit(fastmath={"reassoc", "contract", "nsz"})
def _product(
    users: NDArray[np.float32], items: NDArray[np.float32], user: int, item: int
) -> np.float32:
    total = np.float32(0.0)
    for f in range(users.shape[1]):
        total += users[user, f] * items[item, f]
    return total


@jit()
def _has(items: NDArray[np.int32], low: int, high: int, item: int) -> bool:
    """Whether ``items[low:high]``, which ascend, hold an item."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and items[low] == item)


@jit()
def _place(running: NDArray[np.float64], low: int, high: int, u: float) -> int:
    """The place from ``low`` to ``high`` whose share of the running sums holds ``u``."""
    while low < high:
        middle = (low + high) // 2
        if running[middle + 1] > u:
            high = middle
        else:
            low = middle + 1
    return low


@jit()
def _guide(running: NDArray[np.float64]) -> NDArray[np.int32]:
    """Where the places of ``u = 0, 1 / g, …, 1`` lie, g a power of two: int32 ``[g + 1]``.

    Between two of them few places are left to look through.
    """
    n, cells = len(running) - 1, 1
    while cells < n:
        cells *= 2
    least, most = running[0], running[n]
    out, place = np.empty(cells + 1, np.int32), 0
    for c in range(cells + 1):
        while place < n - 1 and not running[place + 1] > least + (most - least) * (c / cells):
            place += 1
        out[c] = place
    return out


@jit()
def _next_other(
    begin: int,
    members: NDArray[np.int32],
    running: NDArray[np.float64],
    own: NDArray[np.int32],
    low: int,
    high: int,
) -> int:
    """The first member from a place on that weighs and is not the user's; -1 if none is."""
    n = len(members)
    for i in range(n):
        place = (begin + i) % n
        weighs = running[place + 1] > running[place]
        if weighs and not _has(own, low, high, members[place]):
            return int(members[place])
    return -1


@jit()
def _moved(
    users: NDArray[np.float32],
    items: NDArray[np.float32],
    user: int,
    item: int,
    negative: int,
    keep: np.float32,
    rate: np.float32,
    pull: np.float32,
) -> None:
    """Move the three rows by the gradient of one pair."""
    go = rate * pull
    for f in range(users.shape[1]):
        own, liked, other = users[user, f], items[item, f], items[negative, f]
        users[user, f] = keep * own - rate * (-pull * liked + pull * other)
        items[item, f] = keep * liked + go * own
        items[negative, f] = keep * other - go * own


@jit()
def descend_bpr(
    cell: int,
    stratum: int,
    b: int,
    factors: Factors,
    positives: Positives,
    blocks: Blocks,
    step: Step,
) -> int:
    """As ``descent.descend``, for ``BPR``, one negative, plain descent, no L1, no user biases."""
    users, items, item_bias = factors.users, factors.items, factors.item_bias
    own, indptr = positives.items, positives.indptr
    cell_users, cell_items, keys, even = blocks.users, blocks.items, blocks.keys, blocks.even
    group, missed = (cell % b + stratum) % b, 0
    first, last = blocks.member_starts[group], blocks.member_starts[group + 1]
    members, running = blocks.members[first:last], blocks.running[first : last + 1]
    n, least, most = last - first, running[0], running[last - first]
    if not most > least:
        return int(blocks.starts[cell + 1] - blocks.starts[cell])
    guide = _guide(running)
    cells = len(guide) - 1
    rate, reg = np.float32(step.rate), step.reg
    keep = np.float32(1.0) - rate * np.float32(step.reg)
    for at in range(blocks.starts[cell], blocks.starts[cell + 1]):
        user, item, key = int(cell_users[at]), int(cell_items[at]), keys[at]
        low, high, place, negative = indptr[user], indptr[user + 1], 0, -1
        for attempt in range(_TRIES):
            u = _uniform(key, attempt)
            if even:
                place = min(int(u * n), n - 1)
            else:
                c = int(u * cells)
                place = _place(running, guide[c], guide[c + 1], least + (most - least) * u)
            if not _has(own, low, high, members[place]):
                negative = int(members[place])
                break
        if negative < 0:
            negative = _next_other(place, members, running, own, low, high)
        if negative < 0:
            missed += 1
            continue
        positive = float(_product(users, items, user, item)) + float(item_bias[item])
        behind = float(_product(users, items, user, negative)) + float(item_bias[negative])
        ahead = _logistic(behind - positive)
        _moved(users, items, user, item, negative, keep, rate, np.float32(ahead))
        item_bias[item] -= rate * np.float32(reg * item_bias[item] - ahead)
        item_bias[negative] -= rate * np.float32(reg * item_bias[negative] + ahead)
    return missed
