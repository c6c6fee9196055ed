"""Dialects against plain versions of what each tool does to one list."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
import pytrec_eval
import sklearn.metrics
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
from fullrank.rank import ranks_from_lists


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
    ranked = worlds.random_ranks(3, levels=30).pessimistic()
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


def tools_by_ties():
    for tool in TOOLS:
        for name, dialect in dialects_of(tool).items():
            metric = parse(f"{name}@5" if parse_cutoff(name) else name)
            yield pytest.param(metric(dialect=tool), dialect, id=f"{tool} {name}")


@pytest.mark.parametrize(("metric", "dialect"), list(tools_by_ties()))
def test_equal_scores_that_a_tool_orders_in_a_way_of_its_own(metric, dialect):
    tied = TargetRanks.of([[1], [2]], worst=[[1], [3]], n_candidates=[9, 9])
    if not dialect.ties:
        assert dialect.tool == "sklearn"
        assert metric.value(tied) == metric(dialect=None, **dialect.options).value(tied)
        return
    with pytest.raises(SpecError, match=r"user 1.*give a rank column"):
        metric.value(tied)
    assert metric.value(tied.optimistic()) > 0.0


def test_equal_scores_beyond_the_cutoff_decide_nothing():
    tied = TargetRanks.of([[1, 4], [2]], worst=[[1, 9], [2]])
    for tool in TOOLS:
        for name in set(dialects_of(tool)) - {"AUC", "RPrecision"}:
            metric = parse(name if name == "RBP" else f"{name}@3")(dialect=tool) @ 3
            assert metric.value(tied) == metric.value(tied.pessimistic())
    with pytest.raises(SpecError, match="equal scores"):
        per_query_many(tied, NDCG(dialect="trec") @ [3, 4])


def test_scores_that_tie_in_scikit_learn_count_as_the_mean_of_their_orders():
    grades, scores = np.array([[3.0, 0, 1, 0, 2]]), np.array([[0.5, 0.5, 0.9, 0.1, 0.5]])
    ranked = TargetRanks.of([[1, 2, 2]], [[1.0, 3.0, 2.0]], worst=[[1, 4, 4]])
    for k in (1, 2, 3, 5):
        want = sklearn.metrics.ndcg_score(grades, scores, k=k)
        assert (NDCG(dialect="sklearn") @ k).value(ranked) == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize(("target", "rank"), [("a", 2), ("b", 1)])
def test_trec_eval_orders_equal_scores_by_document_id(target, rank):
    """What makes our expectation no answer for trec_eval: it gives 1 or 1/2 by the name."""
    run = {"q": {"a": 0.5, "b": 0.5 + 1e-12}}
    found = pytrec_eval.RelevanceEvaluator({"q": {target: 1}}, {"recip_rank"}).evaluate(run)
    assert found["q"]["recip_rank"] == 1 / rank
    tied = ranks_from_lists(
        pl.DataFrame({"user_id": ["q", "q"], "item_id": ["a", "b"], "score": [0.5, 0.5]}),
        {"q": [target]},
    )
    assert MRR.value(tied) == 0.75
    row = next(row for row in dialects(tied, [MRR]) if row.tool == "trec")
    assert row.value is None
    assert "document id" in row.why


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
    assert row.value is None
    assert "break the ties" in row.why
    assert row.to_dict()["value"] is None


def test_rows_of_the_table_are_json():
    nobody = TargetRanks.of([[], []])
    rows = [row.to_dict() for row in dialects(nobody, [NDCG @ 5, Recall @ 3, MRR])]
    assert {row["value"] for row in rows} == {None, 0.0}
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert {row["metric"] for row in rows} == {"NDCG@5", "Recall@3", "MRR"}


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
    assert next(row.value for row in rows if row.tool == "rectools") is None
