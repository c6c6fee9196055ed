"""The contract of a recommender: what every model must hold, as tests to inherit.

A test of a model is three lines plus what is special to it::

    class TestMine(RecommenderContract):
        def make(self) -> Recommender:
            return Mine(reg=1.0)
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, NotFittedError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import Recommender
from fullrank.rank import rank

TWINS = (3, 11, 17)
"""Items of ``small_world`` that the same users have, with the same values and times."""

N_KNOWN, N_UNKNOWN = 40, 3
"""Users of ``small_world`` with training rows, and users without."""


def small_world(seed: int = 0) -> Interactions:
    """A small log of ratings: 40 users of 43 have rows, 24 items of 25; three items are twins.

    Args:
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    has = rng.random((N_KNOWN + N_UNKNOWN, 25)) < np.linspace(0.6, 0.1, 25)
    has[:, TWINS[1:]] = has[:, TWINS[:1]]
    has[N_KNOWN:] = False
    has[:, -1] = False
    values = rng.integers(1, 6, has.shape).astype(np.float64)
    values[:, TWINS[1:]] = values[:, TWINS[:1]]
    users, items = np.nonzero(has)
    times = users * 1000 + np.where(np.isin(items, TWINS), TWINS[0], items)
    return Interactions(
        users.astype(np.int32),
        items.astype(np.int32),
        Vocabulary.of([f"u{x:02d}" for x in range(len(has))], "user"),
        Vocabulary.of([f"i{x:02d}" for x in range(25)], "item"),
        values=values[users, items],
        times=times * 3600,
    )


def checkerboard(n: int = 30) -> tuple[Interactions, Queries]:
    """Users have the items of their own parity, but for item u of user u, which is to be found.

    After Frederickson's checkerboard in the tests of *implicit*: a model that has learnt anything
    puts the hidden diagonal first among the items that a user doesn't have.

    Args:
        n: number of users, and of items.
    """
    rows, columns = np.indices((n, n))
    full = (rows + columns) % 2 == 0
    users, items = np.nonzero(full & (rows != columns))
    train = Interactions(
        users.astype(np.int32),
        items.astype(np.int32),
        Vocabulary.of(list(range(n)), "user"),
        Vocabulary.of(list(range(n)), "item"),
        values=np.full(len(users), 4.0),
        times=np.arange(len(users), dtype=np.int64),
    )
    return train, queries_of(train, targets=[[u] for u in range(n)])


def queries_of(data: Interactions, targets: list[list[int]] | None = None) -> Queries:
    """One query a user of the vocabulary, whose history is all the user's rows."""
    n = data.n_users
    histories = [data.items[data.user_indptr[u] : data.user_indptr[u + 1]] for u in range(n)]
    queries = Queries.from_lists(
        np.arange(n, dtype=np.int32),
        [h.tolist() for h in histories],
        [[] for _ in range(n)] if targets is None else targets,
        user_vocab=data.user_vocab,
        item_vocab=data.item_vocab,
    )
    return replace(queries, history_values=data.values, history_times=data.times)


