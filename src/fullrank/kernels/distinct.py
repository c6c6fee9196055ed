"""Distinct items of each user: in order, counted, peeled to a core; no sort, only markers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

LAST, COUNT, MOST = 0, 1, 2
"""What ``distinct_items`` keeps of the rows of one pair."""


@jit()
def _by_item(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    first: int,
    last: int,
    ends: NDArray[np.int64],
    rows: NDArray[np.int64],
    owners: NDArray[np.int32],
) -> None:
    """Group the elements of rows ``[first, last)`` by item: their places and their rows."""
    start, stop = indptr[first], indptr[last]
    ends[:] = 0
    for p in range(start, stop):
        ends[items[p]] += 1
    total = 0
    for item in range(len(ends)):
        count = ends[item]
        ends[item] = total
        total += count
    for u in range(first, last):
        for p in range(indptr[u], indptr[u + 1]):
            at = ends[items[p]]
            rows[at], owners[at] = p, u
            ends[items[p]] = at + 1


@jit()
def distinct_items(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    first: int,
    last: int,
    n_items: int,
    mode: int,
    values: NDArray[np.float64],
    out: NDArray[np.int32],
    data: NDArray[np.floating],
    lengths: NDArray[np.int64],
) -> None:
    """Write the distinct items of rows ``[first, last)``, ascending, from ``indptr[row]`` on.

    Two transpositions by counting: linear, and within the cache for blocks of about ``n_items``
    elements.

    Args:
        indptr: int64 ``[q + 1]``.
        items: int32 ``[n]`` in ``[0, n_items)``.
        first: first row.
        last: one after the last row.
        n_items: size of the catalogue.
        mode: ``LAST`` (the value of the last element of the item), ``COUNT`` (its elements) or
            ``MOST`` (their highest value).
        values: float64 ``[n]``, or ``[0]`` for ``COUNT``.
        out: int32 ``[n]``, filled.
        data: floats ``[n]``, filled by ``mode``; or ``[0]`` if not wanted.
        lengths: int64 ``[q]``, filled with the number of distinct items.
    """
    size = indptr[last] - indptr[first]
    ends = np.empty(n_items, np.int64)
    rows, owners = np.empty(size, np.int64), np.empty(size, np.int32)
    _by_item(indptr, items, first, last, ends, rows, owners)
    lengths[first:last] = 0
    at = 0
    for item in range(n_items):
        while at < ends[item]:
            u, p = owners[at], rows[at]
            w = indptr[u] + lengths[u]
            again = lengths[u] > 0 and out[w - 1] == item
            if again:
                w -= 1
            else:
                out[w] = item
                lengths[u] += 1
            if len(data) > 0:
                if mode == COUNT:
                    data[w] = data[w] + 1 if again else 1
                elif mode == LAST or not again or values[p] > data[w]:
                    data[w] = values[p]
            at += 1


@jit()
def squeeze(
    indptr: NDArray[np.int64], lengths: NDArray[np.int64], flat: NDArray[np.generic]
) -> None:
    """Move the first ``lengths[i]`` elements of each row to the front of ``flat``, in place."""
    w = 0
    for i in range(len(lengths)):
        for p in range(indptr[i], indptr[i] + lengths[i]):
            flat[w] = flat[p]
            w += 1


@jit()
def shared_items(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    other_indptr: NDArray[np.int64],
    others: NDArray[np.int32],
    first: int,
    last: int,
    n_items: int,
    out: NDArray[np.bool_],
) -> None:
    """Tell which of ``others`` are among the ``items`` of the same row, for some rows.

    Args:
        indptr: int64 ``[q + 1]``.
        items: int32 ``[n]`` in ``[0, n_items)``.
        other_indptr: int64 ``[q + 1]``.
        others: int32 ``[m]`` in ``[0, n_items)``.
        first: first row.
        last: one after the last row.
        n_items: size of the catalogue.
        out: bool ``[m]``, filled.
    """
    marks = np.full(n_items, -1, np.int64)
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            marks[items[p]] = i
        for p in range(other_indptr[i], other_indptr[i + 1]):
            out[p] = marks[others[p]] == i


@jit()
def first_of_item(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    first: int,
    last: int,
    n_items: int,
    out: NDArray[np.bool_],
) -> None:
    """Mark the first element of each item within its row, for rows ``[first, last)``.

    Args:
        indptr: int64 ``[q + 1]``.
        items: int32 ``[n]`` in ``[0, n_items)``.
        first: first row.
        last: one after the last row.
        n_items: size of the catalogue.
        out: bool ``[n]``, filled.
    """
    marks = np.full(n_items, -1, np.int64)
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = marks[items[p]] != i
            marks[items[p]] = i


@jit()
def earlier_of_item(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    first: int,
    last: int,
    n_items: int,
    out: NDArray[np.int64],
) -> None:
    """Count the earlier elements of the same item within its row; as ``first_of_item``."""
    marks, counts = np.full(n_items, -1, np.int64), np.zeros(n_items, np.int64)
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            item = items[p]
            counts[item] = counts[item] + 1 if marks[item] == i else 0
            marks[item] = i
            out[p] = counts[item]


@jit()
def best_of_item(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    first: int,
    last: int,
    n_items: int,
    values: NDArray[np.float64],
    out: NDArray[np.bool_],
) -> None:
    """Mark the element of each item with the highest value, the earliest of several.

    Args:
        indptr: int64 ``[q + 1]``.
        items: int32 ``[n]`` in ``[0, n_items)``.
        first: first row.
        last: one after the last row.
        n_items: size of the catalogue.
        values: float64 ``[n]``.
        out: bool ``[n]``, filled.
    """
    marks = np.full(n_items, -1, np.int64)  # place of the best so far
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            best = marks[items[p]]
            before = best >= indptr[i]
            out[p] = not before or values[p] > values[best]
            if out[p]:
                if before:
                    out[best] = False
                marks[items[p]] = p


@jit()
def degrees(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    counted: NDArray[np.bool_],
    of_user: NDArray[np.int64],
    of_item: NDArray[np.int64],
) -> None:
    """Add the counted rows of each user and each item to ``of_user`` and ``of_item``."""
    for i in range(len(users)):
        if counted[i]:
            of_user[users[i]] += 1
            of_item[items[i]] += 1


@jit()
def item_lists(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    counted: NDArray[np.bool_],
    indptr: NDArray[np.int64],
    out: NDArray[np.int32],
) -> None:
    """Write the users of each item's counted rows from ``indptr[item]`` on."""
    at = indptr[:-1].copy()
    for i in range(len(users)):
        if counted[i]:
            out[at[items[i]]] = users[i]
            at[items[i]] += 1


