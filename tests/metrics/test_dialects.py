"""Dialects against plain versions of what each tool does to one list."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from tests.metrics import worlds

from fullrank.core.errors import SpecError
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.metrics import (
    AUC,
    DCG,
    MAP,
    MRR,
    NDCG,
    RBP,
    RMSE,
    HitRate,
    Precision,
    Recall,
    parse,
    per_query_many,
)
from fullrank.metrics.dialects import TOOLS, dialects
from fullrank.metrics.dialects._registry import dialects_of


def log_discount(places):
    return sum(1 / math.log2(place + 1) for place in places)


def clipped_discount(places):
    return sum(1 / math.log2(max(place, 2)) for place in places)


def average_precision(hits):
    return sum((i + 1) / place for i, place in enumerate(hits))


# What a tool computes from the places of the hits within k, the number of relevant items, and k.
PLAIN = {
    ("Recall", "lenskit"): lambda hits, n, k: len(hits) / min(n, k),
    ("Recall", "svpcf"): lambda hits, n, k: len(hits) / min(n, k),
    ("Recall", "recbole"): lambda hits, n, k: len(hits) / n,
    ("MAP", "rectools"): lambda hits, n, k: average_precision(hits) / n,
    ("MAP", "irspack"): lambda hits, n, k: average_precision(hits) / n,
    ("MAP", "ranx"): lambda hits, n, k: average_precision(hits) / n,
    ("MAP", "trec"): lambda hits, n, k: average_precision(hits) / n,
    ("MAP", "implicit"): lambda hits, n, k: average_precision(hits) / min(n, k),
    ("MAP", "recbole"): lambda hits, n, k: average_precision(hits) / min(n, k),
    ("MAP", "daisyrec"): lambda hits, n, k: average_precision(hits) / k,
    ("MRR", "daisyrec"): lambda hits, n, k: sum(1 / place for place in hits),
    ("MRR", "lenskit"): lambda hits, n, k: 1 / hits[0] if hits else 0.0,
    ("NDCG", "rectools"): lambda hits, n, k: log_discount(hits) / log_discount(range(1, k + 1)),
    ("NDCG", "recbole"): lambda hits, n, k: (
        log_discount(hits) / log_discount(range(1, min(n, k) + 1))
    ),
    ("NDCG", "implicit"): lambda hits, n, k: (
        log_discount(hits) / log_discount(range(1, min(n, k) + 1))
    ),
    ("NDCG", "lenskit"): lambda hits, n, k: (
        clipped_discount(hits) / clipped_discount(range(1, min(n, k) + 1))
    ),
    ("NDCG", "daisyrec"): lambda hits, n, k: (
        log_discount(hits) / log_discount(range(1, len(hits) + 1)) if hits else 0.0
    ),
    ("DCG", "lenskit"): lambda hits, n, k: clipped_discount(hits),
    ("RBP", "lenskit"): lambda hits, n, k: sum(0.15 * 0.85 ** (place - 1) for place in hits),
}


def _lists(ranked):
    for q in range(len(ranked)):
        part = slice(ranked.indptr[q], ranked.indptr[q + 1])
        relevant = ranked.gains[part] > 0
        places = sorted(int(r) for r in ranked.best[part][relevant] if r != UNRANKED)
        yield places, int(relevant.sum())


@pytest.mark.parametrize(("name", "tool"), sorted(PLAIN))
@given(ranked=worlds.ranks(ties=False))
def test_plain_version(name, tool, ranked):
    for k in (1, 3, 6):
        found = (parse(f"{name}(dialect={tool})@{k}")).per_query(ranked)
        empty = dialects_of(tool)[name].empty
        for value, (places, n) in zip(found, _lists(ranked), strict=True):
            hits = [place for place in places if place <= k]
            want = PLAIN[name, tool](hits, n, k) if n else empty
            assert value == pytest.approx(want, abs=1e-12, nan_ok=True)


def test_every_tool_says_what_differs_and_where_that_is_written():
    for tool in TOOLS:
        for name, dialect in dialects_of(tool).items():
            assert dialect.tool == tool
            assert dialect.why
            assert "/" in dialect.source
            metric = parse(f"{name}@5" if parse_cutoff(name) else name)
            assert str(metric(dialect=tool.upper())).count(f"dialect={tool}") == 1


def parse_cutoff(name):
    return name not in ("AUC", "MeanRank", "RPrecision")


def test_same_means_same():
    ranked = worlds.random_ranks(3, levels=30)
    for tool in TOOLS:
        for name, dialect in dialects_of(tool).items():
            if dialect.why.startswith("same"):
                metric = parse(f"{name}@5" if parse_cutoff(name) else name)
                np.testing.assert_array_equal(
                    metric(dialect=tool).per_query(ranked), metric.per_query(ranked)
                )


def test_one_target_at_rank_two_scores_as_each_tool_has_it():
    """The same list, different numbers: LensKit's discount, RecTools' ideal."""
    ranked = TargetRanks.of([[2]])
    assert (NDCG @ 5).value(ranked) == pytest.approx(1 / math.log2(3))
    assert (NDCG(dialect="lenskit") @ 5).value(ranked) == 1.0
    assert (NDCG(dialect="daisyrec") @ 5).value(ranked) == pytest.approx(1 / math.log2(3))
    five = sum(1 / math.log2(r + 1) for r in range(1, 6))
    assert (NDCG(dialect="rectools") @ 5).value(ranked) == pytest.approx(1 / math.log2(3) / five)


def test_rectools_worked_examples():
    """The values in RecTools' own docstrings: four users, k = 3."""
    ranked = TargetRanks.of([[None, None], [1], [1, 3, 4], [1, 2, 3]])
    ndcg = (NDCG(dialect="rectools") @ 3).per_query(ranked)
    np.testing.assert_allclose(ndcg, [0, 0.46927873, 0.70391809, 1], atol=5e-9)
    ap = (MAP(dialect="rectools") @ 3).per_query(ranked)
    np.testing.assert_allclose(ap, [0, 1, 0.55555556, 1], atol=5e-9)


