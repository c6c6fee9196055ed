"""Compile or load the ranking kernels before anything is timed."""

from __future__ import annotations

from functools import cache

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.vocabulary import Vocabulary
from fullrank.models.popularity import Popularity
from fullrank.rank._full import rank


@cache
def load_kernels() -> None:
    """Rank a world of two users once, so that the first model of a run pays for no compilation."""
    users, items = Vocabulary.of([0, 1], "user"), Vocabulary.of(list(range(20)), "item")
    codes = np.arange(20, dtype=np.int32)
    model = Popularity().fit(Interactions(np.zeros(20, np.int32), codes, users, items))
    queries = Queries.from_lists(
        np.array([0, 1]),
        [[0], []],
        [[1], list(range(20))],  # few targets, and many: each has a kernel of its own
        user_vocab=users,
        item_vocab=items,
    )
    rank(model, queries)
