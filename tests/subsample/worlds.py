"""Small training sets for samplers."""

from __future__ import annotations

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.vocabulary import Vocabulary
from fullrank.subsample import Floor

LOW = Floor(rows=1, users=1, items=1)


def rows(users, items, times=None, values=None) -> Interactions:
    """Interactions of outside ids."""
    user_vocab, item_vocab = Vocabulary.of(users, "user"), Vocabulary.of(items, "item")
    return Interactions(
        users=user_vocab.encode(users),
        items=item_vocab.encode(items),
        user_vocab=user_vocab,
        item_vocab=item_vocab,
        times=None if times is None else np.asarray(times, np.int64),
        values=None if values is None else np.asarray(values, np.float64),
    )


def world(seed: int = 0, n: int = 600, n_users: int = 60, n_items: int = 40) -> Interactions:
    """Rows with popular items, active users, tied times and pairs met twice."""
    rng = np.random.default_rng(seed)
    users = (n_users * rng.random(n) ** 2).astype(int)
    items = (n_items * rng.random(n) ** 2).astype(int)
    return rows(users, items, rng.integers(0, 50, n), rng.integers(1, 6, n))


def shuffled(train: Interactions, seed: int = 1) -> Interactions:
    """The same rows, given in another order."""
    order = np.random.default_rng(seed).permutation(len(train))
    return rows(
        train.user_ids[order],
        train.item_ids[order],
        None if train.times is None else train.times[order],
        None if train.values is None else train.values[order],
    )
