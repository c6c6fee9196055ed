"""Compile or load the ranking kernels before anything is timed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG
from fullrank.core.vocabulary import Vocabulary
from fullrank.models._base import Recommender
from fullrank.rank._full import rank

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(eq=False)
class _Any(Recommender):
    """Scores nothing, in a way of one's choice."""

    way: str = "shared"

    def _fit(self, train: Interactions, rng: RNG, monitor: object) -> None:
        pass

    def shared_scores(self) -> NDArray[np.float32] | None:
        return np.zeros(len(self.item_vocab_), np.float32) if self.way == "shared" else None

    def item_factors(self) -> NDArray[np.float32] | None:
        return np.zeros((len(self.item_vocab_), 1), np.float32) if self.way == "factors" else None

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        return np.zeros((len(queries), 1), np.float32)

    def sparse_product(self, queries: Queries) -> tuple[csr_matrix, csr_matrix] | None:
        from scipy.sparse import csr_matrix

        if self.way != "sparse":
            return None
        left = csr_matrix((len(queries), 1), dtype=np.float32)
        return left, csr_matrix((1, queries.n_items), dtype=np.float32)


@dataclass(eq=False)
class _Scores(_Any):
    """The same by scores."""

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        return np.zeros((len(queries), queries.n_items), np.float32)


@cache
def load_kernels() -> None:
    """Rank a world of two users in every way, so that no model of a run pays for compilation."""
    users, items = Vocabulary.of([0, 1], "user"), Vocabulary.of(list(range(20)), "item")
    codes = np.arange(20, dtype=np.int32)
    train = Interactions(np.zeros(20, np.int32), codes, users, items)
    queries = Queries.from_lists(
        np.array([0, 1]),
        [[0], []],
        [[1], list(range(20))],
        user_vocab=users,
        item_vocab=items,
    )
    for model in (_Any("shared"), _Any("factors"), _Any("sparse"), _Scores()):
        rank(model.fit(train), queries)
