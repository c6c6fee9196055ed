"""Neighbours by sums over shared users: popular items as bits against sums over all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from fullrank.kernels.together import count_together, without
from fullrank.models import ItemKNN, _together
from fullrank.models._pattern import pattern
from fullrank.models._together import _popular, _shared, split_popular
from fullrank.testing.split import interactions


def world(n_users: int = 700, n_items: int = 150) -> csr_matrix:
    """Popularity from every user down to a few, and two columns that are equal."""
    has = np.random.default_rng(0).random((n_users, n_items)) < np.linspace(1, 0.01, n_items) ** 2
    has[:, 60] = has[:, 61]
    return csr_matrix(has.astype(np.float32))


def test_bits_count_shared_users() -> None:
    X = world()
    items = np.array([0, 3, 40, 149], dtype=np.int32)
    found = _shared(items, pattern(X.T.tocsr()), X.shape[0])
    np.testing.assert_array_equal(found, (X.T @ X).toarray()[np.ix_(items, items)])


def test_popular_items_share_many_users_and_take_little_memory() -> None:
    X = world()
    counts = np.diff(X.T.tocsr().indptr)
    items = _popular(X.T.tocsr().indptr, X.shape[0])
    bound = 16 * X.nnz // X.shape[0]
    assert 0 < len(items) <= bound
    assert counts[items].min() * 37 >= X.shape[0]
    assert len(_popular(np.arange(0, 41, 10), 1000)) == 0


def test_tail_is_the_rest() -> None:
    X = world()
    places = np.full(X.shape[1], -1, dtype=np.int32)
    places[[2, 7]] = [0, 1]
    indptr, items = without(pattern(X), places)
    rest = csr_matrix((np.ones(len(items)), items, indptr), shape=X.shape).toarray()
    expected = X.toarray()
    expected[:, [2, 7]] = 0
    np.testing.assert_array_equal(rest, expected)


@pytest.mark.parametrize("kind", ["cosine", "jaccard"])
@pytest.mark.parametrize("neighbours", [1, 7, 400])
def test_head_changes_nothing(kind: str, neighbours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no item, some items and as many as allowed kept as bits."""
    data = interactions(*world().nonzero())
    found = []
    for one_in in (0, 37, 10**9):
        monkeypatch.setattr(_together, "_ONE_IN", one_in)
        found.append(ItemKNN(kind, neighbours, shrinkage=2.0).fit(data).weights_)  # type: ignore[arg-type]
    for part in ("data", "indices", "indptr"):
        for other in found[1:]:
            np.testing.assert_array_equal(getattr(found[0], part), getattr(other, part))


@pytest.mark.parametrize("popular", [False, True])
def test_counts_of_all_pairs(popular: bool) -> None:
    X = world()
    head, rows, columns = split_popular(X, X.T.tocsr(), some=popular)
    assert (len(head[0]) > 0) == popular
    out = np.zeros((150, 150))
    for start in range(0, 150, 64):
        count_together(start, min(start + 64, 150), rows, columns, head, out)
    np.testing.assert_array_equal(np.triu(out), np.triu((X.T @ X).toarray()))
