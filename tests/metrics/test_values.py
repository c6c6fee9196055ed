"""Hand-worked values, and the public faults that metrics could repeat."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fullrank.core.errors import DataError, ScoreError, SpecError
from fullrank.core.ranked import Predictions, TargetRanks
from fullrank.core.vocabulary import Vocabulary
from fullrank.metrics import (
    AUC,
    DCG,
    F1,
    MAE,
    MAP,
    MRR,
    NDCG,
    RBP,
    RMSE,
    HitRate,
    MeanRank,
    Precision,
    Recall,
    RPrecision,
)


def one(metric, ranks, gains=None, **more):
    return float(
        metric.per_query(TargetRanks.of([ranks], None if gains is None else [gains], **more))[0]
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        # Targets at 1, 3 and 6, and one that is not ranked; ten candidates.
        (Precision @ 5, 2 / 5),
        (Precision @ 20, 3 / 20),
        (Recall @ 5, 2 / 4),
        (Recall, 3 / 4),
        (HitRate @ 1, 1.0),
        (F1 @ 5, 2 * 2 / (5 + 4)),
        (MRR @ 5, 1.0),
        (MAP, (1 / 1 + 2 / 3 + 3 / 6) / 4),
        (MAP @ 3, (1 / 1 + 2 / 3) / 3),
        (MAP(denominator="relevant") @ 3, (1 / 1 + 2 / 3) / 4),
        (DCG @ 3, 1 + 1 / 2),
        (NDCG @ 3, (1 + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2)),
        (NDCG, (1 + 0.5 + 1 / math.log2(7)) / (1.5 + 1 / math.log2(3) + 1 / math.log2(5))),
        (RBP, 0.2 * (1 + 0.8**2 + 0.8**5)),
        (RBP(p=0.5) @ 3, 0.5 * (1 + 0.25)),
        (RPrecision, 2 / 4),
        # Seven others: 7 + 6 + 4 pairs won of 28, the unranked target loses all.
        (AUC, 17 / 28),
        (MeanRank, (1 + 3 + 6 + 11) / 4),
    ],
    ids=str,
)
def test_by_hand(metric, value):
    assert one(metric, [1, 3, 6, None], n_candidates=[10]) == pytest.approx(value, abs=1e-15)


def test_worked_example_of_the_metrics_note():
    """Grades 5 to 1, in the ideal order and reversed: the printed figures are right."""
    grades = [5, 4, 3, 2, 1]
    assert one(DCG @ 5, [1, 2, 3, 4, 5], grades) == pytest.approx(45.643, abs=5e-4)
    assert one(DCG @ 5, [5, 4, 3, 2, 1], grades) == pytest.approx(24.845, abs=5e-4)
    assert one(NDCG @ 5, [1, 2, 3, 4, 5], grades) == 1.0
    assert one(NDCG @ 5, [5, 4, 3, 2, 1], grades) == pytest.approx(0.544, abs=5e-4)


def test_d01_ndcg_never_above_one():
    """The ideal is cut at k like the list. Truth a=1 b=4 c=2; lists ``b c a`` and ``a b``."""
    linear = NDCG(gain="linear")
    assert one(linear @ 2, [3, 1, 2], [1, 4, 2]) == 1.0
    assert one(linear @ 2, [1, 2, None], [1, 4, 2]) == pytest.approx(0.669672, abs=5e-7)
    assert one(NDCG @ 2, [1, 2, None], [1, 4, 2]) == pytest.approx(0.619433, abs=5e-7)
    assert one(linear, [1, 2, None], [1, 4, 2]) == pytest.approx(0.611559, abs=5e-7)


def test_d03_one_item_found_twice_counts_once():
    """Ranks hold each target once: ``p q p`` with truth ``p r`` at 3."""
    for metric, value in (
        (Recall @ 3, 0.5),
        (Precision @ 3, 1 / 3),
        (MAP @ 3, 0.5),
        (NDCG @ 3, 0.613147),
    ):
        assert one(metric, [1, None]) == pytest.approx(value, abs=5e-7)


def test_d04_precision_divides_by_k():
    """Also where the list is shorter than k."""
    ks = (1, 2, 5, 10, 20)
    assert [one(Precision @ k, [1, 6]) for k in ks] == [1, 0.5, 0.2, 0.2, 0.1]
    assert [one(Recall @ k, [1, 6]) for k in ks] == [0.5, 0.5, 0.5, 1, 1]


def test_d05_users_without_recommendations_count_as_zero():
    ranked = TargetRanks.of([[1], [2], [None], [1]])
    assert (NDCG @ 2).value(ranked) == pytest.approx(0.657732, abs=5e-7)


def test_threshold_of_relevance():
    ranks, grades = [1, 2, 3], [2, 4, 0]
    assert one(Recall @ 1, ranks, grades) == 0.5
    assert one(Recall(rel=3) @ 1, ranks, grades) == 0.0
    assert one(Recall(rel=4) @ 2, ranks, grades) == 1.0
    assert math.isnan(one(Recall(rel=5) @ 2, ranks, grades))
    # A target below the threshold has no gain, and no place in the ideal.
    assert one(NDCG(rel=3) @ 2, ranks, grades) == pytest.approx(1 / math.log2(3))


def test_grades_of_counts_are_refused():
    ranked = TargetRanks.of([[1], [2, 3]], [[1.0], [3.0, 51.0]])
    with pytest.raises(SpecError, match=r"grades up to 50, got 51 \(user 1, item 1\).*gain=linear"):
        (NDCG @ 5).per_query(ranked)
    assert (NDCG(gain="linear") @ 5).per_query(ranked)[0] == pytest.approx(1.0)
    assert one(DCG @ 1, [1], [50.0]) == 2.0**50 - 1


def test_depth():
    ranked = TargetRanks.of([[1, None]], depth=20)
    assert (Recall @ 20).per_query(ranked)[0] == 0.5
    with pytest.raises(SpecError, match=r"Recall@21 looks at 21 places.*depth 20"):
        (Recall @ 21).per_query(ranked)
    with pytest.raises(SpecError, match=r"NDCG without a cut-off.*depth 20; write NDCG@20"):
        NDCG.per_query(ranked)
    with pytest.raises(SpecError, match="AUC needs the rank of each target among all candidates"):
        AUC.per_query(ranked)
    assert RPrecision.per_query(ranked)[0] == 0.5
    with pytest.raises(SpecError, match=r"2 for user 0.*depth 1"):
        RPrecision.per_query(TargetRanks.of([[1, None]], depth=1))


@pytest.mark.parametrize("metric", [AUC, MeanRank])
def test_lists_do_not_know_the_catalogue(metric):
    with pytest.raises(SpecError, match="nothing says how many there were"):
        metric.per_query(TargetRanks.of([[1]]))
    with pytest.raises(SpecError, match="user 1 has rank 4 of 3 candidates"):
        metric.per_query(TargetRanks.of([[1], [4]], n_candidates=[3, 3]))


@pytest.mark.parametrize("metric", [Precision, F1, HitRate])
def test_a_cutoff_is_required(metric):
    with pytest.raises(SpecError, match="give a cut-off"):
        metric.per_query(TargetRanks.of([[1]]))


def test_auc_without_other_candidates_is_undefined():
    assert math.isnan(one(AUC, [1, 2], n_candidates=[2]))
    assert one(AUC, [1, 2], [1, 0], n_candidates=[2]) == 1.0


def test_a_query_without_any_other_candidate_has_no_auc_and_no_mean_rank():
    ranked = TargetRanks.of([[1], [None]], n_candidates=[5, 0])
    assert np.isnan(AUC.per_query(ranked)).tolist() == [False, True]
    assert np.isnan(MeanRank.per_query(ranked)).tolist() == [False, True]


def test_several_targets_against_sampled_candidates_are_refused():
    both = TargetRanks.of([[1], [1, 1]], others="excluded")
    with pytest.raises(SpecError, match="query of user 1 has 2 of them"):
        (NDCG @ 5).per_query(both)
    single = TargetRanks.of([[2], [1]], others="excluded")
    assert (MRR @ 5).per_query(single).tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("best", "worst"),
    [
        ([1, 1], [1, 1]),
        ([2, 2, 2], [3, 3, 3]),
        ([1, 2], [2, 2]),
        ([1, 1], [2, 3]),
        ([1, 3, None, None], [4, 6, None, None]),
    ],
)
def test_two_targets_at_one_place_are_refused(best, worst):
    ranked = TargetRanks.of([[1], best, [1]], worst=[[2], worst, [1]])
    with pytest.raises(ScoreError, match="query of user 1 share a place"):
        (Recall @ 5).per_query(ranked)


def test_nothing_but_unranked_targets():
    ranked = TargetRanks.of([[None, None]], n_candidates=[7])
    for metric in (
        Precision @ 3,
        Recall,
        HitRate @ 3,
        F1 @ 3,
        MRR,
        MAP,
        NDCG,
        DCG,
        RBP,
        RPrecision,
    ):
        assert metric.per_query(ranked).tolist() == [0.0], metric
    assert AUC.per_query(ranked).tolist() == [0.0]
    assert MeanRank.per_query(ranked).tolist() == [9.0]


def _rows():
    ids = Vocabulary.of([0, 1, 2])
    codes = np.array([0, 0, 2], np.int32)
    predicted, observed = np.array([1.0, 2.0, 5.0]), np.array([2.0, 4.0, 5.0])
    return Predictions(codes, codes, predicted, observed, ids, ids)


def test_rmse_and_mae_are_pooled_over_rows():
    rows = _rows()
    assert RMSE.value(rows) == pytest.approx(math.sqrt((1 + 4 + 0) / 3))
    assert MAE.value(rows) == pytest.approx(1.0)
    users, values = RMSE.per_user(rows)
    assert users.tolist() == [0, 2]
    np.testing.assert_allclose(values, [math.sqrt(2.5), 0.0])
    assert RMSE.state(rows).n_users == 2
    assert RMSE.state(rows).value == pytest.approx(5 / 3)


def test_rmse_and_mae_agree_with_scikit_learn():
    from sklearn.metrics import mean_absolute_error, root_mean_squared_error

    rng = np.random.default_rng(0)
    ids = Vocabulary.of(list(range(20)))
    users = rng.integers(0, 20, 500).astype(np.int32)
    rows = Predictions(users, users, rng.normal(size=500), rng.normal(size=500), ids, ids)
    rmse = root_mean_squared_error(rows.observed, rows.predicted)
    assert RMSE.value(rows) == pytest.approx(rmse, abs=1e-12)
    assert MAE.value(rows) == pytest.approx(
        mean_absolute_error(rows.observed, rows.predicted), abs=1e-12
    )


def test_no_rows_have_no_error():
    ids = Vocabulary.of([0])
    none = np.zeros(0)
    rows = Predictions(np.zeros(0, np.int32), np.zeros(0, np.int32), none, none, ids, ids)
    assert math.isnan(RMSE.value(rows))
    assert math.isnan(MAE.value(rows))


def test_observed_values_are_checked():
    rows = _rows()
    rows.observed[1] = np.nan
    with pytest.raises(DataError, match=r"finite, got nan in row 1 \(user 0\)"):
        RMSE.per_query(rows)
