"""LastItems and Markov against loops over all pairs of rows, and by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.models import LastItems, Markov
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world, threads
from fullrank.testing.split import interactions


class TestLastItems(RecommenderContract):
    learns_checkerboard = False  # the hidden item comes before most of what is last

    def make(self) -> LastItems:
        return LastItems(last=5, window=15, neighbours=12)


class TestLastItemsPlain(RecommenderContract):
    learns_checkerboard = False

    def make(self) -> LastItems:
        return LastItems(30, 30, 50, distance_decay=0.0, recency_decay=0.0, popularity_discount=0.0)


class TestMarkov(RecommenderContract):
    learns_checkerboard = False  # half of a user's items are not next to the last one
    blank_without_history = False

    def make(self) -> Markov:
        return Markov(smoothing=2.0, window=2)


def places(times: NDArray[Any]) -> list[int]:
    return [len(np.unique(times[times < t])) for t in times]


def pairs(data: Interactions, window: int, decay: float) -> NDArray[Any]:
    """Sums over all pairs of rows of a user."""
    out = np.zeros((data.n_items, data.n_items))
    for u in range(data.n_users):
        rows = np.flatnonzero(data.users == u)
        assert data.times is not None
        at = places(data.times[rows])
        for p, i in enumerate(rows):
            for q, j in enumerate(rows):
                if p != q and 0 <= at[q] - at[p] <= window:
                    out[data.items[i], data.items[j]] += max(at[q] - at[p], 1.0) ** -decay
    return out


def plays(seed: int = 0) -> Interactions:
    """Some rows share a time, and items come again."""
    rng = np.random.default_rng(seed)
    n = 400
    return interactions(
        rng.integers(0, 20, n), rng.integers(0, 30, n), times=rng.integers(0, 30, n) * 60
    )


@pytest.mark.parametrize("world", [small_world, plays])
@pytest.mark.parametrize(
    "model", [LastItems(3, 4, 99), LastItems(2, 1, 99, 0.5, 2.0, 0.0), LastItems(99, 99, 99)]
)
def test_last_items_by_all_pairs(world: Any, model: LastItems) -> None:
    data = world()
    model.fit(data)
    n = np.maximum(data.item_counts, 1.0) ** model.popularity_discount
    S = pairs(data, model.window, model.distance_decay) / n[:, None] / n
    np.testing.assert_allclose(model.weights_.toarray(), S, rtol=1e-5)
    scores = model.score(queries_of(data))
    for u in range(data.n_users):
        rows = np.flatnonzero(data.users == u)
        at = places(data.times[rows])
        expected, ages = np.zeros(data.n_items), dict[int, int]()
        for p, row in enumerate(rows):
            ages[data.items[row]] = max(at) + 1 - at[p]
        for item, age in ages.items():
            if age <= model.last:
                expected += age**-model.recency_decay * S[item]
        np.testing.assert_allclose(scores[u], expected, rtol=1e-4, atol=1e-7)


def test_last_items_keeps_the_nearest() -> None:
    data = plays(1)
    full = LastItems(neighbours=99).fit(data).weights_.toarray()
    kept = LastItems(neighbours=4).fit(data).weights_.toarray()
    for row, all_of in zip(kept, full, strict=True):
        least = np.sort(all_of)[-4]
        assert ((row > 0) == (all_of >= least)).all()
        np.testing.assert_array_equal(row[row > 0], all_of[row > 0])


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("world", [small_world, plays])
def test_markov_by_all_pairs(world: Any, window: int) -> None:
    data = world()
    C = pairs(data, window, 0.0)
    p = data.item_counts / len(data)
    scores = Markov(7.0, window).fit(data).score(queries_of(data))
    for u in range(data.n_users):
        rows = np.flatnonzero(data.users == u)
        expected = p
        if len(rows):
            last = np.unique(data.items[rows][data.times[rows] == data.times[rows].max()])
            chain = [(C[i] + 7.0 * p) / (C[i].sum() + 7.0) for i in last]
            expected = np.mean(chain, axis=0)
            assert expected.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(scores[u], expected, rtol=1e-4)


def history(data: Interactions, items: list[int], times: list[int] | None = None) -> Queries:
    queries = Queries.from_lists(
        np.zeros(1, np.int32),
        [items],
        [[]],
        user_vocab=data.user_vocab,
        item_vocab=data.item_vocab,
    )
    return replace(queries, history_times=None if times is None else np.array(times))


def test_by_hand() -> None:
    # u: a b c, v: a c. After a: b once and c once; after b: c; p = (2, 1, 2) / 5.
    data = interactions(list("uuuvv"), list("abcac"), times=[1, 2, 3, 1, 2])
    markov = Markov(smoothing=1.0).fit(data)
    after_a = [(0 + 0.4) / 3, (1 + 0.2) / 3, (1 + 0.4) / 3]
    assert markov.score(history(data, [1, 0]))[0].tolist() == pytest.approx(after_a)
    assert markov.score(history(data, [0, 2]))[0].tolist() == pytest.approx([0.4, 0.2, 0.4])
    last = LastItems(last=2, window=2, popularity_discount=0.0).fit(data)
    # after a: b 1, c 1 + 1/2; after b: c 1. History b, a: a has age 1 and b age 2.
    assert last.score(history(data, [1, 0]))[0].tolist() == pytest.approx([0, 1, 1.5 + 0.5])
    # of the same time they have age 1 both
    both = last.score(history(data, [0, 1], [5, 5]))[0]
    assert both.tolist() == pytest.approx([0, 1, 1.5 + 1])


def test_many_chunks_and_threads() -> None:
    rng = np.random.default_rng(0)
    data = interactions(
        rng.integers(0, 300, 9000), rng.integers(0, 700, 9000), times=rng.integers(0, 99, 9000)
    )
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(LastItems(neighbours=20).fit(data).weights_)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found[0], part), getattr(found[1], part))


@pytest.mark.parametrize("model", [LastItems, Markov])
def test_needs_times(model: Any) -> None:
    with pytest.raises(DataError, match=f"{model.__name__} needs a time"):
        model().fit(interactions(["u"], ["a"]))


@pytest.mark.parametrize(
    ("model", "settings", "said"),
    [
        (LastItems, {"last": 0}, "last must be >= 1"),
        (LastItems, {"window": 0}, "window must be >= 1"),
        (LastItems, {"neighbours": 0}, "neighbours must be >= 1"),
        (LastItems, {"distance_decay": -1.0}, "distance_decay must be >= 0"),
        (LastItems, {"recency_decay": float("inf")}, "recency_decay must be a finite number"),
        (LastItems, {"popularity_discount": float("nan")}, "popularity_discount must be a fin"),
        (Markov, {"smoothing": 0.0}, "smoothing must be > 0"),
        (Markov, {"window": 0}, "window must be >= 1"),
    ],
)
def test_refuses(model: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        model(**settings)
