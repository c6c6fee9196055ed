"""Random, Popularity and BiasOnly: hand-worked values and plain references."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fullrank.core.errors import DataError, SpecError
from fullrank.models import EASE, BiasOnly, Popularity, Random
from fullrank.testing.recommender import queries_of, small_world
from fullrank.testing.split import interactions

DAY = 86_400


def test_random_is_uniform_and_independent() -> None:
    data = interactions(range(400), range(400))
    scores = Random().fit(data, rng=7).score(queries_of(data)).astype(np.float64)
    assert ((scores >= 0) & (scores < 1)).all()
    counts, _ = np.histogram(scores, bins=50, range=(0, 1))
    expected = scores.size / 50
    # Chi-square with 49 degrees of freedom: above 94.6 with chance 1e-4.
    assert ((counts - expected) ** 2 / expected).sum() < 94.6
    for across in (scores, scores.T):
        pairs = np.corrcoef(across[0::2].ravel(), across[1::2].ravel())[0, 1]
        assert abs(pairs) < 4 / np.sqrt(scores.size / 2)
    firsts = np.bincount(scores.argmax(axis=1), minlength=400)
    assert firsts.max() <= 8


def test_random_knows_outside_ids_only() -> None:
    """Other items and users in the data change no draw; another query of the user does."""
    small = interactions(["b", "d"], ["x", "z"])
    large = interactions(["a", "b", "c", "d"], ["w", "x", "y", "z"])
    few = Random().fit(small, rng=1).score(queries_of(small))
    many = Random().fit(large, rng=1).score(queries_of(large))
    np.testing.assert_array_equal(few, many[np.ix_([1, 3], [1, 3])])
    second = replace(queries_of(small), query_ids=np.ones(2, np.int64))
    assert (Random().fit(small, rng=1).score(second) != few).all()


def test_popularity_counts_users_or_rows() -> None:
    users, items = list("abcaab"), list("xxyxxz")
    data = interactions(users, items, times=range(6))
    assert Popularity().fit(data).shared_scores().tolist() == [2, 1, 1]
    rows = Popularity(count="rows").fit(data).shared_scores().tolist()
    assert rows == [Counter(items)[i] for i in "xyz"] == [4, 1, 1]


def test_popularity_by_counter() -> None:
    data = small_world(2)
    expected = Counter(set(zip(data.users.tolist(), data.items.tolist())))
    counts = Counter(item for _, item in expected)
    found = Popularity().fit(data).shared_scores()
    assert found.tolist() == [counts[i] for i in range(data.n_items)]


def test_popularity_window_and_decay() -> None:
    times = np.array([0, 10, 20, 20]) * DAY
    data = interactions(list("abca"), list("xxyx"), times=times)
    assert Popularity(window=10).fit(data).shared_scores().tolist() == [2, 1]
    assert Popularity(window=9.9).fit(data).shared_scores().tolist() == [1, 1]
    # x: a's last row is new (1), b's is 10 days old; as rows also a's of 20 days ago.
    assert Popularity(half_life=10).fit(data).shared_scores().tolist() == [1.5, 1]
    rows = Popularity(half_life=10, count="rows").fit(data).shared_scores().tolist()
    assert rows == [1.75, 1]
    both = Popularity(half_life=10, window=15, count="rows").fit(data).shared_scores().tolist()
    assert both == [1.5, 1]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_popularity_knows_the_unit(unit: Any) -> None:
    factor = {"ms": 1000, "us": 10**6, "ns": 10**9}[unit]
    data = interactions(
        list("abc"), list("xxy"), times=np.array([0, 10, 20]) * DAY * factor, time_unit=unit
    )
    assert Popularity(half_life=10).fit(data).shared_scores().tolist() == [0.75, 1]


def test_popularity_refuses() -> None:
    with pytest.raises(SpecError, match="half_life must be days > 0"):
        Popularity(half_life=0)
    with pytest.raises(SpecError, match="unknown count 'user'; did you mean 'users'"):
        Popularity(count="user")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="needs a time for every row"):
        Popularity(window=3).fit(interactions(["a"], ["x"]))


def test_biases_by_hand() -> None:
    # Mean 3. One epoch: b_x = (5+3-6)/(2+2) = 0.5, b_y = (1-3)/(2+1) = -2/3;
    # a: (5-3.5)+(1-3+2/3) = 1/6, over 1+2 = 1/18; b: (3-3.5)/(1+1) = -0.25.
    data = interactions(list("aab"), list("xyx"), values=[5, 1, 3])
    model = BiasOnly(reg_user=1, reg_item=2, epochs=1).fit(data)
    assert model.mean_ == 3
    assert model.item_bias_.tolist() == pytest.approx([0.5, -2 / 3])
    queries = queries_of(data)
    predicted = model.predict(queries, np.array([0, 1], dtype=np.int32))
    assert predicted.tolist() == pytest.approx([3.5 + 1 / 18, 3 - 2 / 3 - 0.25])
    assert model.score(queries)[0].tolist() == pytest.approx([3.5, 3 - 2 / 3])


def test_biases_reach_the_ridge_solution() -> None:
    """At the optimum the model is ridge regression on dummies, each column with its own weight."""
    data = small_world(9)
    n, m = data.n_users, data.n_items
    assert data.values is not None
    D = np.zeros((len(data), n + m))
    D[np.arange(len(data)), data.users] = 1
    D[np.arange(len(data)), n + data.items] = 1
    penalty = np.diag([4.0] * n + [7.0] * m)
    rest = data.values - data.values.mean()
    exact = np.linalg.solve(D.T @ D + penalty, D.T @ rest)
    model = BiasOnly(reg_user=4, reg_item=7, epochs=300).fit(data)
    np.testing.assert_allclose(model.item_bias_, exact[n:], atol=1e-9)
    items = np.full(n, 5, dtype=np.int32)
    predicted = model.predict(queries_of(data), items)
    np.testing.assert_allclose(predicted, data.values.mean() + exact[:n] + exact[n + 5], atol=1e-9)


def test_biases_without_history_or_values() -> None:
    data = small_world()
    model = BiasOnly().fit(data)
    queries = queries_of(data)
    empty = queries[queries.history_counts == 0]
    items = np.zeros(len(empty), dtype=np.int32)
    np.testing.assert_array_equal(model.predict(empty, items), model.mean_ + model.item_bias_[0])
    bare = replace(queries, history_values=None)
    with pytest.raises(DataError, match="by the ratings of their history"):
        model.predict(bare, np.zeros(len(bare), dtype=np.int32))
    with pytest.raises(DataError, match="have no values"):
        BiasOnly().fit(replace(data, values=None))
    with pytest.raises(SpecError, match="reg_user must be >= 0"):
        BiasOnly(reg_user=-1)
    with pytest.raises(SpecError, match="epochs must be >= 1"):
        BiasOnly(epochs=0)


def test_others_predict_no_ratings() -> None:
    data = small_world()
    with pytest.raises(DataError, match="predicts no ratings"):
        EASE().fit(data).predict(queries_of(data), np.zeros(data.n_users, dtype=np.int32))
