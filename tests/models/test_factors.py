"""PureSVD and IALS against dense references."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.models import IALS, PureSVD, Recommender, pure_svd
from fullrank.models._pattern import pattern
from fullrank.models._ridge import Solver
from fullrank.models.ials import _initial
from fullrank.models.pure_svd import _singular
from fullrank.testing.recommender import TWINS, queries_of, small_world, threads
from fullrank.testing.split import interactions


def big_world(n_users: int = 320, n_items: int = 290) -> Interactions:
    """Sides above the limit of the dense decomposition; some items are popular."""
    rng = np.random.default_rng(2)
    items = (rng.random(6000) ** 2 * n_items).astype(np.int64)
    return interactions(rng.integers(0, n_users, 6000), items)


@pytest.mark.parametrize(("world", "d"), [(small_world, 5), (big_world, 7), (small_world, 500)])
def test_svd_projects_on_the_leading_vectors(world: Any, d: int) -> None:
    data = world()
    X = data.csr().toarray().astype(np.float64)
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = min(d, int(np.linalg.matrix_rank(X)))
    V = Vt[:kept].T
    model = PureSVD(embedding_dim=d).fit(data)
    np.testing.assert_allclose(model.score(queries_of(data)), X @ V @ V.T, atol=2e-5)
    np.testing.assert_allclose(model.singular_values_, s[:kept], atol=1e-9)


def test_svd_signs_and_threads() -> None:
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(PureSVD(embedding_dim=7).fit(big_world()).item_factors())
    np.testing.assert_array_equal(*found)
    V = found[0]
    assert (V[np.abs(V).argmax(axis=0), np.arange(7)] > 0).all()


def test_svd_twins_share_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever noise the decomposition leaves."""

    def noisy(*args: Any) -> Any:
        values, vectors = _singular(*args)
        return values, vectors + np.random.default_rng(0).normal(size=vectors.shape) * 1e-5

    monkeypatch.setattr(pure_svd, "_singular", noisy)
    V = PureSVD(embedding_dim=4).fit(small_world()).item_factors()[list(TWINS)]
    assert (V[0] == V).all()


def loss(X: NDArray[Any], W: NDArray[Any], H: NDArray[Any], model: IALS) -> float:
    """The objective of the docstring, over all cells."""
    a0 = model.unobserved_weight
    P = W @ H.T
    users, items = X.sum(axis=1), X.sum(axis=0)
    n_users, n_items = (users > 0).sum(), (items > 0).sum()
    ridge = ((users + a0 * n_items) ** model.nu) @ (W**2).sum(axis=1)
    ridge += ((items + a0 * n_users) ** model.nu) @ (H**2).sum(axis=1)
    return float((X * (1 - P) ** 2).sum() + a0 * (P**2).sum() + model.reg * ridge)


def half_step(X: NDArray[Any], H: NDArray[Any], n_others: int, model: IALS) -> NDArray[Any]:
    """All rows, each by a dense solve."""
    a0, d = model.unobserved_weight, H.shape[1]
    out = np.zeros((len(X), d))
    for u, row in enumerate(X):
        mine = H[row > 0]
        reg = model.reg * (len(mine) + a0 * n_others) ** model.nu
        out[u] = np.linalg.solve(mine.T @ mine + a0 * H.T @ H + reg * np.eye(d), mine.sum(axis=0))
    return out


@pytest.mark.parametrize("nu", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("d", "solver"), [(1, "cg"), (6, "cholesky"), (6, "cg")])
def test_ials_epochs_by_dense_solves(nu: float, d: int, solver: Solver) -> None:
    data = small_world(8)
    model = IALS(d, 0.05, 0.2, nu, epochs=2, solver=solver, tolerance=1e-6)
    X = data.csr().toarray().astype(np.float64)
    n_users, n_items = int(X.any(axis=1).sum()), int(X.any(axis=0).sum())
    H = _initial(data.item_vocab, d, 4)
    H[~X.any(axis=0)] = 0.0
    for _ in range(2):
        W = half_step(X, H, n_items, model)
        H = half_step(X.T, W, n_users, model)
    model.fit(data, rng=4)
    np.testing.assert_allclose(model.item_factors(), H, rtol=1e-4, atol=1e-5)
    folded = half_step(X, H, n_items, model)
    np.testing.assert_allclose(model.query_factors(queries_of(data)), folded, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.score(queries_of(data)), folded @ H.T, rtol=1e-4, atol=1e-5)