def test_implicit_pools_hits_over_users():
    """D04: two relevant items at ranks 1 and 6 give 1, 0.5, 0.5, 1; another user is pooled in."""
    ranked = TargetRanks.of([[1, 6]])
    values = [(Precision(dialect="implicit") @ k).value(ranked) for k in (1, 2, 5, 10)]
    assert values == [1.0, 0.5, 0.5, 1.0]
    two = TargetRanks.of([[1, 6], [9], []])
    assert (Precision(dialect="implicit") @ 5).value(two) == pytest.approx(1 / (2 + 1))
    with pytest.raises(SpecError, match="implicit pools Precision over users"):
        (Precision(dialect="implicit") @ 5).per_query(two)


def test_daisyrec_needs_an_order():
    tied = TargetRanks.of([[1]], worst=[[2]])
    with pytest.raises(SpecError, match="no expectation over equal scores"):
        (NDCG(dialect="daisyrec") @ 5).per_query(tied)
    assert (MRR(dialect="daisyrec") @ 5).per_query(tied)[0] == 0.75


@pytest.mark.parametrize("tool", ["rectools", "daisyrec"])
def test_a_cutoff_is_needed(tool):
    with pytest.raises(SpecError, match=f"{tool} defines it with a cut-off only"):
        NDCG(dialect=tool).per_query(TargetRanks.of([[1]]))


def test_queries_without_targets():
    ranked = TargetRanks.of([[1], []])
    assert (NDCG(dialect="ranx") @ 5).value(ranked) == 0.5
    assert (NDCG(dialect="recbole") @ 5).value(ranked) == 1.0


def test_depth_is_checked_for_dialects_too():
    with pytest.raises(SpecError, match="depth 3"):
        (NDCG(dialect="rectools") @ 5).per_query(TargetRanks.of([[1]], depth=3))
    with pytest.raises(SpecError, match="depth 3"):
        (Precision(dialect="implicit") @ 5).value(TargetRanks.of([[1]], depth=3))


def test_table():
    ranked = TargetRanks.of([[2, 7], [None]], [[3.0, 1.0], [1.0]])
    rows = dialects(ranked, [NDCG @ 5, Precision @ 5, HitRate @ 1])
    first = [row for row in rows if row.metric == NDCG @ 5]
    assert [row.tool for row in first] == ["fullrank", *TOOLS]
    assert first[0].value == (NDCG @ 5).value(ranked)
    by_tool = {row.tool: row.value for row in first}
    assert by_tool["trec"] == (NDCG(gain="linear") @ 5).value(ranked)
    assert len({round(value, 6) for value in by_tool.values()}) >= 5
    precision = {row.tool: row for row in rows if row.metric == Precision @ 5}
    assert precision["implicit"].value == pytest.approx(1 / 3)
    assert "rises with k" in precision["implicit"].why
    assert "implicit" not in {row.tool for row in rows if row.metric == HitRate @ 1}


def test_table_says_why_there_is_no_value():
    tied = TargetRanks.of([[1]], worst=[[3]])
    row = next(r for r in dialects(tied, [NDCG @ 5]) if r.tool == "daisyrec")
    assert math.isnan(row.value)
    assert "break the ties first" in row.why


def test_several_cutoffs_at_once():
    ranked = worlds.random_ranks(1)
    wanted = NDCG(dialect="rectools") @ [1, 5] + Recall(dialect="lenskit") @ [2, 9]
    for metric, values in per_query_many(ranked, wanted).items():
        np.testing.assert_array_equal(values, metric.per_query(ranked))


def test_metrics_without_dialects():
    with pytest.raises(SpecError, match="RMSE has no options"):
        RMSE(dialect="trec")
    with pytest.raises(SpecError, match="MeanRank has no dialect 'trec'"):
        parse("meanrank(dialect=trec)")
    assert str(AUC(dialect="sklearn")) == "AUC(dialect=sklearn)"
    assert (RBP(dialect="lenskit") @ 5).options == {"dialect": "lenskit"}
    assert DCG(dialect="ranx").k is None


@pytest.mark.parametrize("name", ["NDCG", "Precision", "Recall", "F1", "MAP", "MRR"])
def test_the_largest_cutoff_is_the_whole_ranking(name):
    ranked = worlds.random_ranks(4)
    metric, last = parse(f"{name}@1"), 2**31 - 2
    values = (metric @ last).per_query(ranked)
    np.testing.assert_array_equal(values, per_query_many(ranked, metric @ [last, 7])[metric @ last])
    if name not in ("Precision", "F1"):
        np.testing.assert_array_equal(values, metric(k=None).per_query(ranked))


def test_rectools_refuses_an_ideal_that_is_too_long():
    ranked = TargetRanks.of([[1]])
    with pytest.raises(SpecError, match="k up to 10,000,000"):
        (NDCG(dialect="rectools") @ (2**31 - 2)).value(ranked)
    rows = dialects(ranked, [NDCG @ (2**31 - 2)])
    assert math.isnan(next(row.value for row in rows if row.tool == "rectools"))
