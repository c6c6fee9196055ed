"""Draws of rows, users and items: hashes of seed and outside ids, so that no row order matters."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.distinct import earlier_of_item
from fullrank.core.interactions import Interactions
from fullrank.core.ragged import run_ragged
from fullrank.core.random import derive, hash_elements, mix
from fullrank.core.threads import run_chunks

Side = Literal["users", "items"]
_ROWS = 1 << 18
_RAGGED = 1 << 18


def row_draws(train: Interactions, seed: int, *names: object) -> NDArray[np.uint64]:
    """uint64 ``[n]``: hash of seed, user, item and how many rows of the pair are earlier."""
    from fullrank.kernels.row_draws import hash_rows

    state = mix(np.array([derive(seed, *names)], dtype=np.uint64))[0]
    earlier = earlier_of_item(train.user_indptr, train.items, train.n_items)
    hashes = train.user_vocab.hashes, train.item_vocab.hashes
    out = np.empty(len(train), np.uint64)

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        columns = train.users[part], train.items[part]
        hash_rows(state, *columns, *hashes, earlier[part], out[part])

    run_chunks(fill, len(train), _ROWS)
    return out


def side_draws(train: Interactions, side: Side, seed: int, *names: object) -> NDArray[np.uint64]:
    """uint64 ``[n_users]`` or ``[n_items]``, one draw each."""
    vocab = train.user_vocab if side == "users" else train.item_vocab
    return hash_elements(derive(seed, *names, side), vocab.hashes)


def codes_of(train: Interactions, side: Side) -> NDArray[np.int32]:
    """User or item of each row."""
    return train.users if side == "users" else train.items


def counts_of(train: Interactions, side: Side) -> NDArray[np.int64]:
    """Rows of each user or item."""
    return train.user_counts if side == "users" else train.item_counts


def uniforms(draws: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Draws as numbers in [0, 1)."""
    return (draws >> np.uint64(11)).astype(np.float64) * 2.0**-53


def places_within_users(
    train: Interactions, draws: NDArray[np.uint64], times: NDArray[np.int64] | None = None
) -> NDArray[np.int32]:
    """Place of each row within its user, from 0: in order of time, if given, then by draws."""
    from fullrank.kernels.row_draws import places_within

    out = np.empty(len(train), np.int32)
    runs = train.users if times is None else times

    def fill(first: int, last: int) -> None:
        places_within(train.user_indptr, first, last, runs, draws, out)

    run_ragged(fill, train.user_indptr, _RAGGED)
    return out


def evenly(train: Interactions, places: NDArray[np.int32], seed: int) -> NDArray[np.float64]:
    """Keys that take the same share of every user: ``(place + offset of the user) / n_u``.

    The offsets are uniform, so that below any bound p a user has ``p n_u`` rows, rounded up or
    down at random without bias (systematic sampling, Madow & Madow 1944).
    """
    offsets = uniforms(side_draws(train, "users", seed, "offset"))
    counts = np.maximum(train.user_counts, 1).astype(np.float64)
    out = np.empty(len(places), np.float64)

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        users = train.users[part]
        out[part] = (places[part] + offsets[users]) / counts[users]

    run_chunks(fill, len(places), _ROWS)
    return out
