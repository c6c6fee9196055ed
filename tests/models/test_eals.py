"""EALS against dense loops, coordinate by coordinate, and the objective of the docstring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.models import EALS, Recommender
from fullrank.models._draws import alike, normal_draws
from fullrank.models._pattern import turned
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world, threads
from fullrank.testing.split import interactions


class TestEALS(RecommenderContract):
    def make(self) -> EALS:
        return EALS(embedding_dim=5, reg=0.01, c0=5.0, epochs=12)


class TestEALSUniform(RecommenderContract):
    def make(self) -> EALS:
        return EALS(embedding_dim=3, c0=8.0, alpha=0.0, reg=0.1, epochs=8)


def missing(X: NDArray[Any], c0: float, alpha: float) -> NDArray[Any]:
    f = X.sum(axis=0) / X.sum()
    weights = np.where(f > 0, np.maximum(f, 1e-300) ** alpha, 0.0)
    return np.asarray(c0 * weights / weights.sum())


def cycle(X: NDArray[Any], weights: NDArray[Any], x: NDArray[Any], F: NDArray[Any], reg: float):
    """Each coordinate of each row at its optimum, by the definition of the loss."""
    for r in range(len(X)):
        for a in range(F.shape[1]):
            rest = X[r] - (F @ x[r] - F[:, a] * x[r, a])
            x[r, a] = (weights[r] * rest * F[:, a]).sum() / (
                (weights[r] * F[:, a] ** 2).sum() + reg
            )
        if not X[r].any():
            x[r] = 0.0


@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_epochs_by_dense_loops(alpha: float) -> None:
    data = small_world(3)
    model = EALS(4, reg=0.05, c0=6.0, alpha=alpha, epochs=3)
    X = data.csr().toarray().astype(np.float64)
    draws = normal_draws(data.item_vocab, 4, 5, "EALS")
    Q = alike(0.01 * draws, turned(data.csr())).astype(np.float32).astype(np.float64)
    P = np.zeros((data.n_users, 4))
    W = np.where(X > 0, 1.0, missing(X, 6.0, alpha))
    for _ in range(3):
        cycle(X, W, P, Q, 0.05)
        cycle(X.T, W.T, Q, P, 0.05)
    model.fit(data, rng=5)
    np.testing.assert_allclose(model.item_factors(), Q, rtol=2e-3, atol=1e-4)


def test_fold_in_is_the_optimum() -> None:
    data = small_world(3)
    model = EALS(4, reg=0.05, c0=6.0, epochs=10).fit(data)
    X, Q = data.csr().toarray(), model.item_factors().astype(np.float64)
    c = missing(X, 6.0, 0.4)
    found = model.query_factors(queries_of(data))
    for u in range(data.n_users):
        W = np.diag(np.where(X[u] > 0, 1.0, c))
        exact = np.linalg.solve(Q.T @ W @ Q + 0.05 * np.eye(4), Q.T @ X[u])
        np.testing.assert_allclose(found[u], exact, rtol=5e-3, atol=2e-3)


def test_descends() -> None:
    data = small_world(1)
    X = data.csr().toarray().astype(np.float64)
    W, losses = np.where(X > 0, 1.0, missing(X, 10.0, 0.4)), list[float]()

    def note(epoch: int, model: Recommender) -> bool:
        P, Q = model.query_factors(queries_of(data)), model.item_factors()
        assert P is not None
        assert Q is not None
        loss = (W * (X - P.astype(np.float64) @ Q.T) ** 2).sum()
        losses.append(float(loss + 0.02 * ((P**2).sum() + (Q**2).sum())))
        return epoch == 7

    EALS(5, reg=0.02, c0=10.0, epochs=99).fit(data, monitor=note)
    assert len(losses) == 8
    assert (np.diff(losses) < 1e-3).all()
    assert losses[-1] < 0.8 * X.sum()


def test_weights_of_missing_cells() -> None:
    # f = 3/4, 1/4
    data = interactions(["u", "v", "w", "w"], ["a", "a", "a", "b"])
    assert EALS(2, c0=8.0, alpha=1.0).fit(data).missing_.tolist() == pytest.approx([6.0, 2.0])
    assert EALS(2, c0=8.0, alpha=0.0).fit(data).missing_.tolist() == pytest.approx([4.0, 4.0])


def test_many_chunks_and_threads() -> None:
    rng = np.random.default_rng(0)
    data = interactions(rng.integers(0, 300, 6000), rng.integers(0, 290, 6000))
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(EALS(9, epochs=3).fit(data).item_factors())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"embedding_dim": 0}, "embedding_dim must be >= 1"),
        ({"epochs": 0}, "epochs must be >= 1"),
        ({"reg": 0.0}, "reg must be > 0"),
        ({"c0": float("nan")}, "c0 must be a finite number"),
        ({"alpha": -1.0}, "alpha must be >= 0"),
    ],
)
def test_refuses(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        EALS(**settings)
