"""ItemKNN and UserKNN against dense references with all similarities written out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import ItemKNN, UserKNN
from fullrank.models._similarity import Similarity
from fullrank.testing.recommender import TWINS, queries_of, small_world, threads
from fullrank.testing.split import interactions

SIMILARITIES = get_args(Similarity)


def similarity(
    a: NDArray[Any], b: NDArray[Any], world: NDArray[Any], kind: str, shrinkage: float
) -> float:
    """Similarity of two rows of values (0: no cell), from the formulas, cell by cell.

    ``world`` holds all training rows, from which idf, mean lengths and mean values come.
    """
    both = [f for f in range(len(a)) if a[f] and b[f]]
    n_rows = sum(1 for row in world if row.any())

    def cell(row: NDArray[Any], f: int) -> float:
        holders = [r[f] for r in world if r[f]]
        idf = math.log((1 + n_rows) / (1 + len(holders)))
        if kind in ("cosine", "jaccard"):
            return 1.0
        if kind == "adjusted_cosine":
            return float(row[f] - np.mean(holders))
        if kind == "tfidf":
            return idf
        mean = np.mean([np.count_nonzero(r) for r in world if r.any()])
        k1, b = 1.2, 0.75
        return idf * (k1 + 1) / (k1 * (1 - b + b * np.count_nonzero(row) / mean) + 1)

    def norm(row: NDArray[Any]) -> float:
        return math.sqrt(sum(cell(row, f) ** 2 for f in range(len(row)) if row[f]))

    dot = sum(cell(a, f) * cell(b, f) for f in both)
    if kind == "jaccard":
        dot /= max(np.count_nonzero(a) + np.count_nonzero(b) - len(both), 1)
    elif kind != "bm25":
        dot = dot / (norm(a) * norm(b)) if norm(a) * norm(b) > 0 else 0.0
    return max(dot, 0.0) * len(both) / (len(both) + shrinkage) if both else 0.0


def nearest(values: NDArray[Any], k: int) -> NDArray[Any]:
    """Zero all but the k greatest, and those as great as the last of them (to nine digits)."""
    order = np.sort(values)[::-1]
    if len(order) <= k:
        return values
    return np.where(values >= order[k - 1] - 1e-9, values, 0.0)


def ratings(data: Interactions) -> NDArray[Any]:
    return data.csr("values").toarray().astype(np.float64)


@pytest.mark.parametrize("kind", SIMILARITIES)
@pytest.mark.parametrize(("shrinkage", "normalise"), [(0.0, False), (2.5, True)])
def test_items_as_written_out(kind: Similarity, shrinkage: float, normalise: bool) -> None:
    data, k = small_world(4), 6
    matrix = ratings(data)
    world = matrix.T
    n = len(world)
    S = np.array([[similarity(a, b, world, kind, shrinkage) for b in world] for a in world])
    np.fill_diagonal(S, 0.0)
    S = np.array([nearest(row, k) for row in S])
    if normalise:
        S /= np.maximum(S.sum(axis=1, keepdims=True), 1e-300)
    expected = (matrix > 0).astype(float) @ S.T
    model = ItemKNN(kind, neighbours=k, shrinkage=shrinkage, normalise=normalise).fit(data)
    np.testing.assert_allclose(model.score(queries_of(data)), expected, rtol=1e-5, atol=1e-6)
    assert model.weights_.shape == (n, n)


@pytest.mark.parametrize("kind", SIMILARITIES)
@pytest.mark.parametrize("shrinkage", [0.0, 2.5])
def test_users_as_written_out(kind: Similarity, shrinkage: float) -> None:
    data, k = small_world(5), 6
    world = ratings(data)
    S = np.array([[similarity(a, b, world, kind, shrinkage) for b in world] for a in world])
    np.fill_diagonal(S, 0.0)
    S = np.array([nearest(row, k) for row in S])
    expected = S @ (world > 0)
    model = UserKNN(kind, neighbours=k, shrinkage=shrinkage).fit(data)
    np.testing.assert_allclose(model.score(queries_of(data)), expected, rtol=1e-5, atol=1e-6)


def test_cosine_and_jaccard_by_hand() -> None:
    # a: u1 u2 u3; b: u1 u2; c: u3.  cos(a, b) = 2 / sqrt(6); jaccard(a, b) = 2 / 3.
    data = interactions(["u1", "u2", "u3", "u1", "u2", "u3"], list("aaabbc"))
    queries = queries_of(data)
    scores = ItemKNN().fit(data).score(queries)
    assert scores[0, 2] == pytest.approx(1 / math.sqrt(3))  # u1 has a and b: cos(a, c) alone
    assert scores[2, 1] == pytest.approx(2 / math.sqrt(6))  # u3 has a and c
    assert ItemKNN("jaccard").fit(data).score(queries)[2, 1] == pytest.approx(2 / 3)
    shrunk = ItemKNN("jaccard", shrinkage=1.0).fit(data).score(queries)
    assert shrunk[2, 1] == pytest.approx(2 / 3 * 2 / 3)


def test_own_training_row_is_no_neighbour() -> None:
    # u1 and u2 share a; only u1 has b: u1's own row would be the nearest, and score b.
    data = interactions(["u1", "u1", "u2", "u2"], ["a", "b", "a", "c"])
    scores = UserKNN(neighbours=5).fit(data).score(queries_of(data))
    assert scores[0].tolist() == pytest.approx([0.5, 0.0, 0.5])


def test_own_row_is_found_by_outside_id() -> None:
    data = small_world()
    queries = queries_of(data)
    fewer = data.take(data.users < 30)
    model = UserKNN(neighbours=3).fit(fewer)
    extended = Vocabulary.of(["a0", *data.user_vocab.ids.tolist()], "user")
    moved = replace(queries, users=queries.users + np.int32(1), user_vocab=extended)
    np.testing.assert_array_equal(model.score(moved), model.score(queries))


@given(seed=st.integers(0, 10_000), k=st.integers(1, 8))
def test_ties_at_the_last_neighbour_are_all_kept(seed: int, k: int) -> None:
    data = small_world(seed)
    model = ItemKNN("jaccard", neighbours=k).fit(data)
    lists = model.weights_.T.tocsr()
    full = ItemKNN("jaccard", neighbours=1000).fit(data).weights_.T.toarray()
    for item in range(data.n_items):
        kept = lists[item].toarray()[0]
        positive = np.sort(full[item][full[item] > 0])[::-1]
        if len(positive) > k:
            assert (kept > 0).sum() == (full[item] >= positive[k - 1]).sum()
        np.testing.assert_array_equal(kept[kept > 0], full[item][kept > 0])
    first, second, third = (lists[t].toarray()[0] for t in TWINS)
    rest = np.setdiff1d(np.arange(data.n_items), TWINS)
    np.testing.assert_array_equal(first[rest], second[rest])
    np.testing.assert_array_equal(first[rest], third[rest])


def test_many_chunks_and_threads_give_one_result() -> None:
    rng = np.random.default_rng(0)
    data = interactions(rng.integers(0, 300, 9000), rng.integers(0, 700, 9000))
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(ItemKNN("tfidf", neighbours=20).fit(data).weights_)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found[0], part), getattr(found[1], part))


@pytest.mark.parametrize("model", [ItemKNN, UserKNN])
def test_refusals(model: Any) -> None:
    with pytest.raises(SpecError, match="did you mean 'cosine'"):
        model(similarity="cosin")
    with pytest.raises(SpecError, match="neighbours must be >= 1"):
        model(neighbours=0)
    with pytest.raises(SpecError, match="shrinkage must be a finite number"):
        model(shrinkage=float("nan"))
    with pytest.raises(DataError, match="have no values"):
        model(similarity="adjusted_cosine").fit(interactions(["u"], ["i"]))


def test_adjusted_cosine_needs_the_values_of_histories() -> None:
    data = small_world()
    model = UserKNN("adjusted_cosine").fit(data)
    with pytest.raises(DataError, match="needs the values of histories"):
        model.score(replace(queries_of(data), history_values=None))
