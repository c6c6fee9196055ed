"""Turn history rows and held-out rows into queries, one a user."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.core.queries import Queries, Repeats
from fullrank.core.ragged import as_indptr, take_ragged


def make_queries(
    data: Interactions,
    *,
    history: NDArray[np.bool_],
    targets: NDArray[np.bool_],
    repeats: Repeats = "drop",
    grade: str | None = None,
) -> Queries:
    """One query for each user with held-out rows.

    A target that the user meets several times counts once, with its highest grade. With
    ``repeats="drop"`` a target that the history holds is removed, and counted; the query stays
    even if none remains (it has no value then, and is counted as such).

    Args:
        data: all rows, in canonical order.
        history: bool ``[n]``, rows that the model may use.
        targets: bool ``[n]``, rows held out.
        repeats: what to do with targets that are in the history.
        grade: column of gains, or None for 1.0.
    """
    n_items = max(data.n_items, 1)
    held = data.take(targets)
    seen = data.take(history)
    users = np.unique(held.users)
    row_of = np.full(data.n_users, -1, dtype=np.int64)
    row_of[users] = np.arange(len(users))

    gains = np.ones(len(held)) if grade is None else _grades(held, grade)
    key = row_of[held.users] * n_items + held.items
    order = np.lexsort((-gains, key))
    key, gains = key[order], gains[order]
    first = np.append(True, key[1:] != key[:-1]) if len(key) else np.zeros(0, bool)
    counts = {"duplicate_targets": int(len(key) - first.sum())}
    key, gains = key[first], gains[first]

    h_indptr, h_rows = take_ragged(seen.user_indptr, users)
    h_users = np.repeat(np.arange(len(users), dtype=np.int64), np.diff(h_indptr))
    h_items = seen.items[h_rows]
    known = np.isin(key, np.unique(h_users * n_items + h_items))
    counts["repeated_targets"] = int(known.sum())
    if repeats == "drop":
        key, gains = key[~known], gains[~known]
    rows, items = key // n_items, key % n_items
    return Queries(
        users=users.astype(np.int32),
        history_indptr=h_indptr,
        history_items=h_items,
        history_values=None if seen.values is None else seen.values[h_rows],
        history_times=None if seen.times is None else seen.times[h_rows],
        target_indptr=as_indptr(np.bincount(rows, minlength=len(users))),
        target_items=items.astype(np.int32),
        target_gains=gains,
        times=_first_times(held, row_of, len(users)),
        user_vocab=data.user_vocab,
        item_vocab=data.item_vocab,
        repeats=repeats,
        counts=counts,
    )


def _grades(held: Interactions, grade: str) -> NDArray[np.float64]:
    column = held.column(grade)
    if column.dtype.kind not in "iufb":
        raise DataError(f"grade column {grade!r} must hold numbers, got {column.dtype}")
    gains = column.astype(np.float64)
    if np.any(gains < 0):
        row = int(np.flatnonzero(gains < 0)[0])
        raise DataError(
            f"grade column {grade!r} holds the negative grade {gains[row]:g} (user "
            f"{held.user_vocab.label(held.users[row])}, item "
            f"{held.item_vocab.label(held.items[row])}); shift or drop such rows"
        )
    return gains


def _first_times(held: Interactions, row_of: NDArray[np.int64], n: int) -> NDArray[np.int64] | None:
    if held.times is None:
        return None
    known = held.times != NO_TIME
    out = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(out, row_of[held.users[known]], held.times[known])
    out[out == np.iinfo(np.int64).max] = NO_TIME
    return out
