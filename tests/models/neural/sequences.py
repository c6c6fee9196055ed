"""Small worlds for models of sequences."""

from __future__ import annotations

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import Recommender
from fullrank.testing.recommender import checkerboard, queries_of

N_ITEMS = 24


def cycle(n_users: int = 48, length: int = 8) -> Interactions:
    """Users who walk around a circle of 24 items: what comes next is certain."""
    users = np.repeat(np.arange(n_users, dtype=np.int32), length)
    items = ((users * 5 + np.tile(np.arange(length), n_users)) % N_ITEMS).astype(np.int32)
    return Interactions(
        users,
        items,
        Vocabulary.of(list(range(n_users)), "user"),
        Vocabulary.of(list(range(N_ITEMS)), "item"),
        times=np.tile(np.arange(length, dtype=np.int64), n_users),
    )


def follows(model: Recommender) -> float:
    """How often the model says the next item of the circle, among those that the user hasn't."""
    data = cycle()
    queries = queries_of(data)
    scores = model.fit(data, rng=0).score(queries)
    scores[queries.history_csr().toarray() > 0] = -np.inf
    last = data.items[data.user_indptr[1:] - 1]
    return float((scores.argmax(axis=1) == (last + 1) % N_ITEMS).mean())


def diagonal(model: Recommender) -> float:
    """How often the hidden diagonal of the checkerboard is first, each user's items shuffled.

    In the contract's own the items are in the order of their codes, and nothing ever follows the
    last of them: a model of what comes next has no reason to go back to the diagonal.
    """
    board, _ = checkerboard()
    times = np.random.default_rng(0).permutation(len(board)).astype(np.int64)
    train = Interactions(board.users, board.items, board.user_vocab, board.item_vocab, times=times)
    queries = queries_of(train)
    scores = model.fit(train, rng=3).score(queries)
    scores[queries.history_csr().toarray() > 0] = -np.inf
    return float((scores.argmax(axis=1) == np.arange(len(queries))).mean())
