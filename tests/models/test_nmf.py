"""NMF against scikit-learn: the same factors from the same start, the same objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import decomposition

from fullrank.core.errors import DataError, SpecError
from fullrank.models import NMF, Recommender
from fullrank.models._draws import alike, normal_draws
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world, threads
from fullrank.testing.split import interactions


class TestNMF(RecommenderContract):
    def make(self) -> NMF:
        return NMF(embedding_dim=4, l2_reg=0.1, epochs=40)


class TestNMFValues(RecommenderContract):
    def make(self) -> NMF:
        return NMF(embedding_dim=3, l1_reg=0.1, values=True, epochs=20)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.2, 0.5), (0.0, 2.0)])
@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_epochs_of_scikit_learn(values: bool, l1: float, l2: float) -> None:
    data, d, epochs = small_world(2), 5, 12
    X = data.csr("values" if values else "binary").astype(np.float64)
    draws = np.abs(normal_draws(data.item_vocab, d, 4, "NMF"))
    met = np.count_nonzero(X.getnnz(axis=1)) * np.count_nonzero(X.getnnz(axis=0))
    H = alike(draws, X.T.tocsr()).T * np.sqrt(X.sum() / met / d)
    W = np.zeros((data.n_users, d))
    W[0, 0] = 1e-30  # it refuses zeros alone
    W, H, _ = decomposition.non_negative_factorization(
        X,
        W=W,
        H=H,
        n_components=d,
        init="custom",
        tol=0.0,
        max_iter=epochs,
        alpha_W=(l1 + l2) / data.n_items,
        alpha_H=(l1 + l2) / data.n_users,
        l1_ratio=l1 / (l1 + l2) if l1 else 0.0,
    )
    model = NMF(d, l1, l2, values, epochs).fit(data, rng=4)
    np.testing.assert_allclose(model.item_factors(), H.T, rtol=2e-3, atol=2e-4)


def test_objective_of_scikit_learn() -> None:
    """From starts of their own, near enough the same optimum."""
    rng = np.random.default_rng(0)
    likes = rng.random((120, 3)) @ rng.random((3, 60)) / 3
    data = interactions(*np.nonzero(rng.random(likes.shape) < likes * 0.8))
    X = data.csr().astype(np.float64)
    theirs = (
        decomposition.NMF(6, init="nndsvda", tol=1e-9, max_iter=2000, random_state=0)
        .fit(X)
        .reconstruction_err_
        ** 2
    )
    ours = []
    for seed in range(3):
        model = NMF(6, 0.0, 0.0, epochs=800).fit(data, rng=seed)
        W, H = model.query_factors(queries_of(data)), model.item_factors()
        ours.append(((X.toarray() - W.astype(np.float64) @ H.T) ** 2).sum())
    assert min(ours) < 1.01 * theirs


def test_descends_and_stops() -> None:
    data, losses = small_world(1), list[float]()
    X = data.csr().toarray().astype(np.float64)

    def note(epoch: int, model: Recommender) -> bool:
        W, H = model.query_factors(queries_of(data)), model.item_factors()
        assert W is not None
        assert H is not None
        assert min(W.min(), H.min()) >= 0
        loss = ((X - W.astype(np.float64) @ H.T) ** 2).sum() / 2
        losses.append(float(loss + 0.5 / 2 * ((W**2).sum() + (H**2).sum())))
        return epoch == 9

    NMF(5, l2_reg=0.5, epochs=99).fit(data, monitor=note)
    assert len(losses) == 10
    assert (np.diff(losses) < 1e-3).all()


def test_many_chunks_and_threads() -> None:
    rng = np.random.default_rng(0)
    data = interactions(rng.integers(0, 300, 6000), rng.integers(0, 290, 6000))
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(NMF(9, epochs=3).fit(data).item_factors())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"embedding_dim": 0}, "embedding_dim must be >= 1"),
        ({"epochs": 0}, "epochs must be >= 1"),
        ({"l1_reg": -1.0}, "l1_reg must be >= 0"),
        ({"l2_reg": float("nan")}, "l2_reg must be a finite number"),
    ],
)
def test_refuses(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        NMF(**settings)


def test_needs_values_that_are_not_negative() -> None:
    with pytest.raises(DataError, match="factorises values and the training rows have none"):
        NMF(values=True).fit(interactions(["u"], ["a"]))
    with pytest.raises(DataError, match="needs values >= 0 and the training rows have -1"):
        NMF(values=True).fit(interactions(["u"], ["a"], values=[-1.0]))
