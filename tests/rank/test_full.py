"""The engine against plain sorting, whatever the block, the threads and the ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rank import reference

from fullrank.core.errors import DataError, ScoreError, SpecError, TooLargeError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr
from fullrank.core.ranked import UNRANKED
from fullrank.core.vocabulary import Vocabulary
from fullrank.metrics import AUC, MeanRank
from fullrank.models._base import Recommender
from fullrank.rank import Catalogue, rank, recommend
from fullrank.rank import _blocks as engine


@dataclass(eq=False)
class Fixed(Recommender):
    """Scores looked up in a table of users × items."""

    thread_safe: ClassVar[bool] = True
    table: np.ndarray | None = None

    def _fit(self, train, rng, monitor):
        pass

    def _score(self, queries):
        return self.table[queries.users].astype(np.float32)


def world(table, histories, targets, repeats="drop", known=None):
    """A fitted ``Fixed`` and its queries, one a user."""
    q, c = table.shape
    users, items = Vocabulary.of(np.arange(q), "user"), Vocabulary.of(np.arange(c), "item")
    model = Fixed(table=table)
    rows = np.arange(c) if known is None else np.flatnonzero(known)
    model.fit(Interactions(np.zeros(len(rows), np.int32), rows.astype(np.int32), users, items))
    queries = Queries.from_lists(
        np.arange(q), histories, targets, user_vocab=users, item_vocab=items, repeats=repeats
    )
    return model, queries


@st.composite
def worlds(draw):
    """Random tables with heavy ties, -inf, empty histories, all items masked."""
    q, c = draw(st.integers(1, 9)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    levels = draw(st.sampled_from([1, 2, 5, 1000]))
    table = rng.integers(0, levels, (q, c)).astype(np.float32) / 3
    table[rng.random((q, c)) < draw(st.sampled_from([0.0, 0.2]))] = -np.inf
    role = rng.choice(3, (q, c), p=draw(st.sampled_from([(0.4, 0.3, 0.3), (0, 0.5, 0.5)])))
    histories = [list(np.flatnonzero(role[u] == 1)) for u in range(q)]
    histories = [h + h[:2] for h in histories]  # repeats within a history count once
    targets = [list(np.flatnonzero(role[u] == 2)) for u in range(q)]
    known = rng.random(c) < 0.8
    known[0] = True
    return table, histories, targets, known


@given(worlds(), st.integers(0, 50), st.sampled_from([1, 2, 4]), st.sampled_from([1, 3, 64]))
def test_engine_equals_plain_sort(case, k, threads, block):
    table, histories, targets, known = case
    model, queries = world(table, histories, targets, known=known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "BLOCK", block)
        got = rank(model, queries, k=k, threads=threads)
    for u in range(len(table)):
        part = got.targets[np.array([u])]
        pairs, n = reference.rank_row(table[u], known, histories[u], targets[u])
        by_item = {int(i): (int(b), int(w)) for i, b, w in zip(part.items, part.best, part.worst)}
        assert by_item == dict(zip([int(t) for t in targets[u]], pairs))
        assert part.n_candidates[0] == n
        if k:
            check_list(got.top, u, table[u], known, histories[u], min(k, int(known.sum())))


def check_list(top, u, scores, known, history, k):
    may = [c for c in range(len(scores)) if known[c] and c not in history and scores[c] > -np.inf]
    want = sorted((float(scores[c]) for c in may), reverse=True)[:k]
    items = top.items[u][top.items[u] >= 0]
    assert [float(scores[i]) for i in items] == want == list(top.scores[u][: len(items)])
    assert len(set(items.tolist())) == len(items)
    assert set(items.tolist()) <= set(may)


@given(worlds(), st.integers(1, 20))
def test_lists_do_not_depend_on_block_or_threads(case, k):
    table, histories, targets, known = case
    model, queries = world(table, histories, targets, known=known)
    first = rank(model, queries, k=k, threads=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "BLOCK", 2)
        other = rank(model, queries, k=k, threads=4)
    np.testing.assert_array_equal(first.top.items, other.top.items)
    np.testing.assert_array_equal(first.targets.best, other.targets.best)


@given(worlds(), st.integers(0, 2**32))
def test_eligibility(case, seed):
    table, histories, targets, known = case
    model, queries = world(table, histories, targets, known=known)
    rng = np.random.default_rng(seed)
    lists = [np.flatnonzero(rng.random(table.shape[1]) < 0.5) for _ in table]
    lists = [np.append(one, 0) for one in lists]
    user_ids = np.repeat(np.arange(len(table)), [len(one) for one in lists])
    catalogue = Catalogue(known, "test").restricted(queries, user_ids, np.concatenate(lists))
    got = rank(model, queries, k=3, catalogue=catalogue).targets
    for u in range(len(table)):
        part = got[np.array([u])]
        pairs, n = reference.rank_row(table[u], known, histories[u], targets[u], lists[u])
        assert sorted(zip(part.best.tolist(), part.worst.tolist())) == sorted(pairs)
        assert part.n_candidates[0] == n


def test_many_targets_take_the_other_kernel():
    rng = np.random.default_rng(3)
    table = rng.integers(0, 20, (4, 300)).astype(np.float32)
    targets = [sorted(rng.choice(300, 80, replace=False).tolist()) for _ in range(4)]
    model, queries = world(table, [[]] * 4, targets)
    got = rank(model, queries).targets
    for u in range(4):
        part = got[np.array([u])]
        pairs, _ = reference.rank_row(table[u], np.ones(300, bool), [], targets[u])
        assert sorted(zip(part.best.tolist(), part.worst.tolist())) == sorted(pairs)


def test_constant_scores_tie_everything():
    model, queries = world(np.full((1, 5), 0.5, np.float32), [[]], [[0]])
    targets = rank(model, queries).targets
    assert (targets.best[0], targets.worst[0]) == (1, 5)


def test_order_of_equal_scores_is_a_seeded_hash_of_outside_ids():
    model, queries = world(np.zeros((50, 8), np.float32), [[]] * 50, [[0]] * 50)
    firsts = [recommend(model, queries, 1, seed=s).items[:, 0] for s in (1, 1, 2)]
    np.testing.assert_array_equal(firsts[0], firsts[1])
    assert not np.array_equal(firsts[0], firsts[2])
    assert len(set(firsts[0].tolist())) > 4


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_scores_name_model_user_and_item(bad):
    table = np.zeros((3, 4), np.float32)
    table[1, 2] = bad
    model, queries = world(table, [[]] * 3, [[0]] * 3)
    with pytest.raises(ScoreError, match=r"Fixed scored (nan|inf) for user .*1.* and item .*2"):
        rank(model, queries)


def test_bad_scores_of_masked_items_do_not_matter():
    table = np.zeros((1, 4), np.float32)
    table[0, 2] = np.nan
    model, queries = world(table, [[2]], [[0]])
    assert rank(model, queries).targets.worst[0] == 3


def test_repeats_keep_leaves_the_history_unmasked():
    table = np.array([[3, 2, 1]], np.float32)
    model, queries = world(table, [[0, 1]], [[1]], repeats="keep")
    targets = rank(model, queries).targets
    assert (targets.best[0], targets.n_candidates[0]) == (2, 3)


def test_target_outside_the_catalogue_is_unranked_and_counted():
    table = np.array([[3, 2, 1]], np.float32)
    model, queries = world(table, [[]], [[2]], known=np.array([True, True, False]))
    targets = rank(model, queries).targets
    assert targets.best[0] == UNRANKED
    assert targets.counts["unranked_targets"] == 1
    assert rank(model, queries, catalogue="all").targets.best[0] == 3


@pytest.mark.parametrize("kept", ["view", "whole"])
def test_model_arrays_are_never_masked(kept):
    table = np.array([[3, 2, 1]], np.float32)

    class Own(Fixed):
        def _score(self, queries):
            return self.table[:1] if kept == "view" else self.table

    _, queries = world(table, [[0]], [[1]])
    own = Own(table=table).fit(
        Interactions(
            np.zeros(3, np.int32),
            np.arange(3, dtype=np.int32),
            queries.user_vocab,
            queries.item_vocab,
        )
    )
    rank(own, queries)
    np.testing.assert_array_equal(table, [[3, 2, 1]])


def test_models_get_blocks_of_one_shape():
    shapes = []

    class Shapes(Fixed):
        thread_safe: ClassVar[bool] = False

        def _score(self, queries):
            shapes.append(len(queries))
            return super()._score(queries)

    table = np.random.default_rng(0).random((150, 7)).astype(np.float32)
    _, queries = world(table, [[]] * 150, [[0]] * 150)
    model = Shapes(table=table).fit(
        Interactions(
            np.zeros(7, np.int32),
            np.arange(7, dtype=np.int32),
            queries.user_vocab,
            queries.item_vocab,
        )
    )
    got = rank(model, queries).targets
    assert shapes == [64, 64, 64]
    np.testing.assert_array_equal(got.best, 1 + (table > table[:, :1]).sum(axis=1))


def test_refusals():
    model, queries = world(np.zeros((1, 3), np.float32), [[]], [[0]])
    with pytest.raises(SpecError, match="k must be"):
        rank(model, queries, k=-1)
    with pytest.raises(SpecError, match="catalogue must be"):
        rank(model, queries, catalogue="train")
    with pytest.raises(DataError, match="no item"):
        rank(model, queries, catalogue=np.zeros(3, bool))
    with pytest.raises(TooLargeError, match="raise memory"):
        rank(model, queries, memory=10)
    with pytest.raises(DataError, match="users have no eligible item"):
        Catalogue(np.ones(3, bool)).restricted(queries, np.array([7]), np.array([1]))


def test_repeated_history_and_target_indptr():
    assert as_indptr([2, 0, 1]).tolist() == [0, 2, 2, 3]


def test_targets_that_are_no_candidates_come_last():
    table = np.array([[-np.inf, 4, 5, 6, 1, 2]], np.float32)
    model, queries = world(table, [[]], [[0, 1]])
    ranked = rank(model, queries).targets
    assert ranked.n_candidates.tolist() == [5]
    assert AUC.per_query(ranked).tolist() == [2 / 8]  # 1 beats 4 and 5; 0 beats none
    known = np.array([False, True, True, True, True, True])
    ranked = rank(model, queries, catalogue=known).targets
    assert ranked.n_candidates.tolist() == [5]
    assert AUC.per_query(ranked).tolist() == [2 / 8]
    assert MeanRank.per_query(ranked).tolist() == [(3 + 6) / 2]
    model, queries = world(table, [[]], [[0, 1, 2, 3, 4, 5]])
    assert np.isnan(AUC.per_query(rank(model, queries).targets)).all()


@pytest.mark.parametrize("scores", [None, [[1.0]], "scores"])
def test_scores_that_are_no_array(scores):
    class Odd(Fixed):
        def _score(self, queries):
            return scores

    _, queries = world(np.zeros((1, 3), np.float32), [[]], [[0]])
    codes = np.arange(3, dtype=np.int32)
    rows = Interactions(np.zeros(3, np.int32), codes, queries.user_vocab, queries.item_vocab)
    with pytest.raises(ScoreError, match=r"Odd.score gave a \w+, expected a float32 array"):
        rank(Odd().fit(rows), queries)
