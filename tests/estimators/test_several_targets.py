"""Adaptive designs with several targets a query, whose samples then differ in size."""

from __future__ import annotations

import numpy as np
import pytest

import fullrank as fr
from fullrank.core.ragged import rows_of
from fullrank.estimators import Doubling, ProxyList, Screened, Thinned, Unthinned, estimate
from fullrank.estimators.raw import taken_as_full
from fullrank.models import Popularity
from fullrank.rank import rank


@pytest.fixture(scope="module")
def world():
    """A popularity model and queries with two targets."""
    rng = np.random.default_rng(0)
    clicks = np.stack([rng.integers(0, 300, 9000), rng.pareto(1.0, 9000) * 30], axis=1)
    clicks = np.unique(np.minimum(clicks.astype(int), 599), axis=0)
    log = fr.read({"user_id": clicks[:, 0], "item_id": clicks[:, 1]}).interactions
    split = fr.LeaveRandom(n=2).split(log)
    return Popularity().fit(split.train), split.queries("test")


@pytest.mark.parametrize(
    "make",
    [
        lambda model: Thinned(),
        lambda model: Screened(),
        lambda model: Unthinned(),
        lambda model: Doubling(first=20, n_max=160),
        lambda model: ProxyList(proxy=model, length=20),
    ],
)
def test_estimates_of_several_seeds_are_about_the_truth(world, make):
    model, queries = world
    true = fr.parse("ndcg@10").value(rank(model, queries).targets)
    off = []
    for seed in range(3):
        ranks = rank(model, queries, candidates=make(model), seed=seed).targets
        assert len(np.unique(ranks.sample.sizes)) > 1
        one = estimate(ranks, "ndcg@10", draws=50)[0]
        off.append((one.value - true) / max(one.se_items, 1e-3))
    assert abs(np.mean(off)) < 2.5, off


def test_no_two_targets_share_a_place_in_the_raw_ranks(world):
    model, queries = world
    ranks = rank(model, queries, candidates=Unthinned(), seed=1).targets
    full = taken_as_full(ranks)
    found = full.ranked
    rows = rows_of(full.indptr)[found]
    keys = rows * 10_000 + full.best[found]
    assert len(np.unique(keys)) == len(keys) > 500
    assert (full.best[found] <= full.n_candidates[rows]).all()
    assert full.best[found].sum() >= (ranks.sample.ranks + ranks.sample.others)[ranks.ranked].sum()
