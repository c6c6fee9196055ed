"""The models on MovieLens: they learn, and each bit is the query's own at real size too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.models import EASE, IALS, ItemKNN, Popularity, PureSVD, Random, Recommender, UserKNN
from fullrank.models._sparse import first_twins
from fullrank.split._queries import make_queries
from fullrank.testing.split import interactions

World = tuple[Interactions, Queries]


@pytest.fixture(scope="module")
def movielens(real_data: Path) -> World:
    """MovieLens 100K, ratings of 4 and 5, a fifth of the rows held out at random."""
    file = real_data / "ml-100k" / "interactions.parquet"
    if not file.exists():
        pytest.skip(f"{file} is absent")
    rows = pl.read_parquet(file).filter(pl.col("rating") >= 4)
    data = interactions(rows["user_id"].to_numpy(), rows["item_id"].to_numpy())
    known = np.random.default_rng(0).random(len(data)) < 0.8
    return data.take(known), make_queries(data, history=known, targets=~known)


def recall(model: Recommender, queries: Queries) -> float:
    """Recall@20 by hand."""
    scores = model.score(queries)
    scores[queries.history_csr().nonzero()] = -np.inf
    top = np.argsort(-scores, axis=1, kind="stable")[:, :20]
    hits = [np.isin(queries.targets(q), top[q]).mean() for q in range(len(queries))]
    return float(np.mean(hits))


MODELS = [
    ItemKNN("tfidf", neighbours=100),
    UserKNN("bm25"),
    EASE(reg=100.0),
    PureSVD(embedding_dim=24),
    IALS(embedding_dim=24, epochs=8),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_learns(movielens: World, model: Recommender) -> None:
    train, queries = movielens
    popular = recall(Popularity().fit(train), queries)
    assert recall(Random().fit(train), queries) < 0.05 < popular
    assert recall(model.fit(train, rng=1), queries) > 1.3 * popular


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_blocks_and_twins(movielens: World, model: Recommender) -> None:
    train, queries = movielens
    model.fit(train, rng=1)
    whole = model.score(queries)
    for size in (1, 64):
        parts = [model.score(queries[s : s + size]) for s in range(0, len(queries), size)]
        np.testing.assert_array_equal(np.vstack(parts), whole)
    first = first_twins(train.csr())
    twins = np.flatnonzero((first != np.arange(len(first))) & (train.item_counts > 0))
    assert len(twins) > 50
    histories = queries.history_csr().toarray()
    neither = (histories[:, twins] + histories[:, first[twins]]) == 0
    assert (whole[:, twins] == whole[:, first[twins]])[neither].all()
