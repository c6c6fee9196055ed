"""What is kept fast. Each case makes its input at a given scale and returns the piece to count.

A piece is linear in its scale, so that a fifth more of it is a regression of a fifth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

import fullrank as fr
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr
from fullrank.core.vocabulary import Vocabulary
from fullrank.metrics import per_query_many
from fullrank.models import Recommender
from fullrank.rank import rank, ranks_from_lists
from fullrank.stats import mean_intervals

Piece = Callable[[], object]
ITEMS = 2000
CUTS = [1, 5, 10, 20, 50, 100]


@dataclass(eq=False)
class Given(Recommender):
    """Random factors, or random scores if ``generic``."""

    generic: bool = False
    thread_safe: ClassVar[bool] = True

    def _fit(self, train, rng, monitor):
        rng = np.random.default_rng(1)
        self.items_ = rng.normal(0, 0.3, (train.n_items, 16)).astype(np.float32)
        self.users_ = rng.normal(0, 0.3, (train.n_users, 16)).astype(np.float32)
        self.scores_ = rng.normal(0, 1, (64, train.n_items)).astype(np.float32)

    def _score(self, queries):
        return self.scores_[queries.users % 64]

    def item_factors(self):
        return None if self.generic else self.items_

    def query_factors(self, queries):
        return None if self.generic else self.users_[queries.users]


def log(n_users: int, per_user: int = 40, n_items: int = ITEMS) -> Interactions:
    """``per_user`` rows a user in random order, popular items more often, times as given."""
    rng = np.random.default_rng(2)
    n = n_users * per_user
    users = np.repeat(np.arange(n_users, dtype=np.int32), per_user)
    items = (n_items * rng.random(n) ** 2).astype(np.int32)
    order = rng.permutation(n)
    return Interactions(
        users[order],
        items[order],
        Vocabulary.of(np.arange(n_users)),
        Vocabulary.of(np.arange(n_items)),
        values=rng.integers(1, 6, n).astype(np.float64),
        times=rng.integers(0, 10**9, n),
    )


def cases(n_users: int, train: Interactions) -> Queries:
    """A query a user: 40 history items and 8 targets."""
    width = train.n_items // 48
    rng = np.random.default_rng(3)
    picks = (rng.integers(0, width, (n_users, 48)) + np.arange(48) * width).astype(np.int32)
    target = np.arange(48) % 6 == 2
    return Queries(
        users=np.arange(n_users, dtype=np.int32),
        history_indptr=as_indptr(np.full(n_users, 40)),
        history_items=picks[:, ~target].ravel(),
        target_indptr=as_indptr(np.full(n_users, 8)),
        target_items=picks[:, target].ravel(),
        target_gains=np.ones(8 * n_users),
        user_vocab=train.user_vocab,
        item_vocab=train.item_vocab,
    )


def _ranking(model: Recommender, n_users: int) -> Piece:
    train = log(n_users, n_items=6000)
    queries = cases(n_users, train)
    model.fit(train)
    return lambda: rank(model, queries, k=100, threads=1)


def rank_factors(scale: float) -> Piece:
    """Ranks of 8 targets and top 100 from factors."""
    return _ranking(Given(), int(320 * scale))


def rank_generic(scale: float) -> Piece:
    """The same from scores that a model hands over."""
    return _ranking(Given(generic=True), int(320 * scale))


def rank_item_item(scale: float) -> Piece:
    """The same from 100 neighbours of each item."""
    return _ranking(fr.ItemKNN(neighbours=100), int(320 * scale))


def lists(scale: float) -> Piece:
    """Lists of 100 to ranks, 30 metrics a query, and their intervals."""
    n, rng = int(2500 * scale), np.random.default_rng(4)
    width = ITEMS // 100
    items = rng.integers(0, width, (n, 100)) + rng.permutation(100) * width
    held = rng.integers(0, width, (n, 8)) + rng.permutation(100)[:8] * width
    recs = pl.DataFrame({"user_id": np.repeat(np.arange(n), 100), "item_id": items.ravel()})
    recs = recs.with_columns(rank=np.tile(np.arange(1, 101), n))
    truth = pl.DataFrame({"user_id": np.repeat(np.arange(n), 8), "item_id": held.ravel()})
    families = (fr.NDCG, fr.Recall, fr.MRR, fr.MAP, fr.HitRate)
    metrics = [metric for family in families for metric in family @ CUTS]

    def piece() -> object:
        ranked = ranks_from_lists(recs, truth)
        values = np.stack([*per_query_many(ranked, metrics).values()], axis=1)
        return mean_intervals(values, method="analytic")

    return piece


def sort_rows(scale: float) -> Piece:
    """Rows in random order to ``Interactions``."""
    n, rng = int(200_000 * scale), np.random.default_rng(5)
    users = rng.integers(0, 2000, n).astype(np.int32)
    items = rng.integers(0, ITEMS, n).astype(np.int32)
    user_vocab, item_vocab = Vocabulary.of(np.arange(2000)), Vocabulary.of(np.arange(ITEMS))
    values, times = rng.integers(1, 6, n).astype(np.float64), rng.integers(0, 10**9, n)
    return lambda: Interactions(users, items, user_vocab, item_vocab, values=values, times=times)


def csr(scale: float) -> Piece:
    """The sparse matrix of the rows."""
    train = log(int(10_000 * scale))

    def piece() -> object:
        train.__dict__.pop("_csr", None)
        return train.csr()

    return piece


def bootstrap(scale: float) -> Piece:
    """100 Poisson resamples of four metrics."""
    values = np.random.default_rng(6).random((int(20_000 * scale), 4))
    return lambda: mean_intervals(values, method="poisson", resamples=100)


def ials_epoch(scale: float) -> Piece:
    """One epoch of iALS, 16 factors."""
    train = log(int(1000 * scale), n_items=400)
    train.csr()
    return lambda: fr.IALS(embedding_dim=16, epochs=1).fit(train)


CASES: dict[str, Callable[[float], Piece]] = {
    "ranking from factors": rank_factors,
    "ranking from generic scores": rank_generic,
    "ranking from item-item weights": rank_item_item,
    "lists to 30 metrics": lists,
    "sorting interactions": sort_rows,
    "csr": csr,
    "bootstrap": bootstrap,
    "iALS epoch": ials_epoch,
}
