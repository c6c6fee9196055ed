"""SLIM against scikit-learn's elastic nets, the conditions of an optimum, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import ElasticNet

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.models import SLIM, slim
from fullrank.testing.recommender import (
    TWINS,
    RecommenderContract,
    queries_of,
    small_world,
    threads,
)
from fullrank.testing.split import interactions


class TestSLIM(RecommenderContract):
    def make(self) -> SLIM:
        return SLIM(l1_reg=0.2, l2_reg=1.0)


class TestSLIMSigned(RecommenderContract):
    def make(self) -> SLIM:
        return SLIM(l1_reg=0.1, l2_reg=2.0, non_negative=False)


class TestSLIMFewNeighbours(RecommenderContract):
    def make(self) -> SLIM:
        return SLIM(l1_reg=0.0, l2_reg=1.0, neighbours=6)


def world(seed: int = 0, n_users: int = 150, n_items: int = 60) -> Interactions:
    """No two items with the same users."""
    rng = np.random.default_rng(seed)
    likes = rng.random((n_users, 3)) @ rng.random((3, n_items)) / 3
    return interactions(*np.nonzero(rng.random(likes.shape) < likes * 0.8))


def by_sklearn(X: NDArray[Any], l1: float, l2: float, *, positive: bool) -> NDArray[Any]:
    """Column by column, with the item itself blanked out."""
    n = len(X)
    out = np.zeros((X.shape[1], X.shape[1]))
    for j in range(X.shape[1]):
        rest = X.copy()
        rest[:, j] = 0.0
        net = ElasticNet(
            alpha=(l1 + l2) / n,
            l1_ratio=l1 / (l1 + l2),
            positive=positive,
            fit_intercept=False,
            tol=1e-12,
            max_iter=100_000,
        )
        out[:, j] = net.fit(rest, X[:, j]).coef_
    return out


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 2.0), (3.0, 1.0), (0.1, 30.0)])
def test_weights_of_scikit_learn(l1: float, l2: float, positive: bool) -> None:
    data = world()
    X = data.csr().toarray().astype(np.float64)
    model = SLIM(l1, l2, non_negative=positive, tolerance=1e-8).fit(data)
    expected = by_sklearn(X, l1, l2, positive=positive)
    assert (expected != 0).sum() > 50
    np.testing.assert_allclose(model.weights_.toarray(), expected, atol=1e-5)


def test_twins_share_as_scikit_learn_has_it() -> None:
    data = small_world()
    X = data.csr().toarray().astype(np.float64)
    model = SLIM(0.3, 1.5, tolerance=1e-8).fit(data)
    expected = by_sklearn(X, 0.3, 1.5, positive=True)
    np.testing.assert_allclose(model.weights_.toarray(), expected, atol=1e-5)
    W = model.weights_[list(TWINS)].toarray()
    rest = np.setdiff1d(np.arange(data.n_items), TWINS)
    assert (W[:, rest] == W[0, rest]).all()


def test_by_hand() -> None:
    # G = [[3, 2], [2, 2]]: w_01 = (2 - l1) / (3 + l2), w_10 = (2 - l1) / (2 + l2).
    data = interactions(["u1", "u1", "u2", "u2", "u3"], ["a", "b", "a", "b", "a"])
    W = SLIM(l1_reg=0.5, l2_reg=1.0).fit(data).weights_.toarray()
    np.testing.assert_allclose(W, [[0.0, 1.5 / 4], [1.5 / 3, 0.0]], rtol=1e-6)
    assert SLIM(l1_reg=2.0, l2_reg=1.0).fit(data).weights_.nnz == 0


@pytest.mark.parametrize("k", [1, 4])
def test_only_neighbours_have_weights(k: int) -> None:
    data = world(3)
    X = data.csr().toarray().astype(np.float64)
    G = X.T @ X
    cosine = G**2 / np.maximum(np.diag(G), 1)[:, None]
    np.fill_diagonal(cosine, 0.0)
    W = SLIM(0.1, 1.0, neighbours=k).fit(data).weights_.toarray()
    for j in range(data.n_items):
        allowed = cosine[:, j] >= np.sort(cosine[:, j])[-k] * (1 - 1e-6)
        assert (W[~allowed, j] == 0).all()
    assert (W > 0).sum() > data.n_items / 2


def test_rows_that_are_not_stored_and_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits whatever part of the Gram matrix is kept, and for any threads."""
    data = world(1, 400, 300)
    found = []
    for stored, n in ((1 << 26, 1), (1 << 26, 2), (20_000, 2), (0, 2)):
        monkeypatch.setattr(slim, "_STORED", stored)
        with threads(n):
            found.append(SLIM(0.3, 3.0).fit(data).weights_)
    for other in found[1:]:
        for part in ("indptr", "indices"):
            np.testing.assert_array_equal(getattr(other, part), getattr(found[0], part))
        np.testing.assert_allclose(other.data, found[0].data, rtol=1e-5)
    np.testing.assert_array_equal(found[0].data, found[1].data)


def test_too_few_cycles_are_said() -> None:
    with pytest.warns(RuntimeWarning, match="after max_iter=1 cycles"):
        SLIM(0.1, 0.1, max_iter=1).fit(world())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"l1_reg": -1.0}, "l1_reg must be >= 0"),
        ({"l2_reg": float("nan")}, "l2_reg must be a finite number"),
        ({"max_iter": 0}, "max_iter must be >= 1"),
        ({"tolerance": 0.0}, "tolerance must be > 0"),
        ({"neighbours": 0}, "neighbours must be >= 1"),
    ],
)
def test_refuses(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        SLIM(**settings)


def test_scores_are_sums_of_weights() -> None:
    data = small_world()
    model = SLIM(0.2, 1.0).fit(data)
    expected = data.csr().toarray() @ model.weights_.toarray()
    np.testing.assert_allclose(model.score(queries_of(data)), expected, rtol=1e-5)
