"""Ties: the value is the mean over all orders that equal scores leave open."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics import reference, worlds

from fullrank.core.ranked import TargetRanks
from fullrank.kernels import firsts
from fullrank.metrics import (
    AUC,
    DCG,
    F1,
    MAP,
    MRR,
    NDCG,
    RBP,
    HitRate,
    MeanRank,
    Precision,
    Recall,
    RPrecision,
)

CASES = [
    (Precision, {}),
    (Recall, {}),
    (Recall(rel=2), {"rel": 2}),
    (HitRate, {}),
    (HitRate(rel=2), {"rel": 2}),
    (F1, {}),
    (MRR, {}),
    (MRR(rel=2), {"rel": 2}),
    (MAP, {}),
    (MAP(rel=2), {"rel": 2}),
    (MAP(denominator="relevant"), {"denominator": "relevant"}),
    (NDCG, {}),
    (NDCG(rel=2), {"rel": 2}),
    (NDCG(gain="linear"), {"gain": "linear"}),
    (NDCG(gain="binary"), {"gain": "binary"}),
    (DCG, {}),
    (DCG(gain="linear"), {"gain": "linear"}),
    (RBP, {}),
    (RBP(p=0.3), {"p": 0.3}),
    (RPrecision, {}),
    (AUC, {}),
    (AUC(rel=2), {"rel": 2}),
    (MeanRank, {}),
]


@pytest.mark.parametrize(("metric", "options"), CASES, ids=lambda x: str(x))
@settings(max_examples=40)
@given(ranked=worlds.ranks(), k=st.one_of(st.none(), st.integers(1, 9)))
def test_equals_the_mean_over_all_orders(metric, options, ranked, k):
    if metric.cutoff == "none":
        k = None
    elif metric.cutoff == "required":
        k = k or 4
    found = metric(k=k).per_query(ranked)
    name = metric.name.lower()
    for query in range(len(ranked)):
        want = reference.expectation(ranked, query, name, k, **options)
        assert found[query] == pytest.approx(want, abs=1e-12, nan_ok=True)


def _first_of(above, size, relevant, places):
    """E[1/rank of the first], summed over its place in exact fractions of whole numbers."""
    total = math.comb(size, relevant)
    return math.fsum(
        math.comb(size - j, relevant - 1) / total / (above + j) for j in range(1, places + 1)
    )


@settings(max_examples=150)
@given(
    above=st.integers(0, 3000),
    size=st.integers(2, 3000),
    relevant=st.integers(2, 12),
    share=st.floats(0.0, 1.0),
)
def test_first_of_several_targets_in_a_long_block(above, size, relevant, share):
    relevant = min(relevant, size)
    k = above + max(1, math.ceil(share * size))
    ranked = TargetRanks.of([[above + 1] * relevant], worst=[[above + size] * relevant])
    want = _first_of(above, size, relevant, min(size, k - above))
    assert (MRR @ k).per_query(ranked)[0] == pytest.approx(want, rel=1e-11)


def test_recurrence_and_plain_sum_agree_where_both_are_used():
    grown = [(0, 5000, 3), (500, 5000, 4), (0, 20000, 40), (4000, 4000, 3)]
    for above, size, relevant in grown:
        places = size // 2
        assert firsts._growth(above, size, relevant) <= firsts._GROWTH
        one = sum(1 / (above + j) for j in range(1, places + 1)) / size
        fast = firsts._recurrence(above, size, relevant, places, one)
        assert fast == pytest.approx(firsts._plain(above, size, relevant, places), rel=1e-12)


@pytest.mark.parametrize("size", [2, 63, 64, 65, 66, 1000, 40_000])
@pytest.mark.parametrize("above", [0, 17, 100_000])
def test_long_blocks_by_closed_form(size, above):
    """A difference of running sums is as good as the sum itself, far down the ranking too."""
    first, last = above + 1, above + size
    ranked = TargetRanks.of([[first, first]], worst=[[last, last]])
    r = np.arange(first, last + 1)
    mean_discount = math.fsum(1 / np.log2(r + 1)) / size
    assert DCG.per_query(ranked)[0] == pytest.approx(2 * mean_discount, rel=1e-12)
    ap = math.fsum((1 + (j / (size - 1))) / rank for j, rank in enumerate(r)) * 2 / size / 2
    assert MAP.per_query(ranked)[0] == pytest.approx(ap, rel=1e-11)


@pytest.mark.parametrize("order", [0, 4])
def test_constant_scores_are_chance_whatever_the_input_order(order):
    """D02: five candidates of one score, the relevant one given first, then last."""
    from fullrank.core.ranked import UNRANKED

    scores = np.full(5, 0.5)
    best = int((scores > scores[order]).sum()) + 1
    worst = int((scores >= scores[order]).sum())
    ranked = TargetRanks.of([[best]], worst=[[worst]], n_candidates=[5])
    assert ranked.best[0] != UNRANKED
    want = {
        HitRate @ 1: 0.2,
        HitRate @ 3: 0.6,
        MRR @ 5: 0.456667,
        NDCG @ 3: 0.426186,
        NDCG @ 5: 0.589692,
        AUC: 0.5,
        MeanRank: 3.0,
    }
    for metric, value in want.items():
        assert metric.per_query(ranked)[0] == pytest.approx(value, abs=5e-7)


@given(ranked=worlds.ranks())
def test_expectation_lies_between_the_bounds(ranked):
    for metric in (HitRate @ 2, F1 @ 3, MRR, MAP @ 3, NDCG @ 3, RPrecision, AUC, MeanRank):
        value = metric.per_query(ranked)
        ends = np.sort(
            [metric.per_query(r) for r in (ranked.optimistic(), ranked.pessimistic())], axis=0
        )
        known = ~np.isnan(value)
        assert np.all(ends[0][known] <= value[known] + 1e-12)
        assert np.all(value[known] <= ends[1][known] + 1e-12)


@given(ranked=worlds.ranks())
def test_bounds_are_attained(ranked):
    """The best and the worst of all orders are those of optimistic and pessimistic ranks."""
    high = (NDCG @ 3).per_query(ranked.optimistic())
    low = (NDCG @ 3).per_query(ranked.pessimistic())
    for query in range(len(ranked)):
        values = [
            reference.Order(order, lost).ndcg(3)
            for order, lost in reference.orders(ranked, query)
            if reference.Order(order, lost).n
        ]
        if values:
            assert high[query] == pytest.approx(max(values), abs=1e-12)
            assert low[query] == pytest.approx(min(values), abs=1e-12)
