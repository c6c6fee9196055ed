"""Every rank metric is a sum of terms of single targets, given how many are ahead of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.core.ragged import rows_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample
from fullrank.estimators._terms import Shapes
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
    shapes = Shapes.of(sample)
    found, rows = shapes.empty(metric, N), rows_of(full.indptr)
    for t, (kind, rank) in enumerate(zip(shapes.member, sample.sample.ranks)):
        if kind >= 0:
            found[rows[t]] += shapes.terms(metric, kind, np.array([rank]), N)[0]
    assert found == pytest.approx(metric.per_query(full), abs=1e-9, nan_ok=True)


def test_kinds_that_are_too_many_and_auc_of_grade_zero_are_refused():
    full, sample = world(graded=False)
    with pytest.raises(SpecError, match="kinds of targets"):
        Shapes.of(sample).check([parse("ndcg@10")], 10**7)
    zero = replace(sample, gains=np.where(np.arange(len(full.gains)) % 2, 0.0, 1.0))
    with pytest.raises(SpecError, match="AUC of queries that have targets of grade 0"):
        Shapes.of(zero).check([parse("auc")], 1)
