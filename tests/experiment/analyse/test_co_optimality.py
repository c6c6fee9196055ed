"""Co-optimality worked out by hand, with trials that tie."""

import json

import numpy as np
import pytest
from tests.experiment.analyse.stores import make_store, study_of, trial

from fullrank.core.errors import SpecError
from fullrank.experiment.analyse.co_optimality import co_optimality, credits
from fullrank.stats import mean_interval

A = [trial(0, mrr=0.5, hit=0.6), trial(1, mrr=0.5, hit=0.3), trial(2, mrr=0.4, hit=0.6)]
B = [trial(0, mrr=0.1, hit=0.9), trial(1, mrr=0.2, hit=0.9), trial(2, mrr=0.2, hit=0.1)]
C = [trial(0, mrr=0.3, hit=0.5), trial(1, mrr=0.2, hit=0.5)]
RANKS = {"a": [1, 2], "b": [2, 3], "c": [3, 4]}
MRR, HIT = "MRR@10", "HitRate@2"


def store(folder, **options):
    given = {"classes": {"a": "EASE", "b": "SLIM", "c": "ItemKNN"}, **options}
    return make_store(folder, RANKS, **{"trials": {"a": A, "b": B, "c": C}, **given})


def test_each_of_the_best_counts_alike(tmp_path):
    """Best by MRR {0, 1}, {1, 2}, {0}; by hits {0, 2}, {0, 1}, {0, 1}; common 1, 1, 1."""
    (found,) = co_optimality(study_of(store(tmp_path / "s"))).matrices
    assert found.metrics == (MRR, HIT)
    assert found[MRR, HIT] == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert found[HIT, MRR] == pytest.approx((1 / 2 + 1 / 2 + 1 / 2) / 3)
    assert found[MRR, MRR] == found[HIT, HIT] == 1
    assert found.counts.tolist() == [[3, 3], [3, 3]]
    expected = mean_interval([1 / 2, 1 / 2, 1], bounds=(0.0, 1.0))
    assert (found.low[0, 1], found.high[0, 1]) == (expected.low, expected.high)


def test_the_earliest_of_the_best_counts(tmp_path):
    (found,) = co_optimality(study_of(store(tmp_path / "s")), "first").matrices
    assert found[MRR, HIT] == 1  # 0 in {0, 2}, 1 in {0, 1}, 0 in {0, 1}
    assert found[HIT, MRR] == pytest.approx(2 / 3)  # 0 in {0, 1}, not in {1, 2}, in {0}


def test_less_is_better_for_some_metrics(tmp_path):
    trials = [trial(0, mrr=0.5, rank=9.0), trial(1, mrr=0.4, rank=3.0), trial(2, mrr=0.1, rank=3.0)]
    folder = store(tmp_path / "s", trials={"a": trials}, metrics=["mrr@10", "meanrank"])
    (found,) = co_optimality(study_of(folder)).matrices
    assert found["MRR@10", "MeanRank"] == 0
    assert found["MeanRank", "MRR@10"] == 0


def test_ratings_can_be_among_the_metrics(tmp_path):
    """Best by RMSE is the lowest; ranks have nothing to say of it."""
    trials = [trial(0, mrr=0.5, RMSE=0.9), trial(1, mrr=0.4, RMSE=0.8), trial(2, mrr=0.5, RMSE=0.8)]
    folder = store(tmp_path / "s", trials={"a": trials}, metrics=["mrr@10", "rmse"])
    study = study_of(folder)
    assert [str(metric) for metric in study.metrics] == ["MRR@10"]
    (found,) = co_optimality(study).matrices
    assert found["MRR@10", "RMSE"] == found["RMSE", "MRR@10"] == 1 / 2


def test_settings_that_came_again_count_once(tmp_path):
    again = {**trial(3, mrr=0.2, hit=0.1), "settings": {"reg": 2.0}}
    once = co_optimality(study_of(store(tmp_path / "once", trials={"b": B}))).matrices[0]
    twice = co_optimality(study_of(store(tmp_path / "twice", trials={"b": [*B, again]})))
    np.testing.assert_array_equal(twice.matrices[0].values, once.values)
    assert once[MRR, HIT] == 1 / 2  # 1 / 3 if trial 3 counted beside its twin


