"""MF against dense solves and a loop of plain steps; its objective; RMSE below that of biases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.models import MF, BiasOnly, Recommender
from fullrank.split._queries import make_queries
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world, threads
from fullrank.testing.split import interactions


class TestMFALS(RecommenderContract):
    learns_checkerboard = False  # all ratings are the same
    blank_without_history = False

    def make(self) -> MF:
        return MF(embedding_dim=3, epochs=4)


class TestMFUnweighted(TestMFALS):
    def make(self) -> MF:
        return MF(embedding_dim=3, reg=2.0, epochs=4, weighted=False)


class TestMFSGD(TestMFALS):
    ties_twins = False  # each starts from a draw of its own

    def make(self) -> MF:
        return MF(embedding_dim=3, epochs=4, solver="sgd")


def big_world() -> Interactions:
    rng = np.random.default_rng(0)
    users, items = rng.integers(0, 300, 6000), rng.integers(0, 290, 6000)
    return interactions(users, items, values=rng.integers(1, 6, 6000))


def half_step(V: NDArray[Any], others: NDArray[Any], mean: float, reg: float, weighted: bool):
    """Rows by dense solves; NaN where there is no cell."""
    out = np.zeros((len(V), others.shape[1]))
    for r, row in enumerate(V):
        there = ~np.isnan(row)
        if there.any():
            F = np.column_stack([others[there, :-1], np.ones(there.sum())])
            ridge = reg * (there.sum() if weighted else 1) * np.eye(F.shape[1])
            out[r] = np.linalg.solve(F.T @ F + ridge, F.T @ (row[there] - mean - others[there, -1]))
    return out


def table(data: Interactions) -> NDArray[Any]:
    V = np.full((data.n_users, data.n_items), np.nan)
    V[data.users, data.items] = data.values
    return V


@pytest.mark.parametrize("weighted", [True, False])
def test_epochs_by_dense_solves(weighted: bool) -> None:
    data = small_world(8)
    model = MF(4, 0.3, epochs=3, weighted=weighted)
    V = table(data)
    mean = np.nanmean(V)
    items = model._start(data, 2, "item").astype(np.float64)
    items[np.isnan(V).all(axis=0)] = 0.0
    for _ in range(3):
        users = half_step(V, items, mean, 0.3, weighted)
        items = half_step(V.T, users, mean, 0.3, weighted)
    model.fit(data, rng=2)
    np.testing.assert_allclose(model.item_factors(), items, rtol=1e-3, atol=1e-4)
    users = half_step(V, items, mean, 0.3, weighted)
    queries, wanted = queries_of(data), np.arange(data.n_users, dtype=np.int32) % data.n_items
    expected = mean + users[:, -1] + items[wanted, -1]
    expected += (users[:, :-1] * items[wanted, :-1]).sum(axis=1)
    np.testing.assert_allclose(model.predict(queries, wanted), expected, rtol=1e-3)
    scores = items[:, -1] + users[:, :-1] @ items[:, :-1].T
    np.testing.assert_allclose(model.score(queries), scores, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("weighted", [True, False])
def test_objective_never_rises(weighted: bool) -> None:
    data, losses = small_world(1), list[float]()
    V = table(data)
    there = ~np.isnan(V)
    n_u, n_i = there.sum(axis=1), there.sum(axis=0)
    if not weighted:
        n_u, n_i = np.ones(len(n_u)), np.ones(len(n_i))

    def note(epoch: int, model: Recommender) -> bool:
        assert isinstance(model, MF)
        P, Q = (x.astype(np.float64) for x in (model._users(queries_of(data)), model.item_factors_))
        error = V - model.mean_ - P[:, -1:] - Q[:, -1] - P[:, :-1] @ Q[:, :-1].T
        ridge = n_u @ (P**2).sum(axis=1) + n_i @ (Q**2).sum(axis=1)
        losses.append(float(np.nansum(error**2) + 0.1 * ridge))
        return epoch == 9

    MF(5, reg=0.1, epochs=99, weighted=weighted).fit(data, monitor=note)
    assert len(losses) == 10
    assert (np.diff(losses) < 1e-3).all()
    assert losses[-1] < 0.9 * losses[0]


def test_a_step_of_sgd_by_hand() -> None:
    data = interactions(["u", "v"], ["a", "b"], values=[5.0, 3.0])
    model = MF(2, reg=0.1, epochs=1, solver="sgd", learning_rate=0.5)
    p, q = (model._start(data, 3, side).astype(np.float64) for side in ("user", "item"))
    for r, value in enumerate([5.0, 3.0]):
        error = value - 4.0 - p[r, :2] @ q[r, :2]
        q[r] += 0.5 * (error * np.append(p[r, :2], 1.0) - 0.1 * q[r])
    np.testing.assert_allclose(model.fit(data, rng=3).item_factors(), q, rtol=1e-5)


@pytest.mark.parametrize("solver", ["als", "sgd"])
def test_many_chunks_and_threads(solver: Any) -> None:
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(MF(9, epochs=3, solver=solver).fit(big_world(), rng=1).item_factors())
    np.testing.assert_array_equal(*found)


def test_a_row_longer_than_a_block() -> None:
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((700, 3)) < [1.0, 0.5, 0.2])
    data = interactions(users, items, values=rng.integers(1, 6, len(users)))
    P = rng.normal(size=(700, 5)).astype(np.float32)
    model = MF(4, reg=0.2).fit(data)
    found = model._solve(data.csr("values").T.tocsr(), P)
    expected = half_step(table(data).T, P.astype(np.float64), model.mean_, 0.2, True)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("solver", ["als", "sgd"])
def test_beats_biases_on_movielens(real_data: Path, solver: Any) -> None:
    """RMSE on a random tenth of MovieLens 100K."""
    file = real_data / "ml-100k" / "interactions.parquet"
    if not file.exists():
        pytest.skip(f"{file} is absent")
    rows = pl.read_parquet(file)
    columns = [rows[name].to_numpy() for name in ("user_id", "item_id", "rating")]
    data = interactions(*columns[:2], values=columns[2])
    known = np.random.default_rng(0).random(len(data)) < 0.9
    queries = make_queries(data, history=known, targets=~known)
    counts = np.diff(queries.target_indptr)
    rows = np.repeat(np.arange(len(queries)), counts)
    truth = {(u, i): v for u, i, v in zip(data.users, data.items, data.values, strict=True)}
    wanted = [truth[u, i] for u, i in zip(queries.users[rows], queries.target_items, strict=True)]

    def rmse(model: Recommender) -> float:
        model.fit(data.take(known), rng=0)
        found = model.predict(queries[rows], queries.target_items)
        return float(np.sqrt(np.mean((found - np.array(wanted)) ** 2)))

    assert rmse(MF(solver=solver)) < rmse(BiasOnly()) - 0.01


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"embedding_dim": 0}, "embedding_dim must be >= 1"),
        ({"epochs": 0}, "epochs must be >= 1"),
        ({"reg": 0.0}, "reg must be > 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be a finite number"),
        ({"solver": "sdg"}, "did you mean 'sgd'"),
        ({"solver": "sgd", "weighted": False}, "weighted=False needs solver='als'"),
    ],
)
def test_refuses(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        MF(**settings)


def test_says_what_is_missing_or_diverges() -> None:
    with pytest.raises(DataError, match="the training rows have no values"):
        MF().fit(interactions(["u"], ["a"]))
    data = small_world()
    model = MF(2, epochs=1).fit(data)
    with pytest.raises(DataError, match="needs the values of histories"):
        model.score(replace(queries_of(data), history_values=None))
    with pytest.raises(SpecError, match="lower learning_rate"):
        MF(solver="sgd", learning_rate=50.0).fit(data)
