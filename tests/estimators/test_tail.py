"""AUC and MeanRank where catalogues differ, and errors from the sampling of items alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.estimators.test_terms import N, world
from tests.estimators.worlds import full_ranks, law

import fullrank as fr
from fullrank.core.ranked import TargetRanks
from fullrank.estimators import Thinned, difference, estimate, simulate
from fullrank.negatives import Uniform

OPTIONS = {"resamples": 20}


def catalogues(kind: str, m: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "masked":
        return 3000 - np.minimum(rng.lognormal(4.8, 1.0, m), 2000).astype(int)
    small, large = (int(x) for x in kind.split("/"))
    return np.where(np.arange(m) % 2, small, large)


@pytest.mark.parametrize("design", [Uniform(m=49), Uniform(m=49, replacement=True), Thinned()])
@pytest.mark.parametrize("kind", ["200/20000", "1000/3000", "masked"])
def test_tail_metrics_are_of_each_targets_own_catalogue(kind, design):
    rng = np.random.default_rng(1)
    sizes = catalogues(kind, 1500, rng)
    ranks = np.array([1 + int((n - 1) * rng.random() ** 3) for n in sizes])
    full = TargetRanks.of([[r] for r in ranks.tolist()], n_candidates=sizes.tolist())
    for one in estimate(simulate(ranks, sizes, design, 3), ["auc", "meanrank"], **OPTIONS):
        true = fr.parse(one.metric).value(full)
        assert abs(one.value - true) < 4 * one.se_items, one
        assert one.se_items < 0.02 * true


@pytest.mark.parametrize("graded", [False, True])
def test_tail_metrics_of_several_targets_are_exact_in_whole_catalogues(graded):
    full, sample = world(graded)
    for metric in ("auc", "meanrank", "meanrank(rel=2)", "auc(rel=1)", "ndcg@5"):
        found = estimate(sample, metric, **OPTIONS)[0]
        assert found.value == pytest.approx(fr.parse(metric).value(full), abs=1e-9, nan_ok=True)
        assert found.estimate.n_queries == np.isfinite(fr.parse(metric).per_query(full)).sum()
    assert N < 1000  # ranks with a bin of their own


def test_errors_from_items_are_what_repeated_samples_show():
    """Also where users differ by far more than candidates matter; no interval has no width."""
    n, m = 1000, 1000
    ranks = np.random.default_rng(1).choice(np.arange(1, n + 1), m, p=law("pow.6", n))
    for metric, method in (("auc", "mle"), ("recall@10", "bv"), ("recall@50", "cls")):
        found = [
            estimate(simulate(ranks, n, Uniform(m=24), seed), metric, method=method, **OPTIONS)[0]
            for seed in range(12)
        ]
        spread = np.std([one.value for one in found], ddof=1)
        said = [one.se_items for one in found]
        assert min(said) > 0
        assert np.mean(said) == pytest.approx(spread, rel=0.6)
        assert all(one.these_users.low < one.value < one.these_users.high for one in found)


def test_adaptive_samples_have_an_error_from_items_too():
    ranks = full_ranks("sharp", 800, 800, np.random.default_rng(0))
    found = [
        estimate(simulate(ranks, 800, Thinned(), seed), "ndcg@10", method="mle", **OPTIONS)[0]
        for seed in range(12)
    ]
    spread = np.std([one.value for one in found], ddof=1)
    assert np.mean([one.se_items for one in found]) == pytest.approx(spread, rel=0.6)


def test_a_difference_is_that_of_the_estimates():
    rng = np.random.default_rng(0)
    places = full_ranks("sharp", 500, 400, rng)
    two = [simulate(p, 500, Uniform(m=24), 1) for p in (places, np.minimum(places + 5, 500))]
    metrics = ["auc", "ndcg@10", "meanrank"]
    said = [estimate(one, metrics, **OPTIONS) for one in two]
    for j, one in enumerate(difference(*two, metrics, resamples=5)):
        assert (one.first, one.second) == (said[0][j].value, said[1][j].value)
        assert one.difference.value == one.second - one.first
        assert one.difference.low <= one.difference.value <= one.difference.high
        assert str(one).startswith(f"{one.metric}: second {one.second:.4f} less first")
        assert "SH" in one.difference.method or one.metric != "NDCG@10"


@pytest.mark.parametrize("method", ["auto", "mle", "cls", "raw"])
def test_without_relevant_targets_nothing_is_defined(method):
    ranks = simulate(np.arange(1, 200), 1000, Uniform(m=49), 0)
    one = estimate(replace(ranks, gains=np.zeros(199)), "ndcg@10", method=method, **OPTIONS)[0]
    told = one.to_dict()
    assert told["value"] is told["low"] is told["these_users"][0] is None
    assert told["undefined"] == 199


def test_intervals_hold_their_value_and_those_of_these_users():
    ranks = simulate(np.array([1, 1, 1, 1, 2]), 50, Uniform(m=9), 0)
    for method in ("sh", "mle", "bv"):
        for level in (0.001, 0.5, 0.95):
            one = estimate(ranks, "ndcg@10", method=method, level=level, **OPTIONS)[0]
            ends = [one.estimate.low, one.these_users.low, one.value]
            assert ends == sorted(ends)
            ends = [one.value, one.these_users.high, one.estimate.high]
            assert ends == sorted(ends)
            assert 0 <= one.value <= 1