@jit()
def peel(
    user_indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    counted: NDArray[np.bool_],
    item_indptr: NDArray[np.int64],
    item_users: NDArray[np.int32],
    of_user: NDArray[np.int64],
    of_item: NDArray[np.int64],
    least_user: int,
    least_item: int,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Drop users and items with too few pairs until none is left: who stays.

    Each pair is touched once from each side, when its user or its item falls.

    Args:
        user_indptr: int64 ``[n_users + 1]``.
        items: int32 ``[n]``, grouped by user.
        counted: bool ``[n]``, one row of each pair.
        item_indptr: int64 ``[n_items + 1]``.
        item_users: int32 ``[pairs]``, grouped by item.
        of_user: int64 ``[n_users]``, pairs of each user; used up.
        of_item: int64 ``[n_items]``, pairs of each item; used up.
        least_user: fewest items of a user.
        least_item: fewest users of an item.
    """
    user_stays, item_stays = of_user >= least_user, of_item >= least_item
    fallen_users, fallen_items = np.flatnonzero(~user_stays), np.flatnonzero(~item_stays)
    users_left = np.empty(len(of_user), np.int64)
    items_left = np.empty(len(of_item), np.int64)
    n_users, n_items = len(fallen_users), len(fallen_items)
    users_left[:n_users], items_left[:n_items] = fallen_users, fallen_items
    while n_users > 0 or n_items > 0:
        if n_users > 0:
            n_users -= 1
            user = users_left[n_users]
            for p in range(user_indptr[user], user_indptr[user + 1]):
                item = items[p]
                if counted[p] and item_stays[item]:
                    of_item[item] -= 1
                    if of_item[item] < least_item:
                        item_stays[item] = False
                        items_left[n_items] = item
                        n_items += 1
        else:
            n_items -= 1
            item = items_left[n_items]
            for p in range(item_indptr[item], item_indptr[item + 1]):
                user = item_users[p]
                if user_stays[user]:
                    of_user[user] -= 1
                    if of_user[user] < least_user:
                        user_stays[user] = False
                        users_left[n_users] = user
                        n_users += 1
    return user_stays, item_stays
