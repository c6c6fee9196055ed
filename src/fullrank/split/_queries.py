"""Turn history rows and held-out rows into queries, one a user."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.core._order import code_indptr
from fullrank.core.distinct import distinct_items, shared_items
from fullrank.core.errors import DataError
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.core.queries import Queries, Repeats
from fullrank.core.ragged import as_indptr, rows_of


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
    held = data.take(targets)
    users = np.flatnonzero(held.user_counts)
    gains = np.ones(len(held)) if grade is None else _grades(held, grade)
    t_indptr, t_items, gains = distinct_items(
        as_indptr(held.user_counts[users]), held.items, data.n_items, "most", gains, np.float64
    )
    counts = {"duplicate_targets": len(held) - len(t_items)}

    asked = np.zeros(data.n_users, dtype=bool)
    asked[users] = True
    h_rows = np.flatnonzero(history & asked[data.users])
    h_indptr = code_indptr(data.users[h_rows], data.n_users)
    h_indptr = as_indptr(np.diff(h_indptr)[users])
    h_items = data.items[h_rows]
    known = shared_items(h_indptr, h_items, t_indptr, t_items, data.n_items)
    counts["repeated_targets"] = int(known.sum())
    if repeats == "drop" and counts["repeated_targets"]:
        t_rows = rows_of(t_indptr)[~known]
        t_indptr = as_indptr(np.bincount(t_rows, minlength=len(users)))
        t_items, gains = t_items[~known], gains[~known]
    return Queries(
        users=users.astype(np.int32),
        history_indptr=h_indptr,
        history_items=h_items,
        history_values=None if data.values is None else data.values[h_rows],
        history_times=None if data.times is None else data.times[h_rows],
        target_indptr=t_indptr,
        target_items=t_items,
        target_gains=gains,
        times=_first_times(held)[users] if held.times is not None else None,
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


def _first_times(held: Interactions) -> NDArray[np.int64]:
    """The first known time of each user: int64 ``[n_users]``."""
    assert held.times is not None
    out = np.full(held.n_users, NO_TIME)
    known = np.flatnonzero(held.times != NO_TIME)
    # Rows are in order of time within a user, so the last one written backwards is the first.
    out[held.users[known[::-1]]] = held.times[known[::-1]]
    return out
