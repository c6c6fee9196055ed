"""DCF against the objective by brute force, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fullrank.core.errors import DataError, SpecError
from fullrank.models import DCF
from fullrank.models.dcf import _delegate
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world, threads
from fullrank.testing.split import interactions


class TestDCF(RecommenderContract):
    def make(self) -> DCF:
        return DCF(embedding_dim=16, epochs=3)


class TestDCFValues(RecommenderContract):
    learns_checkerboard = False  # all ratings are the same

    def make(self) -> DCF:
        return DCF(embedding_dim=8, values=True, unobserved_weight=0.0, epochs=3)


def loss(x: Any, there: Any, S: Any, D: Any, near: Any, weight: float) -> float:
    """Of one user's code, by definition."""
    dots, n = D @ x, D.shape[1]
    rest = weight * ((-n - dots) ** 2)[~there & D.any(axis=1)].sum()
    return float(((S - dots) ** 2)[there].sum() + rest - 2 * near @ x)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("weight", [0.05, 0.7])
def test_no_bit_lowers_the_loss(values: bool, weight: float) -> None:
    data = small_world(5)
    model = DCF(6, values=values, unobserved_weight=weight, epochs=2).fit(data, rng=1)
    D = model.item_factors().astype(np.float64)
    assert set(np.unique(D[model.known_items_])) == {-1.0, 1.0}
    X = data.csr("values").toarray()
    S = (X - 1) / 4 * 12 - 6 if values else np.where(X > 0, 6.0, 0.0)
    rng = np.random.default_rng(0)
    near = rng.normal(size=(data.n_users, 6))
    found = np.zeros((data.n_users, 6), dtype=np.float32)
    rows = model._scaled(data.csr("values" if values else "binary"))
    model._set_bits(rows, model.item_factors(), near, 99, found)
    for u in range(data.n_users):
        if X[u].any():
            own = loss(found[u], X[u] > 0, S[u], D, near[u], weight)
            for a in range(6):
                other = found[u].copy()
                other[a] *= -1
                assert loss(other, X[u] > 0, S[u], D, near[u], weight) >= own - 1e-6
        else:
            assert not found[u].any()


def test_delegates_are_balanced_and_decorrelated() -> None:
    rng = np.random.default_rng(0)
    codes = np.sign(rng.normal(size=(50, 6))).astype(np.float32)
    codes[7] = 0.0
    X = _delegate(codes)
    np.testing.assert_allclose(X.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(X.T @ X, 49 * np.eye(6), atol=1e-9)
    assert not X[7].any()
    # nearest to the codes: no rotation of it has a greater trace with them
    for _ in range(20):
        turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
        assert np.trace(codes.T @ X) >= np.trace(codes.T @ X @ turn)
    codes[:, 3] = codes[:, 2]
    X = _delegate(codes)
    assert np.linalg.matrix_rank(X) == 5


def test_scores_are_hamming_similarities() -> None:
    data = small_world()
    model = DCF(10, epochs=2).fit(data)
    queries = queries_of(data)
    B, D = model.query_factors(queries), model.item_factors()
    known = model.known_items_
    agree = (B[:, None] == D[None]).sum(axis=2)
    some = queries.history_counts > 0
    scores = model.score(queries)
    np.testing.assert_array_equal(scores[some][:, known], (2 * agree - 10)[some][:, known])
    assert not scores[:, ~known].any()


def test_many_chunks_and_threads() -> None:
    rng = np.random.default_rng(0)
    data = interactions(rng.integers(0, 300, 6000), rng.integers(0, 290, 6000))
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(DCF(9, epochs=3).fit(data).item_factors())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"embedding_dim": 0}, "embedding_dim must be >= 1"),
        ({"epochs": 0}, "epochs must be >= 1"),
        ({"alpha": -1.0}, "alpha must be >= 0"),
        ({"beta": float("nan")}, "beta must be a finite number"),
        ({"unobserved_weight": 0.0}, "unobserved_weight must be > 0 if values=False"),
    ],
)
def test_refuses(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        DCF(**settings)


def test_needs_values() -> None:
    with pytest.raises(DataError, match="codes values and the training rows have none"):
        DCF(values=True).fit(interactions(["u"], ["a"]))
