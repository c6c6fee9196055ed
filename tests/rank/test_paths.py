"""Shared rows and sparse products give what the same scores give by the generic path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.rank.test_factors import assert_same
from tests.rank.test_full import world

from fullrank.core.errors import DataError, ScoreError, SpecError
from fullrank.models._base import Recommender
from fullrank.rank import Catalogue, rank


@dataclass(eq=False)
class Shared(Recommender):
    """One row of scores for all."""

    thread_safe: ClassVar[bool] = True
    table: np.ndarray | None = None

    def _fit(self, train, rng, monitor):
        pass

    def _score(self, queries):
        raise AssertionError("the row is enough")

    def shared_scores(self):
        return self.table[0]


@dataclass(eq=False)
class Sparse(Recommender):
    """A product of two sparse matrices, of whole numbers."""

    thread_safe: ClassVar[bool] = True
    left: csr_matrix | None = None
    right: csr_matrix | None = None

    def _fit(self, train, rng, monitor):
        pass

    def _score(self, queries):
        raise AssertionError("the factors are enough")

    def sparse_product(self, queries):
        return self.left[queries.users], self.right


def roles(rng, q, c, shares):
    role = rng.choice(3, (q, c), p=shares)
    histories = [np.flatnonzero(role[u] == 1).tolist() for u in range(q)]
    targets = [np.flatnonzero(role[u] == 2).tolist() for u in range(q)]
    known = rng.random(c) < 0.8
    known[0] = True
    return [h + h[:2] for h in histories], targets, known


SHARES = st.sampled_from([(0.4, 0.3, 0.3), (0, 0.5, 0.5), (0.9, 0.05, 0.05), (1, 0, 0)])
WORLD = (st.integers(1, 6), st.integers(1, 300), SHARES, st.integers(0, 2**32))


@given(*WORLD, st.integers(0, 40), st.sampled_from([1, 2, 30, 10_000]), st.sampled_from([1, 2, 4]))
def test_shared_rows(q, c, shares, seed, k, levels, threads):
    rng = np.random.default_rng(seed)
    row = rng.integers(-levels, levels, c).astype(np.float32)
    row[rng.random(c) < 0.1] = -np.inf
    table = np.tile(row, (q, 1))
    histories, targets, known = roles(rng, q, c, shares)
    plain, queries = world(table, histories, targets, known=known)
    shared = Shared(table=table)
    shared.__dict__.update({n: v for n, v in plain.__dict__.items() if n.endswith("_")})
    assert_same(rank(shared, queries, k=k, threads=threads), rank(plain, queries, k=k))


@given(*WORLD, st.integers(0, 40), st.sampled_from([0.0, 0.02, 0.3]), st.sampled_from([1, 2, 4]))
def test_sparse_products(q, c, shares, seed, k, density, threads):
    rng = np.random.default_rng(seed)

    def some(rows, columns):
        values = rng.integers(-2, 5, (rows, columns)).astype(np.float32)
        return csr_matrix(values * (rng.random((rows, columns)) < density))

    left, right = some(q, 8), some(8, c)
    right.data[rng.random(right.nnz) < 0.05] = -np.inf
    left.data = np.abs(left.data) + 1  # -inf times a negative number is +inf, an error
    histories, targets, known = roles(rng, q, c, shares)
    table = np.zeros((q, c))
    for u in range(q):
        for j in left.indices[left.indptr[u] : left.indptr[u + 1]]:
            part = slice(right.indptr[j], right.indptr[j + 1])
            table[u, right.indices[part]] += left[u, j] * right.data[part].astype(np.float64)
    plain, queries = world(table.astype(np.float32), histories, targets, known=known)
    sparse = Sparse(left=left, right=right)
    sparse.__dict__.update({n: v for n, v in plain.__dict__.items() if n.endswith("_")})
    assert_same(rank(sparse, queries, k=k, threads=threads), rank(plain, queries, k=k))


@pytest.mark.parametrize("target", [[2], [0]])
def test_bad_scores_of_a_sparse_product(target):
    right = csr_matrix(np.array([[0, 1, np.nan, 3]], np.float32))
    plain, queries = world(np.zeros((2, 4), np.float32), [[], []], [target, [1]])
    sparse = Sparse(left=csr_matrix(np.array([[0.0], [1.0]], np.float32)), right=right)
    sparse.__dict__.update({n: v for n, v in plain.__dict__.items() if n.endswith("_")})
    with pytest.raises(ScoreError, match=r"Sparse scored NaN or .inf for user 1 and item 2"):
        rank(sparse, queries, k=2)


def test_a_bad_score_in_the_history_of_all_is_no_candidate():
    table = np.array([[np.nan, 1, 2, 3]], np.float32)
    plain, queries = world(table, [[0]], [[1]])
    shared = type("Partly", (Shared,), {"_score": lambda self, queries: self.table.copy()})
    shared = shared(table=table)
    shared.__dict__.update({n: v for n, v in plain.__dict__.items() if n.endswith("_")})
    assert rank(shared, queries).targets.best.tolist() == [3]


def test_shapes_are_named():
    plain, queries = world(np.zeros((2, 4), np.float32), [[], []], [[0], [1]])
    attributes = {n: v for n, v in plain.__dict__.items() if n.endswith("_")}
    sparse = Sparse(left=csr_matrix((2, 1)), right=csr_matrix((1, 5)))
    sparse.__dict__.update(attributes)
    with pytest.raises(ScoreError, match=r"gave \(2, 1\) and \(1, 5\), expected \(2, m\) and"):
        rank(sparse, queries)
    shared = Shared(table=np.zeros((1, 3), np.float32))
    shared.__dict__.update(attributes)
    with pytest.raises(ScoreError, match=r"shared_scores gave float32 \(3,\), expected"):
        rank(shared, queries)


@pytest.mark.parametrize("path", ["shared", "factors", "sparse"])
def test_a_subclass_with_scores_of_its_own_is_ranked_by_them(path):
    """Inherited factors, rows and matrices no longer speak for it."""
    table = np.array([[1, 2, 3, 4]], np.float32)
    plain, queries = world(table, [[]], [[0]])

    class Parent(Recommender):
        thread_safe = True

        def _fit(self, train, rng, monitor):
            pass

        if path == "shared":

            def shared_scores(self):
                return table[0]

        elif path == "factors":

            def item_factors(self):
                return table.T.copy()

            def query_factors(self, queries):
                return np.ones((len(queries), 1), np.float32)

        else:

            def sparse_product(self, queries):
                return csr_matrix(np.ones((len(queries), 1), np.float32)), csr_matrix(table)

    class Child(Parent):
        def _score(self, queries):
            return -super()._score(queries)

    for kind, best in ((Parent, 4), (Child, 1)):
        model = kind()
        model.__dict__.update({n: v for n, v in plain.__dict__.items() if n.endswith("_")})
        assert rank(model, queries, k=2).targets.best.tolist() == [best]


def test_a_model_that_shows_nothing_is_told_so():
    plain, queries = world(np.zeros((1, 2), np.float32), [[]], [[0]])

    class Empty(Recommender):
        def _fit(self, train, rng, monitor):
            pass

    model = Empty()
    model.__dict__.update({n: v for n, v in plain.__dict__.items() if n.endswith("_")})
    with pytest.raises(NotImplementedError, match="Empty must define _score, or shared_scores"):
        rank(model, queries)


def fitted_as(model, plain):
    model.__dict__.update({n: v for n, v in plain.__dict__.items() if n.endswith("_")})
    return model


@pytest.mark.parametrize("kind", ["csc", "coo", "lil"])
def test_any_sparse_format_will_do(kind):
    rng = np.random.default_rng(0)
    left, right = (csr_matrix(rng.integers(0, 3, s).astype(np.float32)) for s in ((4, 6), (6, 30)))
    table = (left @ right).toarray()
    plain, queries = world(table, [[]] * 4, [[1, 5]] * 4)
    sparse = Sparse(left=left, right=right.asformat(kind))
    assert_same(rank(fitted_as(sparse, plain), queries, k=5), rank(plain, queries, k=5))


def test_sums_of_float64_matrices_are_not_rounded_before():
    plain, queries = world(np.zeros((1, 4), np.float32), [[]], [[1]])
    right = csr_matrix(np.array([[0, 1 + 1e-9, 1, 2], [0, -1, -1, -2]]))
    sparse = fitted_as(Sparse(left=csr_matrix(np.ones((1, 2))), right=right), plain)
    got = rank(sparse, queries, k=1)
    assert (got.targets.best[0], got.targets.worst[0], got.top.items[0, 0]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("both", "message"),
    [
        (None, "gave NoneType, expected two sparse"),
        (csr_matrix((2, 2)), "gave csr_matrix, expected two sparse"),
        ((np.zeros((2, 1)), csr_matrix((1, 4))), "gave ndarray, csr_matrix, expected two sparse"),
    ],
)
def test_what_is_no_pair_of_sparse_matrices_is_named(both, message):
    plain, queries = world(np.zeros((2, 4), np.float32), [[], []], [[0], [1]])
    answers = [(csr_matrix((1, 1)), csr_matrix((1, 4))), both]
    sparse = fitted_as(Sparse(), plain)
    kind = type("Odd", (Sparse,), {"sparse_product": lambda self, queries: answers.pop(0)})
    sparse.__class__ = kind
    with pytest.raises(ScoreError, match=message):
        rank(sparse, queries)


def test_indices_outside_a_sparse_matrix_are_refused():
    plain, queries = world(np.zeros((2, 4), np.float32), [[], []], [[0], [1]])
    right = csr_matrix(np.ones((1, 4), np.float32))
    right.indices[3] = 1000
    sparse = fitted_as(Sparse(left=csr_matrix(np.ones((2, 1), np.float32)), right=right), plain)
    with pytest.raises(ScoreError, match="gave a broken matrix"):
        rank(sparse, queries)


@pytest.mark.parametrize("parent", ["scores", "shared"])
def test_factors_that_a_subclass_adds_speak_for_it(parent):
    table = np.array([[1, 2, 3, 4]], np.float32)
    plain, queries = world(table, [[]], [[0]])
    base = type(plain) if parent == "scores" else Shared

    class Added(base):
        def item_factors(self):
            return -table.T.copy()

        def query_factors(self, queries):
            return np.ones((len(queries), 1), np.float32)

    model = fitted_as(Added(table=table), plain)
    np.testing.assert_array_equal(model.score(queries), -table)
    assert rank(model, queries, k=2).targets.best.tolist() == [1]
    model._score = lambda queries: table
    np.testing.assert_array_equal(model.score(queries), table)
    assert rank(model, queries, k=2).targets.best.tolist() == [4]


def test_arguments_are_checked():
    plain, queries = world(np.zeros((1, 4), np.float32), [[]], [[0]])
    for name, value in (("k", 2.5), ("k", True), ("k", "10"), ("threads", 0), ("memory", -1)):
        with pytest.raises(SpecError, match=f"{name} must be a whole number"):
            rank(plain, queries, **{name: value})
    shared = fitted_as(Shared(table=np.zeros((1, 4), np.float32)), plain)
    with pytest.raises(SpecError, match="threads must be a whole number of 1 or more, got -3"):
        rank(shared, queries, threads=-3)


def test_a_catalogue_made_for_other_queries_is_refused():
    plain, queries = world(np.zeros((3, 4), np.float32), [[]] * 3, [[0]] * 3)
    catalogue = Catalogue(np.ones(4, bool), "all").restricted(
        queries, np.arange(3), np.array([0, 1, 2])
    )
    rank(plain, queries, catalogue=catalogue)
    for other in (queries[:2], queries[np.array([2, 1, 0])]):
        with pytest.raises(DataError, match="made for other queries"):
            rank(plain, other, catalogue=catalogue)
    with pytest.raises(DataError, match="mask of bool over the items, got float64"):
        rank(plain, queries, catalogue=np.ones(4))
