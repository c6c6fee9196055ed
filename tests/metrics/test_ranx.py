"""Agreement with ranx to 1e-12 (its kernels compile for most of a minute)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.metrics import worlds

from fullrank.metrics import F1, MAP, MRR, NDCG, RBP, HitRate, Precision, Recall, RPrecision

# Ours, and the name in ranx: its ndcg takes the grade as gain, ndcg_burges 2^grade - 1; its map
# divides by all relevant documents at any cut.
RANX = [
    (Precision @ 5, "precision@5"),
    (Recall @ 10, "recall@10"),
    (HitRate @ 5, "hit_rate@5"),
    (F1 @ 10, "f1@10"),
    (MRR @ 10, "mrr@10"),
    (MAP(denominator="relevant") @ 10, "map@10"),
    (MAP, "map"),
    (NDCG @ 10, "ndcg_burges@10"),
    (NDCG(gain="linear") @ 10, "ndcg@10"),
    (RBP(p=0.8), "rbp.80"),
    (RPrecision, "r-precision"),
]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
def test_ranx():
    from ranx import Qrels, Run, evaluate

    ranked = worlds.random_ranks(11, n_queries=40, n_candidates=50)
    run, qrels = {}, {}
    for q in range(len(ranked)):
        part = slice(ranked.indptr[q], ranked.indptr[q + 1])
        run[str(q)] = {f"d{r}": 51.0 - r for r in range(1, 51)}
        qrels[str(q)] = {f"d{r}": int(g) for r, g in zip(ranked.best[part], ranked.gains[part])}
    names = [name for _, name in RANX]
    found = evaluate(Qrels(qrels), Run(run), names, return_mean=False)
    for metric, name in RANX:
        np.testing.assert_allclose(
            metric.per_query(ranked), found[name], rtol=0, atol=1e-12, err_msg=name
        )
