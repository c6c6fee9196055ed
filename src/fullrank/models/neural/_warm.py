"""A start from another fitted model: its vectors of users and items, matched by outside ids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr
from fullrank.core.random import hash_elements
from fullrank.models._base import Recommender

Table = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Rows of a table ``[n]`` and what they start from ``[n, d]``."""


@dataclass(frozen=True)
class Start:
    """Where tables of users and items start.

    Attributes:
        users: rows and vectors of the users that the other model has a vector of.
        items: those of items.
    """

    users: Table
    items: Table

    @property
    def fingerprint(self) -> str:
        """Hex that tells two starts apart."""
        bits = [
            hash_elements(seed, rows, *(column.view(np.uint32) for column in vectors.T.copy()))
            for seed, (rows, vectors) in enumerate((self.users, self.items))
        ]
        with np.errstate(over="ignore"):
            return "".join(f"{int(one.sum(dtype=np.uint64)):016x}" for one in bits)


def start_from(source: Recommender, train: Interactions, d: int, name: str) -> Start:
    """Vectors of a fitted model for the users and items of some training rows.

    Users' vectors are those of queries with their training rows as the history, so that models
    that fold in have them too. What the other model doesn't know (it gives 0) is left out.

    Args:
        source: fitted, with ``item_factors``.
        train: whose users and items are looked for.
        d: size that the vectors must have.
        name: who asks, for messages.

    Raises:
        SpecError: the model has no vectors, of another size, or of nothing that is here.
    """
    items = source.item_factors()
    if items is None:
        raise SpecError(
            f"{name}: can't start from {type(source).__name__}, which has no vectors of items; "
            "take a factor model, such as IALS"
        )
    if items.shape[1] != d:
        raise SpecError(
            f"{name}: {type(source).__name__} has vectors of {items.shape[1]} numbers and "
            f"embedding_dim is {d}; set embedding_dim={items.shape[1]}"
        )
    code = source.item_vocab_.encode(train.item_vocab.ids)
    found = np.flatnonzero(code >= 0)
    users = source.query_factors(_histories(source, train, code))
    assert users is not None, "a model of item factors has query factors"
    start = Start(
        _nonzero(np.arange(len(users)), users),
        _nonzero(found, items[code[found]]),
    )
    if not len(start.users[0]) and not len(start.items[0]):
        raise SpecError(
            f"{name}: {type(source).__name__} has a vector of none of the {train.n_users:,} users "
            f"and {train.n_items:,} items (first item: {train.item_vocab.label(0)}, there: "
            f"{source.item_vocab_.label(0)}); start from a model that was fitted on the same ids"
        )
    return start


def _histories(source: Recommender, train: Interactions, code: NDArray[np.int32]) -> Queries:
    """A query of each user of the vocabulary, with the training rows that the source knows."""
    items = code[train.items]
    kept = items >= 0
    counts = np.bincount(
        np.repeat(np.arange(train.n_users), train.user_counts)[kept], minlength=train.n_users
    )
    none = np.zeros(0, np.int32)
    return Queries(
        users=np.arange(train.n_users, dtype=np.int32),
        history_indptr=as_indptr(counts),
        history_items=items[kept],
        target_indptr=np.zeros(train.n_users + 1, np.int64),
        target_items=none,
        target_gains=np.zeros(0),
        user_vocab=train.user_vocab,
        item_vocab=source.item_vocab_,
        history_values=None if train.values is None else train.values[kept],
        history_times=None if train.times is None else train.times[kept],
    )


def _nonzero(rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> Table:
    there = (vectors != 0).any(axis=1)
    return rows[there].astype(np.int64), np.ascontiguousarray(vectors[there])
