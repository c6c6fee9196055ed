"""Models from elsewhere: factors, functions of histories, saved scores."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fullrank as fr
from fullrank.core.errors import DataError, ScoreError, SpecError
from fullrank.core.ranked import UNRANKED
from fullrank.models import Factors, MatrixFunction, PureSVD, Recommender, SavedScores
from fullrank.rank import rank
from fullrank.testing.recommender import RecommenderContract, checkerboard, queries_of, small_world


def svd_of(train):
    """Factors of a dense decomposition, as another tool would leave them behind."""
    U, s, Vt = np.linalg.svd(train.csr("binary").toarray(), full_matrices=False)
    return U[:, :2] * s[:2], Vt[:2].T


class TestFactors(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        train = checkerboard()[0]
        both = (small_world(), train)
        users, items = {}, {}
        for log in both:
            mine, theirs = svd_of(log)
            users |= dict(zip(log.user_vocab.ids.tolist(), mine))
            items |= dict(zip(log.item_vocab.ids.tolist(), theirs))
        return _Both(users, items)

    def test_save_and_load(self) -> None:
        """Settings are a hash: what was saved can't be built from it alone."""


class _Both(Factors):
    """The factors of whichever log it is fitted on."""

    def __init__(self, users, items):
        self.pools = users, items
        super().__init__(*self._of(small_world()))

    def _of(self, train):
        users, items = self.pools
        ids = train.user_vocab.ids.tolist(), train.item_vocab.ids.tolist()
        return (ids[0], np.array([users[u] for u in ids[0]]),
                ids[1], np.array([items[i] for i in ids[1]]))  # fmt: skip

    def _fit(self, train, rng, monitor):
        self.user_ids, self.users, self.item_ids, self.items = self._of(train)
        super()._fit(train, rng, monitor)


def test_factors_are_told_by_ids_not_by_place():
    train = small_world()
    users, items = svd_of(train)
    back = slice(None, None, -1)
    found = [
        Factors(train.user_vocab.ids[way], users[way], train.item_vocab.ids[way], items[way])
        .fit(train)
        .score(queries_of(train))
        for way in (slice(None), back)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], users @ items.T, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda u, x, i, y: (u, x[:-1], i, y), r"users must have shape \(43, d\)"),
        (lambda u, x, i, y: (u, x[:, :1], i, y), "users have 1 factors and items 2"),
        (lambda u, x, i, y: (u, x * np.nan, i, y), "users must be finite"),
        (lambda u, x, i, y: (u, x.astype(float) * 1e300, i, y), r"finite and within 1e\+15 of 0"),
        (lambda u, x, i, y: (u, x * 1j, i, y), "users must be finite numbers, got complex"),
        (lambda u, x, i, y: (u, [[1, 2], [3]], i, y), "users must have rows of one length"),
        (lambda u, x, i, y: (u, x[:, :0], i, y), r"users must have shape \(43, d\)"),
        (lambda u, x, i, y: (None, x, i, y), "user_ids must be a list or an array .*got NoneType"),
        (lambda u, x, i, y: (np.array([u, u]).T, x, i, y), r"user_ids must be a list .*ndarray"),
        (lambda u, x, i, y: ([], x[:0], i, y), "user_ids is empty"),
        (lambda u, x, i, y: (u, x, i[:-5], y[:-5]), "items of the training rows have no factors"),
        (lambda u, x, i, y: ([f"z{n}" for n in range(43)], x, i, y), "none of the 43 user_ids"),
        (lambda u, x, i, y: ([u[0]] * 43, x, i, y), "holds an id twice"),
    ],
)
def test_factors_that_can_not_be_are_refused(change, message):
    train = small_world()
    users, items = svd_of(train)
    given = (train.user_vocab.ids.tolist(), users, train.item_vocab.ids.tolist(), items)
    with pytest.raises(DataError, match=message):
        Factors(*change(*given)).fit(train)


def test_factors_of_lists_are_taken_and_not_saved(tmp_path):
    train = small_world()
    users, items = svd_of(train)
    ids = train.user_vocab.ids.tolist(), train.item_vocab.ids.tolist()
    model = Factors(ids[0], users.tolist(), ids[1], items.tolist()).fit(train)
    expected = Factors(ids[0], users, ids[1], items).fit(train)
    queries = queries_of(train)
    np.testing.assert_array_equal(model.score(queries), expected.score(queries))
    with pytest.raises(SpecError, match="Factors can't be saved"):
        model.save(tmp_path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda X: np.ones(X.shape) * 1j, "no real numbers"),
        (lambda X: np.full(X.shape, np.datetime64("2020-01-01")), "no real numbers"),
        (lambda X: np.full(X.shape, "a"), "no real numbers"),
        (lambda X: np.ma.masked_array(np.ones(X.shape), mask=True), "masked array"),
        (lambda X: np.full(X.shape, 1e300), r"scores up to 1e\+300; .*float32"),
    ],
)
def test_scores_of_a_function_that_are_none(given, message):
    train = small_world()
    with pytest.raises(ScoreError, match=message):
        MatrixFunction(given).fit(train).score(queries_of(train))


