"""What scores cost on this machine: of pairs, and of the whole catalogue."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.queries import Queries
from fullrank.core.random import RNG, seed_of
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import Recommender
from fullrank.negatives import Uniform
from fullrank.rank import rank


@dataclass(frozen=True)
class Cost:
    """What scoring costs.

    Attributes:
        pair: seconds to score one (query, candidate) pair.
        query: seconds to rank the whole catalogue for one query.
    """

    pair: float
    query: float


def scoring_cost(
    model: Recommender, queries: Queries, *, pairs: int = 20_000, rng: RNG = 0
) -> Cost:
    """Measure what a model's scores cost here: pairs, and the whole catalogue.

    Args:
        model: a fitted recommender.
        queries: to take some of.
        pairs: to score, about.
        rng: seed or Generator.
    """
    some = queries[: max(1, min(len(queries), pairs // 100))]
    times = []
    for candidates in (Uniform(m=99), "full"):
        rank(model, some[:1], candidates=candidates, seed=seed_of(rng))
        start = time.perf_counter()
        found = rank(model, some, candidates=candidates, seed=seed_of(rng)).targets
        times.append(time.perf_counter() - start)
        if candidates != "full":
            scored = found.counts["scored_pairs"]
    return Cost(times[0] / scored, times[1] / len(some))


def factor_cost(catalog_size: int, *, queries: int = 512, factors: int = 64) -> Cost:
    """Measure what the scores of a model with factors cost here.

    Args:
        catalog_size: items, made up.
        queries: ranked.
        factors: of the model.
    """
    source = np.random.default_rng(0)
    rows, columns = (
        source.standard_normal((n, factors)).astype(np.float32) for n in (queries, catalog_size)
    )
    model = _Factors(rows, columns)
    cases = Queries.from_lists(
        np.arange(queries, dtype=np.int32),
        [[]] * queries,
        [[0]] * queries,
        user_vocab=model.user_vocab_,
        item_vocab=model.item_vocab_,
    )
    return scoring_cost(model, cases, pairs=100 * queries)


class _Factors(Recommender):
    """Made-up factors, to be timed."""

    thread_safe = True

    def __init__(self, users: NDArray[np.float32], items: NDArray[np.float32]) -> None:
        self.users, self.items = users, items
        self.user_vocab_ = Vocabulary(np.arange(len(users), dtype=np.int64), "user")
        self.item_vocab_ = Vocabulary(np.arange(len(items), dtype=np.int64), "item")
        self.known_items_ = np.ones(len(items), dtype=bool)
        self.known_users_ = np.ones(len(users), dtype=bool)
        self.item_counts_ = np.ones(len(items), dtype=np.int64)

    def _fit(self, train: Any, rng: Any, monitor: Any) -> None:
        """Nothing is learnt: the factors are given."""

    def item_factors(self) -> NDArray[np.float32]:
        return self.items

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        return self.users[queries.users]
