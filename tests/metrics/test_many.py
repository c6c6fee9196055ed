"""Several metrics at once give what each gives alone, quickly."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from tests.metrics import worlds

from fullrank import metrics
from fullrank.core.errors import SpecError
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.metrics import AUC, NDCG, Precision, parse_many, per_query_many
from fullrank.metrics._base import Metric

ALL = parse_many(
    "ndcg@1,3,10;ndcg;ndcg(gain=linear)@3,5;dcg@2;precision@1,5;recall@2,3;recall(rel=2)@2;hr@1,4;"
    "f1@3;mrr@2;mrr;map@1,3;map(denominator=relevant)@3;rbp@2;rbp(p=0.5);rprecision;auc;meanrank;"
    "ndcg(dialect=sklearn)@3,5"
)


@given(ranked=worlds.ranks())
def test_equals_one_by_one(ranked):
    together = per_query_many(ranked, ALL)
    assert list(together) == list(ALL)
    for metric, values in together.items():
        np.testing.assert_array_equal(values, metric.per_query(ranked))
        assert values.flags.c_contiguous


@pytest.mark.parametrize("levels", [None, 6])
@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_blocks_and_threads_change_no_bit(levels, threads, monkeypatch):
    """Ties, grades, unranked targets, and cut-offs below, at and beyond the catalogue."""
    part = worlds.random_ranks(3, n_queries=60, n_candidates=90, targets=9, levels=levels)
    some = np.flatnonzero(np.random.default_rng(0).random(len(part.best)) < 0.1)
    best, worst = part.best.copy(), part.worst.copy()
    best[some] = worst[some] = UNRANKED
    ranked = replace(part, best=best, worst=worst)
    wanted = [*ALL, *parse_many("ndcg@90,500;recall@90,500;map@500;mrr@500;rbp@500;f1@500;p@500")]
    alone = {metric: metric.per_query(ranked) for metric in wanted}
    monkeypatch.setattr("fullrank.metrics._many._BLOCK", 7)
    monkeypatch.setenv("FULLRANK_THREADS", threads)
    for metric, values in per_query_many(ranked, wanted).items():
        assert values.tobytes() == alone[metric].tobytes(), metric


def test_each_once_in_the_order_given():
    ranked = TargetRanks.of([[1]])
    wanted = [NDCG @ 5, Precision @ 1, NDCG @ 1, NDCG @ 5]
    assert list(per_query_many(ranked, wanted)) == [NDCG @ 5, Precision @ 1, NDCG @ 1]
    assert per_query_many(ranked, []) == {}


def test_every_cutoff_is_checked():
    with pytest.raises(SpecError, match=r"NDCG@7 .*depth 5"):
        per_query_many(TargetRanks.of([[1]], depth=5), NDCG @ [3, 7])


def test_a_metric_of_someone_else():
    class First(Metric):
        name = "First"

        def per_query(self, data):
            return np.ones(len(data))

    values = per_query_many(TargetRanks.of([[1], [2]]), [First(), NDCG @ 1])
    assert values[First()].tolist() == [1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("levels", [None, 20])
def test_a_million_queries(levels):
    """A million queries of five targets, eight metrics at three cut-offs: a few seconds."""
    part = worlds.random_ranks(0, n_queries=1000, n_candidates=5000, targets=9, levels=levels)
    ranked = part[np.tile(np.arange(1000), 1000)]
    wanted = parse_many(
        "ndcg@10,20,100;recall@10,20,100;precision@10,20,100;map@10,20,100;mrr@10,20,100;"
        "hr@10,20,100;f1@10,20,100;auc"
    )
    per_query_many(part, wanted)
    start = time.perf_counter()
    per_query_many(ranked, wanted)
    assert time.perf_counter() - start < 10


def test_auc_alone_and_registry_agree():
    assert metrics.AUC is AUC
