"""Random: scores drawn uniformly, the floor of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, hash_elements, seed_of
from fullrank.models._base import Monitor, Recommender


@dataclass(eq=False)
class Random(Recommender):
    """Score each (query, item) with a uniform draw: a hash of seed, user, query and item.

    The hash takes the outside ids, so a draw depends neither on other users and items in the data
    nor on blocks. Scores are multiples of 2**-24; the few that tie are split evenly by the metrics.
    A user without a history gets draws like any other.
    """

    folds_in: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("seed_",)

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        self.seed_ = derive(seed_of(rng), "Random")

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        from fullrank.kernels.hashing import hashed_scores

        users = queries.user_vocab.hashes[queries.users]
        rows = hash_elements(self.seed_, users, queries.query_ids)
        columns = np.array(self.item_vocab_.hashes)
        out = np.empty((len(queries), len(columns)), dtype=np.float32)
        hashed_scores(rows, columns, out)
        return out
