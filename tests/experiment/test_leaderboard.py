"""The leaderboard and its tests: families, baselines, and work done once."""

import numpy as np
import pytest
from tests.experiment.worlds import run_in

from fullrank.experiment import leaderboard as module
from fullrank.experiment.leaderboard import entries, leaderboard, paired_tests
from fullrank.report import render_report, summary_text

FIXED = {
    "model": [{"name": "Popularity"}, {"name": "EASE", "settings": {"reg": 5.0}}],
    "tune": None,
}


RATERS = [
    {"name": "Popularity"},
    {"name": "BiasOnly"},
    {"name": "BiasOnly", "label": "stiff", "settings": {"reg_user": 1000.0, "reg_item": 1000.0}},
]


def test_rank_and_rating_metrics_are_one_family(tmp_path):
    models = [RATERS[1], RATERS[2], RATERS[0]]
    results = run_in(tmp_path, model=models, tune=None, metrics=["ndcg@10", "mrr@10", "rmse"])
    tests = paired_tests(results)
    for users in ("all", "warm", "cold"):
        here = [test for test in tests if test["users"] == users]
        assert len(here) == 5  # two models × two ranking metrics, and one of them has ratings
        (family,) = {test["family"] for test in here}
        what = f"2 models against BiasOnly, all metrics, {users} users, small"
        assert family == f"Holm over 5 comparisons ({what})"
        p = np.array([test["p"] for test in here])
        order = np.argsort(p)
        expected = np.minimum(np.maximum.accumulate((5 - np.arange(5)) * p[order]), 1)
        assert np.array([t["p_adjusted"] for t in here])[order] == pytest.approx(expected)


def test_rating_metrics_have_a_baseline_that_predicts_ratings(tmp_path):
    results = run_in(tmp_path, model=RATERS, tune=None, metrics=["ndcg@10", "rmse", "mae"])
    tests = [test for test in paired_tests(results) if test["users"] == "all"]
    assert {(t["metric"], t["model"], t["baseline"]) for t in tests} == {
        ("NDCG@10", "BiasOnly", "Popularity"), ("NDCG@10", "stiff", "Popularity"),
        ("RMSE", "stiff", "BiasOnly"), ("MAE", "stiff", "BiasOnly"),
    }  # fmt: skip
    text = " ".join(summary_text(results).split())
    assert "worse than Popularity (for RMSE, MAE than BiasOnly) at the 5 % level" in text
    assert "No test" not in text
    assert "RMSE, differences to BiasOnly" in render_report(results)
    assert {test["family"] for test in tests} == {
        "Holm over 4 comparisons (2 models against Popularity, all metrics (RMSE, MAE against "
        "BiasOnly), all users, small)"
    }


def test_work_that_tables_share_is_done_once(tmp_path, monkeypatch):
    results = run_in(tmp_path, **FIXED)
    calls = []
    plain = module.rank_values
    monkeypatch.setattr(module, "rank_values", lambda *args: calls.append(1) or plain(*args))
    first = leaderboard(results)
    first[0]["value"] = "spoilt"  # what one caller does to its rows is not for the next
    paired_tests(results)
    entries(results).clear()
    again = leaderboard(results)
    assert len(calls) == len(results.cells)
    assert again[0]["value"] != "spoilt"
    assert len({id(entry.keys) for entry in entries(results)}) == len(results.data)


@pytest.mark.parametrize("first", ["ndcg@10", "rmse"])
def test_a_single_rating_model_has_no_test_and_that_is_said(tmp_path, first):
    metrics = [first, *({"ndcg@10", "rmse"} - {first})]
    results = run_in(tmp_path, model=RATERS[:2], tune=None, metrics=metrics)
    assert {test["metric"] for test in paired_tests(results)} == {"NDCG@10"}
    reason = "No test of RMSE: BiasOnly is the only model here that predicts ratings."
    assert reason in " ".join(summary_text(results).split())
    page = render_report(results)
    assert page.count(reason) >= 2  # below the leaderboard, and beside the differences
    alone = "RMSE of BiasOnly is "
    assert (alone in " ".join(summary_text(results).split())) is (first == "rmse")


def test_a_rating_metric_may_come_first(tmp_path):
    results = run_in(tmp_path, model=RATERS, tune=None, metrics=["rmse", "ndcg@10"])
    text = " ".join(summary_text(results).split())
    assert "the baseline BiasOnly" in text or "That is the baseline itself" in text
    assert "the baseline Popularity" not in text