def test_each_split_has_a_matrix_of_its_own(tmp_path):
    time = store(tmp_path / "time", trials={"a": A})
    last = store(tmp_path / "last", trials={"c": C}, split={"strategy": "LeaveLast", "n": 1})
    found = co_optimality(study_of(time, last)).matrices
    assert [matrix.split for matrix in found] == ["all", "GlobalTime(test=0.2)", "LeaveLast(n=1)"]
    assert [matrix[MRR, HIT] for matrix in found] == [3 / 4, 1 / 2, 1]
    assert [int(matrix.counts[0, 1]) for matrix in found] == [2, 1, 1]


def test_a_pair_takes_the_searches_that_have_both(tmp_path):
    """Two benchmarks with other metrics: each pair is over the cases that know its values."""
    other = [trial(0, mrr=0.5, rank=1.0), trial(1, mrr=0.4, rank=2.0)]
    one = store(tmp_path / "one", trials={"a": A})
    two = store(tmp_path / "two", data="e", trials={"a": other}, metrics=["mrr@10", "meanrank"])
    (found,) = co_optimality(study_of(one, two)).matrices
    at = {name: j for j, name in enumerate(found.metrics)}
    assert found.counts[at[MRR], at[HIT]] == found.counts[at[MRR], at["MeanRank"]] == 1
    assert found.counts[at[MRR], at[MRR]] == 2
    assert found.counts[at[HIT], at["MeanRank"]] == 0
    assert np.isnan(found[HIT, "MeanRank"])


def test_searches_without_what_is_needed_are_named(tmp_path):
    """One finished trial; trials of a version that kept the tuned metric alone."""
    failed = {**trial(1), "value": None, "values": None}
    old = [{k: v for k, v in t.items() if k != "values"} for t in B]
    folder = store(tmp_path / "s", trials={"a": [A[0], failed], "b": old, "c": C})
    found = co_optimality(study_of(folder))
    assert found.matrices[0].counts[0, 1] == 1
    assert found.lacking == (
        "d: a: fewer than two finished trials of different settings (pruned and failed ones have "
        "no final value)",
        "d: b: trials of an older version, which kept the metric of the search alone",
    )


def test_a_metric_that_no_trial_has_is_left_out(tmp_path):
    found = co_optimality(study_of(store(tmp_path / "s"), metrics=["mrr@10", "hr@2", "ndcg@3"]))
    assert found.matrices[0].metrics == (MRR, HIT)
    assert found.lacking == ("NDCG@3: no trial has a validation value of it",)


@pytest.mark.parametrize(
    ("options", "metrics", "message"),
    [
        ({}, ["mrr@10"], "of two metrics or more, and MRR@10 is the only one"),
        ({"trials": {}}, [], r"there is none here \(no model was searched\)"),
        ({}, ["ndcg@3", "ndcg@5"], "NDCG@3: no trial has a validation value"),
    ],
)
def test_what_it_can_not_be_made_of(tmp_path, options, metrics, message):
    with pytest.raises(SpecError, match=message):
        co_optimality(study_of(store(tmp_path / "s", **options), metrics=metrics))


def test_credits_agree_with_a_slow_reference():
    rng = np.random.default_rng(5)
    names = ["ndcg@1", "ndcg@2", "meanrank"]
    for _ in range(50):
        values = {name: rng.integers(0, 3, 5).astype(float) for name in names}
        found = credits(values, names, "share")
        for i, a in enumerate(names):
            for j, b in enumerate(names):
                ends = [min(values[n]) if n == "meanrank" else max(values[n]) for n in (a, b)]
                best = [t for t in range(5) if values[a][t] == ends[0]]
                assert found[i, j] == sum(values[b][t] == ends[1] for t in best) / len(best)


def test_json_has_no_nan(tmp_path):
    found = co_optimality(study_of(store(tmp_path / "s", trials={"a": A}))).to_dict()
    json.dumps(found, allow_nan=False)
    assert found["matrices"][0]["pairs"][0]["n"] == 1
    assert "each counts alike" in found["tie_rule"]
