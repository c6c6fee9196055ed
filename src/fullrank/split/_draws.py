"""Draws per row and per user: hashes of seed and outside ids, so that no row order matters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fullrank.core.distinct import earlier_of_item
from fullrank.core.interactions import Interactions
from fullrank.core.random import derive, hash_elements

Draws = Callable[[], NDArray[np.uint64]]


def occurrences(data: Interactions) -> NDArray[np.int64]:
    """For each row, how many earlier rows (in canonical order) have its (user, item): ``[n]``."""
    return earlier_of_item(data.user_indptr, data.items, data.n_items)


def row_draws(data: Interactions, seed: int, *names: object) -> NDArray[np.uint64]:
    """uint64 ``[n]``, one draw a row: hash of seed, user, item and occurrence of the pair."""
    return hash_elements(
        derive(seed, *names),
        data.user_vocab.hashes[data.users],
        data.item_vocab.hashes[data.items],
        occurrences(data),
    )


def user_draws(data: Interactions, seed: int, *names: object) -> NDArray[np.uint64]:
    """uint64 ``[n_users]``, one draw a user."""
    return hash_elements(derive(seed, *names), data.user_vocab.hashes)


def timed_order(data: Interactions, times: NDArray[np.int64], draws: Draws) -> NDArray[np.int64]:
    """Row numbers by user and time, rows of one time in a drawn order: int64 ``[n]``.

    Args:
        data: rows in canonical order, which is by user and time already.
        times: the times of the rows.
        draws: called for the draws only if there are ties at all.
    """
    order = np.arange(len(data))
    alike = (data.users[1:] == data.users[:-1]) & (times[1:] == times[:-1])
    tied = np.flatnonzero(np.append(alike, False) | np.append(False, alike))
    if len(tied):
        run = np.cumsum(np.append(True, ~alike))[tied]
        order[tied] = tied[np.lexsort((draws()[tied], run))]
    return order