def test_saved_scores_beyond_float32():
    rows = {"user_id": ["u00"], "item_id": ["i00"], "score": [1e300]}
    table = fr.read(pl.DataFrame(rows), columns={"rating": "score"}).interactions
    with pytest.raises(DataError, match=r"SavedScores: values must lie within 3.4.*user 'u00'"):
        SavedScores(table)


def test_an_object_in_the_manner_of_scikit_learn():
    from sklearn.decomposition import TruncatedSVD

    train, queries = checkerboard()
    svd = TruncatedSVD(n_components=2, random_state=0)
    model = MatrixFunction(lambda X: svd.inverse_transform(svd.transform(X)), svd.fit).fit(train)
    ranked = rank(model, queries).targets
    assert fr.parse("ndcg@1").value(ranked) == 1.0


class TestMatrixFunction(RecommenderContract):
    """A function of the histories alone: how many of an item's own parity there are."""

    learns_checkerboard = False

    def make(self) -> Recommender:
        def same(X):
            out = np.zeros(X.shape, np.float32)
            for parity in (0, 1):
                out[:, parity::2] = X[:, parity::2].sum(axis=1)
            return out

        return MatrixFunction(same)

    def test_save_and_load(self) -> None:
        """A function can't be saved."""
        model, _ = self.fitted()
        with pytest.raises(SpecError, match="can't be saved"):
            model.save("anywhere")


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda X: np.zeros((1, 2)), r"array of shape \(1, 2\), expected \(43, 25\)"),
        (lambda X: "scores", "holds no real numbers"),
    ],
)
def test_results_that_are_no_scores_are_refused(result, message):
    train = small_world()
    with pytest.raises(ScoreError, match=message):
        MatrixFunction(result).fit(train).score(queries_of(train))
    with pytest.raises(SpecError, match="must be callable"):
        MatrixFunction("predict")


def saved(train, scores):
    users, items = np.nonzero(np.isfinite(scores))
    frame = pl.DataFrame(
        {
            "user_id": train.user_vocab.ids[users],
            "item_id": train.item_vocab.ids[items],
            "score": scores[users, items].astype(np.float64),
        }
    )
    return fr.read(frame, columns={"rating": "score"}).interactions


def test_saved_scores_rank_as_the_model_that_wrote_them():
    train, queries = checkerboard()
    model = PureSVD(embedding_dim=2).fit(train)
    scores = model.score(queries)
    table = SavedScores(saved(train, scores)).fit(train)
    np.testing.assert_array_equal(table.score(queries), scores)
    found, wanted = (rank(one, queries).targets for one in (table, model))
    np.testing.assert_array_equal(found.best, wanted.best)
    cut = scores.copy()
    cut[:, 5:] = -np.inf
    short = SavedScores(saved(train, cut)).fit(train).score(queries)
    assert np.isneginf(short[:, 5:]).all()
    assert short.shape == scores.shape


def test_pairs_without_a_saved_score_win_over_none():
    """Scores below 0, and pairs, users and items that the table doesn't hold."""
    train, queries = checkerboard()
    scores = PureSVD(embedding_dim=2).fit(train).score(queries) - 100
    scores[:, 5:] = -np.inf
    scores[3] = -np.inf
    ranked = rank(SavedScores(saved(train, scores)).fit(train), queries).targets
    users = np.repeat(ranked.users, np.diff(ranked.indptr))
    unheard = (ranked.items >= 5) | (users == 3)
    assert 0 < unheard.sum() < len(unheard)
    np.testing.assert_array_equal(ranked.best == UNRANKED, unheard)


def test_saved_scores_that_can_not_be_are_refused():
    train = small_world()
    with pytest.raises(DataError, match="takes Interactions"):
        SavedScores("scores.csv")
    with pytest.raises(DataError, match="no values"):
        SavedScores(fr.read(pl.DataFrame({"user_id": ["a"], "item_id": ["b"]})).interactions)
    other = pl.DataFrame({"user_id": ["u01"], "item_id": ["z"], "rating": [1.0]})
    with pytest.raises(DataError, match="none of the 1 items with scores is in the training"):
        SavedScores(fr.read(other).interactions).fit(train)
