"""The spot check flags a point mass and passes a power law; exact ranks repair the fit."""

from __future__ import annotations

import numpy as np
import pytest
from tests.estimators.test_designs import world
from tests.estimators.worlds import as_ranks, law

from fullrank.core.errors import EstimateError
from fullrank.estimators import (
    SH,
    Doubling,
    Screened,
    Thinned,
    difference,
    efficiency,
    estimate,
    simulate,
    spot_check,
)
from fullrank.negatives import Uniform
from fullrank.rank import rank

N, M = 1500, 4000


def checked(name: str, seed: int = 0):
    places = np.random.default_rng(seed).choice(np.arange(1, N + 1), M, p=law(name, N))
    model, queries = world(places)
    ranked = rank(model, queries, candidates=Uniform(m=49), seed=seed).targets
    return places, ranked, spot_check(model, queries, ranked, rng=seed)


def test_a_point_mass_is_flagged_and_repaired():
    before, after = [], []
    for seed in range(4):
        places, ranked, check = checked("mass", seed)
        assert check.flagged
        assert check.observed.sum() == 200
        assert check.scored >= 200 * (N - 1)
        assert "wrong about the head" in str(check)
        true = ((places <= 10) / np.log2(places + 1)).mean()
        before.append(abs(estimate(ranked, "ndcg@10")[0].value - true))
        after.append(abs(estimate(check.ranks, "ndcg@10")[0].value - true))
    assert np.mean(after) < 0.6 * np.mean(before)


@pytest.mark.parametrize("seed", range(4))
def test_a_power_law_passes(seed):
    _, _, check = checked("pow.6", seed)
    assert not check.flagged
    assert check.expected.sum() == pytest.approx(200, rel=1e-6)


def test_exact_ranks_are_those_of_the_model():
    places, _, check = checked("mass")
    sample = check.ranks.sample
    whole = sample.sizes == sample.catalog_sizes
    assert whole.sum() == 200
    assert np.array_equal(sample.ranks[whole], places[whole])


def test_spot_check_refuses_what_it_cannot_check():
    places, ranked, _ = checked("pow.6")
    model, queries = world(places)
    with pytest.raises(EstimateError, match="the check is asked for of"):
        spot_check(model, queries[:10], ranked)
    last = world(np.full(50, N))
    flat = rank(*last, candidates=Uniform(m=49)).targets
    with pytest.raises(EstimateError, match="too few to check"):
        spot_check(*last, flat)


def test_efficiency_by_hand():
    """100 targets: 60 resolved at 10, 25 at 20, 10 at 40, 5 never."""
    ranks = [2] * 60 + [2] * 25 + [3] * 10 + [1] * 5
    sizes = [10] * 60 + [20] * 25 + [40] * 15
    found = efficiency(as_ranks(ranks, sizes, 1000))
    assert found.sizes.tolist() == [10, 20, 40]
    assert found.resolved.tolist() == [60, 25, 10]
    assert found.cost == pytest.approx([10 * 100 / 60, 10 * 40 / 25, 20 * 15 / 10])
    assert found.n_max == 80
    assert found.items == pytest.approx(np.mean(sizes))
    assert found.to_frame()["cost"].to_list() == pytest.approx(found.cost.tolist())
    with pytest.raises(EstimateError, match="all samples have the size 10"):
        efficiency(as_ranks([2, 3], 10, 1000))


def test_efficiency_of_a_stage_that_resolved_nobody_is_infinite():
    """Nobody stopped at 20: the stage was paid for all the same."""
    found = efficiency(as_ranks([2, 3, 1], [10, 40, 40], 1000))
    assert found.sizes.tolist() == [10, 20, 40]
    assert found.cost.tolist() == [30.0, np.inf, 40.0]
    assert found.left.tolist() == [3, 2, 2]
    assert found.to_frame()["cost"].null_count() == 1
    assert [stage["cost"] for stage in found.to_dict()["stages"]] == [30.0, None, 40.0]


def test_efficiency_of_catalogues_that_differ_and_of_designs_that_stop_by_a_coin():
    places = np.random.default_rng(0).choice(np.arange(1, N + 1), M, p=law("sharp", N))
    catalogs = N - np.arange(M) % 40
    drawn = simulate(np.minimum(places, catalogs), catalogs, Screened(), 0)
    found = efficiency(drawn)
    assert found.sizes.tolist()[:3] == [25, 50, 100]
    assert 180 <= found.sizes[3] <= 187
    assert found.resolved.sum() == (drawn.sample.ranks > 1).sum()
    with pytest.raises(EstimateError, match="came first in their sample and went no further"):
        efficiency(simulate(places, N, Thinned(), 0))


def test_cost_doubles_about_with_each_stage():
    places = np.random.default_rng(0).choice(np.arange(1, N + 1), M, p=law("sharp", N))
    found = efficiency(rank(*world(places), candidates=Doubling(first=20, n_max=640)).targets)
    assert (np.diff(np.log2(found.cost[:-1])) > 0.3).all()


def test_paired_difference_is_narrower_than_two_estimates():
    rng = np.random.default_rng(0)
    places = rng.choice(np.arange(1, N + 1), M, p=law("sharp", N))
    worse = np.minimum(places + rng.integers(0, 3, M), N)
    samples = [rank(*world(p), candidates=Thinned()).targets for p in (places, worse)]
    true = (worse <= 10).mean() - (places <= 10).mean()
    found = difference(*samples, "recall@10", method="mle", resamples=40)[0]
    alone = [estimate(s, "recall@10", method="mle", resamples=40)[0].estimate for s in samples]
    assert found.difference.low < true < found.difference.high
    assert found.difference.se < np.hypot(alone[0].se, alone[1].se)
    assert found.difference.value == pytest.approx(found.second - found.first)
    smooth = difference(*samples, "recall@10", method=SH(), resamples=5)[0]
    assert smooth.second == pytest.approx(found.second, rel=0.1)


def test_differences_of_other_queries_or_candidates_are_refused():
    places = np.full(60, 3)
    one = rank(*world(places), candidates=Uniform(m=20)).targets
    with pytest.raises(EstimateError, match="need the same queries"):
        difference(one, rank(*world(places[:50]), candidates=Uniform(m=20)).targets, "ndcg@10")
    with pytest.raises(EstimateError, match="drawn in different ways"):
        difference(one, rank(*world(places), candidates=Uniform(m=30)).targets, "ndcg@10")
