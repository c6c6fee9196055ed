"""Order of models between conditions, worked out by hand."""

import numpy as np
import pytest
from scipy.stats import kendalltau
from tests.experiment.analyse.stores import make_store, study_of

from fullrank.core.errors import SpecError
from fullrank.experiment.analyse.stability import rank_stability

CLASSES = {"classes": {"a": "EASE", "b": "SLIM", "c": "ItemKNN", "x": "MF"}}
LAST = {"strategy": "LeaveLast"}
ABC = {"a": [1] * 5, "b": [2] * 5, "c": [3] * 5}
ACB = {"a": [1] * 5, "c": [2] * 5, "b": [3] * 5}
CBA = {"c": [1] * 5, "b": [2] * 5, "a": [3] * 5}


def stores(
    folder, *models, options=({}, {"split": LAST}, {"data": "e"}, {"data": "e", "split": LAST})
):
    return [
        make_store(folder / str(j), one, metrics=["mrr@10"], **CLASSES, **more)
        for j, (one, more) in enumerate(zip(models, options))
    ]  # fmt: skip


def test_one_swap_of_three(tmp_path):
    ((row,), (mean,)) = rank_stability(study_of(*stores(tmp_path, ABC, ACB)))
    assert row.tau == pytest.approx(1 / 3)
    assert (row.low, row.high) == (row.tau, row.tau)  # all users agree
    assert (row.first, row.second, row.models) == ("d, GlobalTime", "d, LeaveLast", 3)
    assert row.differs == ("split",)
    assert (row.best_first, row.best_second, row.flips, row.flip_rate) == (("a",), ("a",), False, 0)
    assert (mean.factor, mean.pairs, mean.tau, mean.flips) == ("split", 1, row.tau, 0)


def test_the_reverse(tmp_path):
    ((row,), _) = rank_stability(study_of(*stores(tmp_path, ABC, CBA)))
    assert (row.tau, row.flips, row.flip_rate) == (-1, True, 1)
    assert (row.best_first, row.best_second) == (("a",), ("c",))


def test_only_shared_models_are_ordered(tmp_path):
    ((row,), _) = rank_stability(study_of(*stores(tmp_path, {**ABC, "x": [9] * 5}, ACB)))
    assert (row.models, row.tau) == (3, pytest.approx(1 / 3))
    alone = rank_stability(study_of(*stores(tmp_path / "alone", ABC, {"a": [1], "x": [2]})))
    assert alone == ((), ())


def test_the_best_that_tie_do_not_flip(tmp_path):
    tied = {"a": [1] * 5, "b": [1] * 5, "c": [3] * 5}
    ((row,), _) = rank_stability(study_of(*stores(tmp_path, ABC, tied)))
    assert (row.best_second, row.flips, row.flip_rate) == (("a", "b"), False, 0)
    assert row.tau == pytest.approx(kendalltau([3, 2, 1], [2, 2, 1]).statistic)


def test_all_models_tie(tmp_path):
    flat = dict.fromkeys("abc", [4] * 5)
    ((row,), means) = rank_stability(study_of(*stores(tmp_path, ABC, flat)))
    assert (row.tau, row.low, row.high) == (None, None, None)
    assert means == ()


def test_means_are_over_pairs_that_differ_in_one_factor(tmp_path):
    """Data d and e, each under two splits: taus 1/3 and -1 by split, 1 and -1/3 by data."""
    study = study_of(*stores(tmp_path, ABC, ACB, ABC, CBA))
    pairs, means = rank_stability(study)
    assert len(pairs) == 6
    assert [row.differs for row in pairs].count(("data", "split")) == 2
    by_factor = {row.factor: row for row in means}
    assert by_factor["split"].tau == pytest.approx((1 / 3 - 1) / 2)
    assert (by_factor["split"].pairs, by_factor["split"].flips) == (2, 1)
    assert by_factor["data"].tau == pytest.approx((1 - 1 / 3) / 2)


def test_intervals_resample_users_of_both_conditions_alike(tmp_path):
    """The two conditions hold the same ranks, so that no resample tells them apart."""
    rng = np.random.default_rng(3)
    noisy = {name: rng.integers(1, 10, 40).tolist() for name in "abc"}
    ((row,), _) = rank_stability(study_of(*stores(tmp_path, noisy, noisy)))
    assert (row.tau, row.low, row.high, row.flip_rate) == (1, 1, 1, 0)
    apart = ({}, {"data": "e"})  # another data set: users are drawn apart
    ((row,), _) = rank_stability(study_of(*stores(tmp_path / "e", noisy, noisy, options=apart)))
    assert row.tau == 1
    assert row.low < 1
    assert 0 < row.flip_rate < 1


def test_one_model_has_no_order(tmp_path):
    with pytest.raises(SpecError, match="two models or more, and a is the only one"):
        rank_stability(study_of(*stores(tmp_path, {"a": [1]}, {"a": [2]})))
    assert rank_stability(study_of(*stores(tmp_path / "one", ABC))) == ((), ())


def test_flips_are_counted_over_resamples(tmp_path):
    rng = np.random.default_rng(6)
    one, two = ({name: rng.integers(1, 9, 25).tolist() for name in "abc"} for _ in range(2))
    study = study_of(*stores(tmp_path, one, two), resamples=80)
    ((row,), _) = rank_stability(study)
    first, second = (
        np.array([study.drawn[c.name, model, study.metrics[0]] for model in "abc"])
        for c in study.conditions
    )
    flips = first.argmax(axis=0) != second.argmax(axis=0)
    assert 0 < flips.mean() < 1
    assert row.flip_rate == pytest.approx(flips.mean())
    taus = [kendalltau(first[:, r], second[:, r]).statistic for r in range(80)]
    assert (row.low, row.high) == pytest.approx(tuple(np.quantile(taus, [0.025, 0.975])))


def test_ties_of_resamples_do_not_flip(tmp_path):
    """Of two models that rank alike either is best."""
    one = {"a": [1, 3, 7] * 3, "b": [1, 3, 7] * 3, "c": [9] * 9}
    ((row,), _) = rank_stability(study_of(*stores(tmp_path, one, {**one, "x": [8] * 9})))
    assert (row.best_first, row.flip_rate) == (("a", "b"), 0)