@dataclass(eq=False)
class _Table(Recommender):
    """Scores looked up by user: what any model's scores are worth by the generic path."""

    table: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def _fit(self, train: Interactions, rng: RNG, monitor: object) -> None:
        pass

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        return self.table[queries.users]


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Run with ``n`` threads of our own and ``n`` BLAS threads."""
    from threadpoolctl import threadpool_limits

    before = os.environ.get("FULLRANK_THREADS")
    os.environ["FULLRANK_THREADS"] = str(n)
    try:
        with threadpool_limits(limits=n, user_api="blas"):
            yield
    finally:
        del os.environ["FULLRANK_THREADS"]
        if before is not None:
            os.environ["FULLRANK_THREADS"] = before


def _same(left: NDArray[Any], right: NDArray[Any]) -> None:
    np.testing.assert_array_equal(left, right)


_FITTED: dict[str, Recommender] = {}


class RecommenderContract:
    """Say how to ``make`` the model; each method is a test.

    The attributes are switches: set one to False for what the model does not claim.

    Attributes:
        learns_checkerboard: the model finds the hidden diagonal of ``checkerboard``. Not so for
            models without personal taste, such as popularity or random scores.
        ties_twins: items that the same users have, with the same values and times, get equal
            scores from queries without any of them. Not so for models that start items at random.
        blank_without_history: a query without history scores all items alike. Not so for models
            that know what to say then, such as popularity.
    """

    learns_checkerboard: ClassVar[bool] = True
    ties_twins: ClassVar[bool] = True
    blank_without_history: ClassVar[bool] = True

    def make(self) -> Recommender:
        """A new model with settings that suit 40 users and 25 items."""
        raise NotImplementedError("a contract test says how to make its model")

    def fitted(self) -> tuple[Recommender, Queries]:
        """The model fitted on the small world, and a query of each user; one fit for all tests."""
        data, model = small_world(), self.make()
        key = f"{type(self).__name__} {model!r}"
        if key not in _FITTED:
            _FITTED[key] = model.fit(data, rng=1)
        return _FITTED[key], queries_of(data)

    def test_shape_and_dtype(self) -> None:
        """Scores are float32 ``[q, n_items]``, finite, and may be written to."""
        model, queries = self.fitted()
        scores = model.score(queries)
        assert scores.shape == (len(queries), queries.n_items)
        assert scores.dtype == np.float32
        assert np.isfinite(scores).all()
        scores[:] = -np.inf
        assert np.isfinite(model.score(queries)).all()
        assert model.score(queries[:0]).shape == (0, queries.n_items)

    def test_some_items(self) -> None:
        """``items=`` gives the columns of the whole, in the order asked for."""
        model, queries = self.fitted()
        some = np.array([7, 2, 24], dtype=np.int32)
        _same(model.score(queries, some), model.score(queries)[:, some])

    def test_score_pairs(self) -> None:
        """Candidates get the scores that they have among all items."""
        model, queries = self.fitted()
        indptr = np.arange(len(queries) + 1, dtype=np.int64) * 2
        items = np.tile(np.array([5, 24], dtype=np.int32), len(queries))
        pairs = model.score_pairs(queries, indptr, items)
        _same(pairs.reshape(-1, 2), model.score(queries)[:, [5, 24]])

    def test_alone_as_in_a_block(self) -> None:
        """Scores of a query are the same bits alone, in any block and at any place in it."""
        model, queries = self.fitted()
        whole = model.score(queries)
        for size in (1, 2, 7, 32):
            starts = range(0, len(queries), size)
            _same(np.vstack([model.score(queries[s : s + size]) for s in starts]), whole)
        order = np.random.default_rng(0).permutation(len(queries))
        _same(model.score(queries[order]), whole[order])

    def test_history_order(self) -> None:
        """Models that don't use the order of the history give the same bits for any."""
        model, queries = self.fitted()
        if model.uses_order:
            return
        rows = np.repeat(np.arange(len(queries)), queries.history_counts)
        back = np.lexsort((-np.arange(len(rows)), rows))
        values = queries.history_values
        turned = replace(
            queries,
            history_items=queries.history_items[back],
            history_values=None if values is None else values[back],
        )
        _same(model.score(turned), model.score(queries))

    def test_unknown_and_empty_users(self) -> None:
        """Users without training rows are scored, with a history and without."""
        model, queries = self.fitted()
        empty = queries.history_counts == 0
        assert empty.sum() == N_UNKNOWN
        scores = model.score(queries[empty])
        assert np.isfinite(scores).all()
        if self.blank_without_history:
            assert (scores == scores[:, :1]).all()
        if model.folds_in:
            stranger = replace(
                queries[:1],
                users=np.zeros(1, np.int32),
                user_vocab=Vocabulary.of(["nobody"], "user"),
            )
            assert np.isfinite(model.score(stranger)).all()

    def test_checkerboard(self) -> None:
        """The hidden diagonal is first among the items that a user doesn't have."""
        if not self.learns_checkerboard:
            return
        train, queries = checkerboard()
        scores = self.make().fit(train, rng=3).score(queries)
        scores[queries.history_csr().toarray() > 0] = -np.inf
        np.testing.assert_array_equal(scores.argmax(axis=1), np.arange(len(queries)))

    def test_twins_tie(self) -> None:
        """Items with the same training column have equal scores where none is in the history."""
        model, queries = self.fitted()
        if self.ties_twins:
            without = queries.history_csr()[:, list(TWINS)].sum(axis=1).A1 == 0
            assert without.sum() > 5
            scores = model.score(queries)[without][:, list(TWINS)]
            assert (scores == scores[:, :1]).all()

    def test_no_peeking(self) -> None:
        """Targets change nothing."""
        train, queries = checkerboard()
        model = self.make().fit(train, rng=1)
        _same(model.score(queries.without_targets()), model.score(queries))

    def test_seeds(self) -> None:
        """The same seed gives the same bits; another one others, exactly if ``seeded``."""
        data = small_world()
        queries = queries_of(data)
        first, again, other = (self.make().fit(data, rng=r).score(queries) for r in (1, 1, 2))
        _same(first, again)
        assert bool(np.any(first != other)) == self.make().seeded

    def test_threads(self) -> None:
        """One thread and two give the same bits, in fit and in score."""
        data = small_world()
        results = []
        for n in (1, 2):
            with threads(n):
                results.append(self.make().fit(data, rng=1).score(queries_of(data)))
        _same(*results)

    def test_save_and_load(self) -> None:
        """A loaded model has the same settings and the same scores."""
        model, queries = self.fitted()
        with tempfile.TemporaryDirectory() as folder:
            model.save(folder)
            loaded = type(model).load(folder)
        assert loaded.settings() == model.settings()
        _same(loaded.score(queries), model.score(queries))

    def test_factors(self) -> None:
        """Factors, a shared row and sparse matrices, if there are any, give the very scores."""
        model, queries = self.fitted()
        items, mine = model.item_factors(), model.query_factors(queries)
        given = (items, model.shared_scores(), model.sparse_product(queries))
        if any(one is not None for one in given):
            _same(Recommender._score(model, queries), model.score(queries))
        if items is not None and mine is not None:
            assert items.dtype == mine.dtype == np.float32
            np.testing.assert_allclose(mine @ items.T, model.score(queries), rtol=1e-4, atol=1e-5)

    def test_ranks(self) -> None:
        """Whatever a model shows of itself, it ranks by its scores."""
        model, data = self.fitted()[0], small_world()
        mine = [data.items[data.user_indptr[u] : data.user_indptr[u + 1]] for u in range(43)]
        rest = [np.setdiff1d(np.arange(25), items).tolist() for items in mine]
        queries = queries_of(data, targets=rest)
        found = rank(model, queries, k=5)
        plain = rank(_Table(table=model.score(queries)).fit(data), queries, k=5)
        _same(found.targets.best, plain.targets.best)
        _same(found.targets.worst, plain.targets.worst)
        assert found.top is not None
        assert plain.top is not None
        _same(found.top.items, plain.top.items)
        _same(found.top.scores, plain.top.scores)

    def test_refuses(self) -> None:
        """No rows, no fit, or queries about other items: errors of ours."""
        model, queries = self.fitted()
        data = small_world()
        other = replace(queries, item_vocab=Vocabulary.of([f"x{i}" for i in range(25)], "item"))
        for error, call in (
            (DataError, lambda: self.make().fit(data.take(np.zeros(len(data), bool)))),
            (NotFittedError, lambda: self.make().score(queries)),
            (DataError, lambda: model.score(other)),
        ):
            try:
                call()
            except error:
                continue
            raise AssertionError(f"expected {error.__name__}")
