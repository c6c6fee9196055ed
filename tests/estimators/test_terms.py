"""Every rank metric is a sum of terms of single targets, given how many are ahead of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.core.ragged import rows_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample
from fullrank.estimators._terms import Kinds
from fullrank.metrics import parse

N = 40
METRICS = (
    "ndcg@10", "ndcg", "recall@5", "precision@5", "hitrate@7", "mrr", "mrr@10", "map@10",
    "map(denominator=relevant)@20", "f1@10", "rprecision", "rbp", "dcg@10", "auc", "meanrank",
    "ndcg(gain=linear)@10", "recall(rel=2)@10", "map(rel=2)@10",
)  # fmt: skip


def world(graded: bool) -> tuple[TargetRanks, TargetRanks]:
    """Full ranks of several targets a query, some unranked, and the same as a whole sample."""
    rng = np.random.default_rng(1)
    ranks, gains = [], []
    for _ in range(40):
        size = rng.integers(1, 6)
        row = sorted(rng.choice(np.arange(1, N + size), size, replace=False).tolist())
        ranks.append([*row[:-1], None if rng.random() < 0.4 else row[-1]])
        gains.append(rng.integers(1, 4, size).astype(float).tolist())
    known = [N - 1 + sum(x is not None for x in row) for row in ranks]
    full = TargetRanks.of(ranks, gains=gains if graded else None, n_candidates=known)
    place = np.array([j for row in ranks for j in range(len(row))])
    others = np.where(full.ranked, place, 0).astype(np.int32)
    mine = np.where(full.ranked, full.best - place, 0).astype(np.int32)
    whole = np.full(len(mine), N, np.int32)
    return full, replace(full, sample=Sample(mine, whole, whole, others), others="excluded")


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_terms_add_up_to_the_metric(name, graded):
    metric = parse(name)
    full, sample = world(graded)
    kinds, rows = Kinds.of(sample), rows_of(full.indptr)
    found, mine = (
        kinds.empty([metric], N)[kinds.query_pattern, 0],
        np.flatnonzero(kinds.member >= 0),
    )
    ranks = sample.sample.ranks[mine].astype(np.int64)
    np.add.at(found, rows[mine], kinds.values([metric], kinds.member[mine], ranks, N)[:, 0])
    assert found == pytest.approx(metric.per_query(full), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_shapes_and_scales_are_the_terms(name, graded):
    metric = parse(name)
    kinds = Kinds.of(world(graded)[1])
    every, ranks = np.arange(len(kinds)), np.arange(1, N + 1)
    terms = kinds.terms([metric], every, N)[0]
    for kind in every:
        shape = kinds.function([metric], terms.shapes[terms.member[kind]], N)(ranks)
        own = kinds.function([metric], kind, N)(ranks)
        assert terms.scale[kind] * shape == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("graded", [False, True])
def test_metrics_together_are_what_each_is_alone(graded):
    metrics = [parse(name) for name in METRICS]
    kinds = Kinds.of(world(graded)[1])
    every, ranks = np.arange(len(kinds)), np.arange(1, N + 1)
    alone = [kinds.terms([metric], every, N)[0] for metric in metrics]
    for one, other in zip(kinds.terms(metrics, every, N), alone):
        assert all(np.array_equal(a, b) for a, b in zip(one, other))
    for kind in every:
        apart = [kinds.function([metric], kind, N)(ranks) for metric in metrics]
        assert np.array_equal(kinds.function(metrics, kind, N)(ranks), np.hstack(apart))


def test_kinds_that_are_too_many_and_auc_of_grade_zero_are_refused(monkeypatch):
    _, sample = world(graded=False)
    kinds = Kinds.of(sample)
    monkeypatch.setattr("fullrank.estimators._terms._MOST", 10)
    for name in ("rprecision", "meanrank"):
        with pytest.raises(SpecError) as error:
            kinds.terms([parse(name)], np.arange(len(kinds)), N)
        assert str(error.value).startswith(f"{parse(name)} of queries with several targets has")
        assert "take a metric such as ndcg@10 or recall@10, or one target a query" in str(
            error.value
        )
    zero = replace(sample, gains=np.where(np.arange(len(sample.gains)) % 2, 0.0, 1.0))
    with pytest.raises(SpecError, match="AUC of queries that have targets of grade 0"):
        Kinds.of(zero).check([parse("auc")])
