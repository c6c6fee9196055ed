"""EASE against the formula with numpy.linalg.inv, and its refusal of what doesn't fit."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SpecError, TooLargeError
from fullrank.models import EASE
from fullrank.models import _memory as memory
from fullrank.models.ease import check_memory
from fullrank.testing.recommender import TWINS, queries_of, small_world, threads
from fullrank.testing.split import interactions


@pytest.mark.parametrize("reg", [0.5, 20.0])
def test_formula(reg: float) -> None:
    data = small_world(3)
    X = data.csr().toarray().astype(np.float64)
    P = np.linalg.inv(X.T @ X + reg * np.eye(X.shape[1]))
    B = -P / np.diag(P)
    np.fill_diagonal(B, 0.0)
    scores = EASE(reg=reg).fit(data).score(queries_of(data))
    np.testing.assert_allclose(scores, X @ B, rtol=1e-5, atol=1e-6)


def test_objective_is_at_its_minimum() -> None:
    data = small_world(6)
    X = data.csr().toarray().astype(np.float64)
    model = EASE(reg=3.0).fit(data)
    B = np.zeros((25, 25))
    known = np.flatnonzero(model.places_ >= 0)
    B[np.ix_(known, known)] = model.weights_

    def loss(B: np.ndarray) -> float:
        return float(((X - X @ B) ** 2).sum() + 3.0 * (B**2).sum())

    rng = np.random.default_rng(0)
    for _ in range(20):
        step = rng.normal(size=B.shape) * 1e-2
        np.fill_diagonal(step, 0.0)
        assert loss(B) < loss(B + step)


def test_blocks_of_the_inverse() -> None:
    """More items than a panel, so that the inverse is put together from several."""
    rng = np.random.default_rng(0)
    data = interactions(rng.integers(0, 200, 12_000), rng.integers(0, 1100, 12_000))
    X = data.csr().toarray().astype(np.float64)
    P = np.linalg.inv(X.T @ X + 10 * np.eye(X.shape[1]))
    B = -P / np.diag(P)
    np.fill_diagonal(B, 0.0)
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(EASE(reg=10.0).fit(data).weights_)
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], B, atol=1e-6)


def test_twins_among_themselves() -> None:
    weights = EASE(reg=2.0).fit(small_world()).weights_
    among = weights[np.ix_(TWINS, TWINS)]
    assert len(np.unique(among[~np.eye(3, dtype=bool)])) == 1
    assert (np.diag(weights) == 0).all()


def test_twins_tie_where_the_inverse_is_noisy() -> None:
    """Without almost any ridge the Gram matrix of twins is singular up to 1e-7."""
    data = small_world(2)
    queries = queries_of(data)
    without = np.asarray(queries.history_csr()[:, list(TWINS)].sum(axis=1)).ravel() == 0
    scores = EASE(reg=1e-7).fit(data).score(queries)[without][:, list(TWINS)]
    assert (scores == scores[:, :1]).all()


def test_refuses_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    check_memory(9_000)  # 12 * 9000^2 = 0.905 GiB
    with pytest.raises(TooLargeError, match=r"10,000 items .*1\.1 GiB and 1\.0 GiB .*ItemKNN"):
        check_memory(10_000)
    monkeypatch.setattr(memory, "available_memory", lambda: 100)
    with pytest.raises(TooLargeError):
        EASE().fit(small_world())


def test_available_memory_heeds_a_container(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    for name, text in (("limit", "5000"), ("used", "2000"), ("info", "MemAvailable: 9 kB\n")):
        (folder / name).write_text(text)
    monkeypatch.setattr(memory, "_MEMINFO", folder / "info")
    monkeypatch.setattr(memory, "_CGROUP_LIMIT", folder / "none")
    assert memory.available_memory() == 9 * 1024
    monkeypatch.setattr(memory, "_CGROUP_LIMIT", folder / "limit")
    monkeypatch.setattr(memory, "_CGROUP_USED", folder / "used")
    assert memory.available_memory() == 3000
    (folder / "limit").write_text("max\n")
    assert memory.available_memory() == 9 * 1024


def test_reg_must_be_positive() -> None:
    with pytest.raises(SpecError, match="reg must be > 0"):
        EASE(reg=0.0)
