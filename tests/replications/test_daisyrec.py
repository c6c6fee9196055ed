"""The compatible mode of the DaisyRec study: candidates, order of equal scores, models, metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from replications.daisyrec import honest
from replications.daisyrec.authors import ShrunkItemKNN, StaticBPR, UserRowSVD, _unseen
from replications.daisyrec.compatible import Row, measured
from replications.daisyrec.data import authors_split
from replications.daisyrec.lists import as_sorted, candidates, order_of_equals
from replications.daisyrec.published import METRICS, numbers, settings

from fullrank.core.interactions import Interactions
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import Popularity, Recommender
from fullrank.split import Split


def log(users, items, times=None) -> Interactions:
    n_users, n_items = max(users) + 1, max(items) + 1
    return Interactions(
        np.array(users, np.int32),
        np.array(items, np.int32),
        Vocabulary(np.arange(n_users, dtype=np.int64), "user"),
        Vocabulary(np.arange(n_items, dtype=np.int64), "item"),
        times=None if times is None else np.array(times, np.int64),
    )


@dataclass(eq=False)
class Known(Recommender):
    scores: np.ndarray

    def _fit(self, train, rng, monitor):
        pass

    def _score(self, queries):
        return self.scores[queries.users]


def test_order_of_equals_is_what_numpy_gave():
    """``np.argsort([0.0] * n)`` of NumPy 1.23.5; the sum tells orders of 1,000 apart."""
    seventeen = [0, 14, 13, 12, 11, 10, 9, 15, 8, 6, 5, 4, 3, 2, 1, 7, 16]
    assert list(order_of_equals(16)) == list(range(16))
    assert list(order_of_equals(17)) == seventeen
    assert list(order_of_equals(100))[:8] == [0, 72, 71, 70, 69, 68, 67, 66]
    assert list(order_of_equals(100))[-8:] == [31, 30, 29, 28, 27, 26, 36, 99]
    assert sum(i * x for i, x in enumerate(order_of_equals(1000))) == 200_447_298


def test_order_of_equals_by_hand():
    """18 numbers: the pivot goes to place 16 and comes back, what is between is turned round."""
    assert list(order_of_equals(18)) == [0, *range(15, 0, -1), 16, 17]


def test_candidates_hold_all_targets_and_unseen_items():
    rows = log([0] * 6 + [1] * 3, [0, 1, 2, 3, 4, 5, 0, 8, 9])
    part = np.array([0, 0, 0, 2, 2, 2, 0, 2, 0], np.int8)
    queries = Split(rows, part, {}).queries("test")
    found = candidates(queries, 5, seed=1)
    assert {3, 4, 5} <= set(found[0].tolist()) <= {3, 4, 5, 6, 7, 8, 9}
    assert len(set(found[0].tolist())) == 5
    assert set(candidates(queries, 50, seed=1)[1].tolist()) == {1, 2, 3, 4, 5, 6, 7, 8}
    assert set(candidates(queries, 2, seed=1)[0].tolist()) == {3, 4, 5}  # targets always stay
    drawn = [set(candidates(queries, 5, seed=s)[0].tolist()) - {3, 4, 5} for s in range(400)]
    share = [sum(item in one for one in drawn) / 400 for item in (6, 7, 8, 9)]
    assert np.abs(np.array(share) - 0.5).max() < 4 * math.sqrt(0.25 / 400)


def test_ties_as_the_authors_and_fair():
    items = np.array([7, 3, 5])
    scores = np.array([1.0, 2.0, 1.0], np.float32)
    assert as_sorted(scores, items, 0, "authors").tolist() == [0, 2, 1]
    assert as_sorted(np.zeros(3, np.float32), items, 0, "stable").tolist() == [0, 1, 2]
    firsts = [items[as_sorted(np.zeros(3, np.float32), items, u, "fair")[-1]] for u in range(900)]
    assert min(firsts.count(item) for item in items.tolist()) > 300 - 4 * math.sqrt(200)


def test_metrics_by_hand():
    """User 0: hits at places 1 and 3 of 3 targets; user 1, without history: the target is 13th."""
    rows = log([0] * 4 + [1, 2], [0, 1, 2, 3, 12, 14])
    split = Split(rows, np.array([0, 2, 2, 2, 2, 0], np.int8), {})
    place = np.arange(15, dtype=np.float32)
    scores = np.stack([-place, -place, -place])
    scores[0, 3] = -13.5  # the third target comes last but one
    scores[0, [1, 2]] = [0, -4.5]  # behind item 4
    model = Known(scores).fit(split.train)
    row = Row("", "MostPop", Popularity, sampled=False)
    found = measured(model, split, split.queries("test"), row, 0)
    log2 = np.log2
    user = [0.2, 2 / 3, 1.0, (1 + 2 / 3) / 10, 1 + 1 / 3, (1 + 1 / log2(4)) / (1 + 1 / log2(3))]
    assert np.allclose(found[1], user)
    assert np.allclose(found[2], 0.0)
    assert np.allclose(found[0], np.array(user) / 2)


def test_shrunk_similarities_by_hand():
    """Items 0 and 1 share two users of three and two."""
    train = log([0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 0, 2])
    weights = ShrunkItemKNN(neighbours=1, shrinkage=100.0).fit(train).weights_.toarray()
    expected = np.zeros((3, 3))
    expected[0, 1] = expected[1, 0] = 2 / (math.sqrt(6) + 100 + 1e-6)
    assert np.allclose(weights, expected)


def test_svd_rows_make_the_projection_of_the_matrix():
    rng = np.random.default_rng(1)
    users, items = np.nonzero(rng.random((40, 30)) < 0.3)
    rows = log(users.tolist(), items.tolist())
    split = Split(rows, np.where(np.arange(len(rows)) % 5, 0, 2).astype(np.int8), {})
    queries = split.queries("test")
    left, values, right = np.linalg.svd(split.train.csr("binary").toarray())
    best = (left[:, :25] * values[:25]) @ right[:25]
    found = UserRowSVD(embedding_dim=25).fit(split.train).score(queries)
    assert np.allclose(found, best[queries.users], atol=1e-5)


def test_static_bpr_learns_and_leaves_cold_users_to_the_biases():
    rng = np.random.default_rng(0)
    halves = rng.random((60, 20)) < np.where(
        (np.arange(60)[:, None] < 30) == (np.arange(20)[None] < 10), 0.6, 0.02
    )
    users, items = np.nonzero(halves)
    users, items = [*users.tolist(), 60], [*items.tolist(), 3]
    part = np.zeros(len(users), np.int8)
    part[-1] = 2  # the only row of user 60
    split = Split(log(users, items), part, {})
    model = StaticBPR(8, 0.05, 2, biases=True).fit(split.train, rng=0)
    scores = model.rows_ @ model.columns_.T + model.biases_
    left, right = scores[:30, :10].mean(), scores[:30, 10:].mean()
    assert left > right + 1
    order = np.argsort(model.score(split.queries("test"))[0])
    assert np.corrcoef(np.argsort(order), np.argsort(np.argsort(model.biases_)))[0, 1] > 0.9


def test_static_negatives_are_unseen_and_uniform():
    indptr, items = np.array([0, 2, 3]), np.array([1, 4, 0])
    users = np.array([0, 0, 1])
    drawn = _unseen(users, indptr, items, 6, 3000, 5)
    for row, kept in ((0, [0, 2, 3, 5]), (2, [1, 2, 3, 4, 5])):
        counts = np.bincount(drawn[row], minlength=6)
        assert np.flatnonzero(counts).tolist() == kept
        p = 1 / len(kept)
        assert np.abs(counts[kept] - 3000 * p).max() < 4 * math.sqrt(3000 * p * (1 - p))


def test_split_is_cut_at_the_row():
    rows = log([0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [5, 1, 3, 5, 2])
    split = authors_split(rows, "ML-1M", 0)
    assert [(int(u), int(i)) for u, i in zip(split.test.users, split.test.items)] == [(1, 1)]


def test_published_numbers_and_settings():
    found = numbers("ML-1M", "10-filter")
    assert found["MostPop"] == (0.2569, 0.0532, 0.7024, 0.1745, 0.8339, 0.4975)
    assert METRICS[-1] == "NDCG"
    assert len(found) == 10
    assert "SLIM" not in numbers("LastFM", "origin")
    slim = settings("ML-1M", "10-filter", "SLIM", 5950)
    assert slim["l1_reg"] == pytest.approx(5950 * 0.0001 * 0.4462)
    assert sum(slim.values()) == pytest.approx(0.595)


@pytest.mark.parametrize("bench", honest.BENCHES, ids="-".join)
def test_benches_can_be_read(bench):
    spec = honest.spec_of(bench, [*honest.LIGHT, *honest.NEURAL])
    assert {model.title for model in spec.model} >= {"MostPop", "SLIM", "NGCF"}
    assert spec.tune.trials == honest.TRIALS