def test_ials_descends() -> None:
    data = small_world(1)
    X = data.csr().toarray().astype(np.float64)
    losses: list[float] = []

    def note(epoch: int, model: Recommender) -> bool:
        assert epoch == len(losses)
        W, H = model.query_factors(queries_of(data)), model.item_factors()
        assert W is not None
        assert H is not None
        losses.append(loss(X, W.astype(np.float64), H.astype(np.float64), model))  # type: ignore[arg-type]
        return False

    IALS(embedding_dim=5, epochs=8, reg=0.02).fit(data, rng=0, monitor=note)
    assert len(losses) == 8
    assert (np.diff(losses) < 1e-4).all()
    assert losses[-1] < 0.95 * losses[0]


def test_ials_stops_when_told() -> None:
    data = small_world()
    stopped = IALS(embedding_dim=3, epochs=9).fit(data, monitor=lambda epoch, model: epoch == 1)
    two = IALS(embedding_dim=3, epochs=2).fit(data)
    np.testing.assert_array_equal(stopped.item_factors(), two.item_factors())


@pytest.mark.parametrize("solver", ["cg", "cholesky"])
def test_ials_many_chunks_and_threads(solver: Solver) -> None:
    found = []
    for n in (1, 2):
        with threads(n):
            model = IALS(embedding_dim=9, epochs=2, solver=solver)
            found.append(model.fit(big_world(), rng=1).item_factors())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n", [600, 40_000])
def test_ials_rows_longer_than_a_block(n: int) -> None:
    """Users of one item whose factors are summed in several blocks, and gathered anew in part."""
    rng = np.random.default_rng(0)
    has = rng.random((n, 12)) < np.linspace(1.0, 0.1, 12)
    data = interactions(*np.nonzero(has))
    X = has.astype(np.float64)
    W = rng.normal(size=(n, 4))
    for solver in ("cg", "cholesky"):
        model = IALS(4, solver=solver, tolerance=1e-6).fit(data)
        rows = pattern(csr_matrix(X.T))
        shared = model._shared(W.astype(np.float32), pattern(csr_matrix(X)), rows, n)
        np.testing.assert_allclose(
            model._solve(rows, shared), half_step(X.T, W, n, model), rtol=1e-4, atol=1e-5
        )


def test_ials_default_is_nearly_exact() -> None:
    data = big_world()
    exact, few = (
        IALS(embedding_dim=16, epochs=4, solver=solver).fit(data).score(queries_of(data))
        for solver in ("cholesky", "cg")
    )
    assert 0 < np.sqrt(np.mean((few - exact) ** 2)) < 0.02 * np.sqrt(np.mean(exact**2))


def test_ials_starts_from_normal_draws() -> None:
    vocab = interactions([0] * 4000, list(range(4000))).item_vocab
    draws = _initial(vocab, 25, 0) / (0.1 / 5)
    assert abs(draws.mean()) < 0.02
    assert draws.std() == pytest.approx(1.0, abs=0.02)
    assert (np.abs(draws) < 1.96).mean() == pytest.approx(0.95, abs=0.005)
    assert abs(np.corrcoef(draws[:, 0], draws[:, 1])[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"embedding_dim": 0}, "embedding_dim must be >= 1"),
        ({"epochs": 0}, "epochs must be >= 1"),
        ({"reg": 0.0}, "reg must be > 0"),
        ({"unobserved_weight": -1.0}, "unobserved_weight must be > 0"),
        ({"nu": -0.5}, "nu must be >= 0"),
        ({"tolerance": 0.0}, "tolerance must be > 0"),
        ({"solver": "cholesk"}, "did you mean 'cholesky'"),
    ],
)
def test_ials_refuses(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        IALS(**settings)


def test_svd_refuses() -> None:
    with pytest.raises(SpecError, match="embedding_dim must be >= 1"):
        PureSVD(embedding_dim=0)


@pytest.mark.parametrize("solver", ["cg", "cholesky"])
@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"nu": 0.0, "reg": 1e-12}, "raise reg or lower embedding_dim"),
        ({"nu": 200.0}, "lower nu"),
        ({"reg": 1e38}, "lower reg"),
        ({"reg": 1e300}, "lower reg"),
        ({"unobserved_weight": 1e200, "reg": 1e-200}, "lower unobserved_weight"),
    ],
)
def test_equations_that_float32_cannot_solve_are_named(solver, settings, remedy):
    told = f"IALS: the equations can't be solved in float32 with reg=.*; {remedy}$"
    with pytest.raises(SpecError, match=told):
        IALS(embedding_dim=64, solver=solver, **settings).fit(small_world())
