"""The published outputs of trec_eval on its own test files."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from fullrank.core.ranked import TargetRanks
from fullrank.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, RPrecision


def _ranks(folder, run_name, qrels_name):
    """Ranks in trec_eval's own order: score descending, equal scores by document descending."""
    run, qrels = defaultdict(list), defaultdict(dict)
    for line in (folder / run_name).read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        # trec_eval keeps scores in single precision.
        run[query].append((np.float32(score), document))
    for line in (folder / qrels_name).read_text().splitlines():
        query, _, document, grade = line.split()
        qrels[query][document] = max(int(grade), 0)
    queries = sorted(set(run) & set(qrels), key=int)
    ranks, gains = [], []
    for query in queries:
        order = {d: r for r, (_, d) in enumerate(sorted(run[query], reverse=True), 1)}
        judged = [d for d, g in qrels[query].items() if g > 0]
        ranks.append([order.get(d) for d in judged])
        gains.append([float(qrels[query][d]) for d in judged])
    return queries, TargetRanks.of(ranks, gains)


NAMES = {
    "map": MAP(dialect="trec"),
    "Rprec": RPrecision(dialect="trec"),
    "recip_rank": MRR(dialect="trec"),
    "ndcg": NDCG(dialect="trec"),
    **{f"P_{k}": Precision(dialect="trec") @ k for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
    **{f"recall_{k}": Recall(dialect="trec") @ k for k in (5, 10, 20, 100, 1000)},
    **{f"ndcg_cut_{k}": NDCG(dialect="trec") @ k for k in (5, 10, 20, 100, 1000)},
    **{f"map_cut_{k}": MAP(dialect="trec") @ k for k in (5, 10, 20, 100, 1000)},
    **{f"success_{k}": HitRate(dialect="trec") @ k for k in (1, 5, 10)},
}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_golden(real_data, name):
    folder = real_data / "trec-eval" / "native"
    queries, ranked = _ranks(folder, "results.test", "qrels.test")
    values = NAMES[name].per_query(ranked)
    printed = {}
    for line in (folder / "out.test.aq").read_text().splitlines():
        measure, query, value = line.split()
        if measure == name:
            printed[query] = float(value)
    assert set(queries) | {"all"} == set(printed)
    for query, value in zip(queries, values, strict=True):
        assert value == pytest.approx(printed[query], abs=5.01e-5)
    assert NAMES[name].value(ranked) == pytest.approx(printed["all"], abs=5.01e-5)
