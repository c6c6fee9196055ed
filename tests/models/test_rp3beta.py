"""RP3beta against walks written out, user by user."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.models import RP3beta
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world, threads
from fullrank.testing.split import interactions


class TestRP3beta(RecommenderContract):
    def make(self) -> RP3beta:
        return RP3beta(neighbours=8)


class TestRP3betaP3alpha(RecommenderContract):
    def make(self) -> RP3beta:
        return RP3beta(alpha=1.4, beta=0.0, neighbours=5)


def walks(X: NDArray[Any], alpha: float, beta: float, k: int) -> NDArray[Any]:
    """All walks item, user, item; the k best ends of each item, ties kept."""
    n = X.shape[1]
    W = np.zeros((n, n))
    d_items, d_users = X.sum(axis=0), X.sum(axis=1)
    for i in range(n):
        for j in range(n):
            if i != j:
                for u in np.flatnonzero(X[:, i] * X[:, j]):
                    W[i, j] += d_items[i] ** -alpha * d_users[u] ** -alpha / d_items[j] ** beta
        last = np.sort(W[i])[-k]
        W[i][W[i] < last * (1 - 1e-6)] = 0.0
    return W


@pytest.mark.parametrize("alpha", [0.0, 1.0, 1.7])
@pytest.mark.parametrize("beta", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("k", [3, 25])
def test_walks(alpha: float, beta: float, k: int) -> None:
    data = small_world(4)
    X = data.csr().toarray().astype(np.float64)
    model = RP3beta(alpha, beta, k).fit(data)
    expected = walks(X, alpha, beta, k)
    np.testing.assert_allclose(model.weights_.toarray(), expected, rtol=1e-5)
    np.testing.assert_allclose(model.score(queries_of(data)), X @ expected, rtol=1e-5)


def test_by_hand() -> None:
    # u1: a b; u2: a b c. From c: the only user has 3 items; a and b have 2 users each.
    data = interactions(["u1", "u1", "u2", "u2", "u2"], ["a", "b", "a", "b", "c"])
    W = RP3beta(alpha=1.0, beta=1.0, neighbours=9).fit(data).weights_.toarray()
    np.testing.assert_allclose(W[2], [1 / 3 / 2, 1 / 3 / 2, 0], rtol=1e-6)
    np.testing.assert_allclose(W[0], [0, (1 / 2 + 1 / 3) / 2 / 2, 1 / 2 / 3], rtol=1e-6)


def test_many_chunks_and_threads() -> None:
    rng = np.random.default_rng(0)
    data = interactions(rng.integers(0, 300, 9000), rng.integers(0, 700, 9000))
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(RP3beta(neighbours=20).fit(data).weights_)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found[0], part), getattr(found[1], part))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"alpha": -0.1}, "alpha must be >= 0"),
        ({"beta": float("nan")}, "beta must be a finite number"),
        ({"neighbours": 0}, "neighbours must be >= 1"),
    ],
)
def test_refuses(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        RP3beta(**settings)
