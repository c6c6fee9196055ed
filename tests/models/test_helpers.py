"""Twins, histories with values, threads, and what importing the package costs."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from threadpoolctl import ThreadpoolController

from fullrank import models as package
from fullrank.core.errors import SpecError
from fullrank.core.threads import blas_libraries
from fullrank.models._sparse import _without_collisions, first_twins, history_values
from fullrank.models._threads import n_threads, one_blas_thread, run_chunks
from fullrank.testing.recommender import queries_of, small_world
from fullrank.testing.split import interactions


@given(seed=st.integers(0, 2**31), n_rows=st.integers(1, 4), n=st.integers(1, 30))
def test_first_twins_by_comparing_all(seed: int, n_rows: int, n: int) -> None:
    X = np.random.default_rng(seed).random((n_rows, n)) < 0.4
    expected = [next(j for j in range(n) if np.array_equal(X[:, i], X[:, j])) for i in range(n)]
    assert first_twins(csr_matrix(X.astype(np.float32))).tolist() == expected


def test_hashes_that_collide_make_no_twins() -> None:
    indptr = np.array([0, 2, 4, 5, 7])
    rows = np.array([0, 1, 0, 2, 3, 0, 1])
    claimed = np.array([0, 0, 0, 0])
    found = _without_collisions(indptr, rows, claimed, np.array([1, 2, 3]))
    assert found.tolist() == [0, 1, 2, 0]


def test_history_values_take_the_last_row() -> None:
    data = interactions(list("aaab"), list("xyxy"), values=[1, 2, 3, 0], times=[0, 1, 2, 3])
    found = history_values(queries_of(data), "test")
    assert found.toarray().tolist() == [[3, 2], [0, 0]]
    assert found.nnz == 3  # a value of 0 is a cell
    nothing = replace(queries_of(data)[:0], history_values=None)
    assert history_values(nothing, "test").shape == (0, 2)


def test_chunks_cover_all_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for n in ("1", "3"):
        monkeypatch.setenv("FULLRANK_THREADS", n)
        assert n_threads() == int(n)
        assert run_chunks(lambda a, b: (a, b), 7, 3) == [(0, 3), (3, 6), (6, 7)]
        assert run_chunks(lambda a, b: (a, b), 0, 3) == []
    monkeypatch.setenv("FULLRANK_THREADS", "two")
    with pytest.raises(SpecError, match="FULLRANK_THREADS must be a whole number"):
        n_threads()
    monkeypatch.delenv("FULLRANK_THREADS")
    assert n_threads() >= 1


def test_blas_is_limited_and_looked_for_again_after_imports(monkeypatch) -> None:
    def threads():
        """Told anew, past what is kept."""
        info = ThreadpoolController().select(user_api="blas").info()
        return {library["num_threads"] for library in info}

    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = threads()
        for _ in range(2):
            with one_blas_thread():
                assert threads() == {1}
            assert threads() == before
    kept = blas_libraries()
    assert blas_libraries() is kept
    monkeypatch.setitem(sys.modules, "brought_a_blas", ModuleType("brought_a_blas"))
    assert blas_libraries() is not kept


def test_chunks_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLRANK_THREADS", "3")
    meeting = threading.Barrier(3, timeout=20)
    run_chunks(lambda a, b: meeting.wait(), 3, 1)  # breaks unless all three are there


LIGHT = [name for name in package.REGISTRY if name not in package.NEURAL]

DRAWS_BY_USER = {"BPRMF", "FISM", "FM", "FPMC", "Item2Vec", "Random", "WARPMF"}
"""Start, order of steps or negatives hang on the ids of users: other names are another seed."""


@pytest.mark.parametrize("name", LIGHT)
def test_smallest_worlds(name: str) -> None:
    for users, items in ((["u"], ["i"]), (["u", "v"], ["i", "i"]), (["u", "u"], ["i", "j"])):
        data = interactions(users, items, values=[3.0] * len(users), times=[5] * len(users))
        scores = getattr(package, name)().fit(data).score(queries_of(data))
        assert scores.shape == (data.n_users, data.n_items)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", [name for name in LIGHT if name not in DRAWS_BY_USER])
def test_users_in_another_order_change_nothing(name: str) -> None:
    """Renaming users, which reorders all rows, moves scores by rounding only."""
    data = small_world(3)
    back = [f"u{99 - int(u[1:]):02d}" for u in data.user_ids]
    turned = interactions(back, data.item_ids, values=data.values, times=data.times)
    kept = data.item_counts > 0
    # few factors are well conditioned; and of few, none of DCF's lies so near 0 that rounding turns
    # its bit, which turns others in steps of 2
    settings = {"embedding_dim": 5} if name in ("IALS", "PureSVD", "DCF") else {}
    left = getattr(package, name)(**settings).fit(data).score(queries_of(data)[:40])
    right = getattr(package, name)(**settings).fit(turned).score(queries_of(turned))
    np.testing.assert_allclose(left[:, kept], right[::-1], rtol=1e-4, atol=1e-5)


def test_import_is_light() -> None:
    code = (
        "import sys, fullrank.models as m; m.EASE(); "
        "print([x for x in ('numba', 'scipy', 'polars', 'pandas', 'torch') if x in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"
