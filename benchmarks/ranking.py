"""Full ranking beside the bare matrix product of its shape: `python -m benchmarks.ranking`.

A factor model with random factors: ranks of 8 targets with their ties and the top 100 of each
query, 120 history items masked, against one float32 product of the same shape in the same run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import Recommender
from fullrank.models._product import product
from fullrank.rank import rank


@dataclass(eq=False)
class Factors(Recommender):
    """Random factors; every item is known."""

    users: ClassVar[np.ndarray]
    items: ClassVar[np.ndarray]
    thread_safe: ClassVar[bool] = True

    def _fit(self, train, rng, monitor):
        pass

    def _score(self, queries):
        return product(self.users[queries.users], self.items)


def world(q: int, c: int, d: int) -> tuple[Factors, Queries]:
    """A fitted model and its queries."""
    rng = np.random.default_rng(0)
    Factors.users = rng.normal(0, 0.3, (q, d)).astype(np.float32)
    Factors.items = rng.normal(0, 0.3, (c, d)).astype(np.float32)
    user_ids, item_ids = Vocabulary.of(np.arange(q)), Vocabulary.of(np.arange(c))
    codes = np.arange(c, dtype=np.int32)
    model = Factors().fit(Interactions(np.zeros(c, np.int32), codes, user_ids, item_ids))
    starts = rng.integers(0, c - 128, q)
    picks = starts[:, None] + np.arange(128)
    queries = Queries(
        users=np.arange(q, dtype=np.int32),
        history_indptr=as_indptr(np.full(q, 120)),
        history_items=picks[:, 8:].ravel().astype(np.int32),
        target_indptr=as_indptr(np.full(q, 8)),
        target_items=picks[:, :8].ravel().astype(np.int32),
        target_gains=np.ones(8 * q),
        user_vocab=user_ids,
        item_vocab=item_ids,
    )
    return model, queries


def figures(q: int, c: int, d: int = 64) -> tuple[float, float]:
    """Seconds of the ranking and of the bare product in blocks (best of three each)."""
    model, queries = world(q, c, d)
    rank(model, queries[:256], k=100)
    out = np.empty((4096, c), dtype=np.float32)
    ranking, bare = [], []
    for _ in range(3):
        start = time.perf_counter()
        rank(model, queries, k=100)
        ranking.append(time.perf_counter() - start)
        start = time.perf_counter()
        for row in range(0, q, 4096):
            block = Factors.users[row : row + 4096]
            np.dot(block, Factors.items.T, out=out[: len(block)])
        bare.append(time.perf_counter() - start)
    return min(ranking), min(bare)


if __name__ == "__main__":
    for q, c in ((20_000, 20_000), (4_000, 100_000)):
        ranking, bare = figures(q, c)
        print(
            f"{q:,} × {c:,} × 64: {ranking:.2f} s, {ranking / bare:.1f}× the product {bare:.2f} s"
        )
