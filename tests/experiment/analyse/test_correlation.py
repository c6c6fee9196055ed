"""Correlation of metrics worked out by hand, and against SciPy."""

import numpy as np
import pytest
from scipy.stats import kendalltau
from tests.experiment.analyse.stores import make_store, study_of

from fullrank.core.errors import SpecError
from fullrank.experiment.analyse.correlation import metric_correlation

CROSSED = {"a": [1, 9], "b": [2, 2], "c": [5, 5]}
"""MRR 0.56, 0.5, 0.2; hits within 2: 0.5, 1, 0. One of three pairs is the other way round."""
TIED = {"a": [1, 1], "b": [2, 2], "c": [5, 5]}
"""MRR 1, 0.5, 0.2; hits 1, 1, 0: a and b tie."""
CLASSES = {"classes": {"a": "EASE", "b": "SLIM", "c": "ItemKNN"}}


def test_the_mean_over_conditions(tmp_path):
    one = make_store(tmp_path / "one", CROSSED, data="one", **CLASSES)
    two = make_store(tmp_path / "two", TIED, data="two", **CLASSES)
    (found,) = metric_correlation(study_of(one, two))
    tied = 2 / np.sqrt(3 * 2)
    assert found["MRR@10", "HitRate@2"] == pytest.approx((1 / 3 + tied) / 2)
    assert found["HitRate@2", "MRR@10"] == found["MRR@10", "HitRate@2"]
    assert found.counts.tolist() == [[2, 2], [2, 2]]
    assert (found.unit, found.split) == ("conditions", "all")


def test_each_split_has_a_matrix_of_its_own(tmp_path):
    one = make_store(tmp_path / "one", CROSSED, **CLASSES)
    two = make_store(tmp_path / "two", TIED, split={"strategy": "LeaveLast"}, **CLASSES)
    found = metric_correlation(study_of(one, two))
    assert [matrix.split for matrix in found] == ["all", "GlobalTime(test=0.2)", "LeaveLast"]
    assert found[1]["MRR@10", "HitRate@2"] == pytest.approx(1 / 3)
    assert found[2]["MRR@10", "HitRate@2"] == pytest.approx(2 / np.sqrt(6))


def test_conditions_in_which_all_tie_are_left_out_of_the_mean(tmp_path):
    one = make_store(tmp_path / "one", CROSSED, data="one", **CLASSES)
    flat = {"a": [3, 4], "b": [5, 6], "c": [7, 8]}  # nobody hits within 2
    two = make_store(tmp_path / "two", flat, data="two", **CLASSES)
    (found,) = metric_correlation(study_of(one, two))
    assert found["MRR@10", "HitRate@2"] == pytest.approx(1 / 3)
    assert found.counts.tolist() == [[2, 1], [1, 1]]


def test_less_is_better_turns_a_metric_round(tmp_path):
    one = make_store(tmp_path / "one", TIED, metrics=["mrr@10", "meanrank"], **CLASSES)
    (found,) = metric_correlation(study_of(one))
    assert found["MRR@10", "MeanRank"] == 1


def test_many_models_agree_with_scipy(tmp_path):
    rng = np.random.default_rng(0)
    models = {f"m{j}": rng.integers(1, 30, 20).tolist() for j in range(12)}
    classes = {name: f"Class{name}" for name in models}
    folder = make_store(tmp_path / "s", models, classes=classes)
    study = study_of(folder)
    (found,) = metric_correlation(study)
    (condition,) = study.conditions
    columns = [[u.value(metric) for u in condition.units] for metric in study.metrics]
    expected = kendalltau(*columns).statistic
    assert found["MRR@10", "HitRate@2"] == pytest.approx(expected)
    at = slice(0, 1), slice(1, 2)
    assert -1 <= float(found.low[at].item()) <= float(found.high[at].item()) <= 1


def test_users_that_agree_leave_no_doubt(tmp_path):
    """Every user ranks alike, so that every resample does."""
    alike = {"a": [1] * 9, "b": [2] * 9, "c": [5] * 9}
    (found,) = metric_correlation(study_of(make_store(tmp_path / "s", alike, **CLASSES)))
    assert found.low[0, 1] == found.high[0, 1] == found.values[0, 1]


def test_what_it_can_not_be_made_of(tmp_path):
    folder = make_store(tmp_path / "s", CROSSED, **CLASSES)
    with pytest.raises(SpecError, match="two rank metrics or more, and MRR@10 is the only one"):
        metric_correlation(study_of(folder, metrics=["mrr@10"]))
    alone = make_store(tmp_path / "alone", {"a": [1, 2]})
    with pytest.raises(SpecError, match="needs two models on a data set, and a is the only one"):
        metric_correlation(study_of(alone))
    other = make_store(tmp_path / "other", {"b": [1, 2]}, data="other")
    with pytest.raises(SpecError, match="two models under one condition, and each"):
        metric_correlation(study_of(alone, other))


def test_intervals_are_percentiles_of_what_each_resample_gives(tmp_path):
    """A plain loop over resamples, with SciPy's tau, two conditions and their mean."""
    rng = np.random.default_rng(4)
    stores = []
    for data in ("one", "two"):
        models = {name: rng.integers(1, 9, 30).tolist() for name in "abc"}
        stores.append(make_store(tmp_path / data, models, data=data, **CLASSES))
    study = study_of(*stores, resamples=60, level=0.8)
    (found,) = metric_correlation(study)
    means = []
    for r in range(60):
        taus = []
        for condition in study.conditions:
            columns = [[study.drawn[condition.name, model, metric][r] for model in "abc"]
                       for metric in study.metrics]  # fmt: skip
            taus.append(kendalltau(*np.round(columns, 12)).statistic)  # else rounding breaks ties
        means.append(np.nanmean(taus))
    low, high = np.quantile(means, [0.1, 0.9])
    assert low < high
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx((low, high))
