"""Agreement with ranx to 1e-12 (its kernels compile for most of a minute)."""

from __future__ import annotations

from dataclasses import replace

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
    (RPrecision, "r-precision"),
]


def _as_ranx(ranked):
    from ranx import Qrels, Run

    run, qrels = {}, {}
    for q in range(len(ranked)):
        part = slice(ranked.indptr[q], ranked.indptr[q + 1])
        # ranx sorts queries by name.
        run[f"{q:03d}"] = {f"d{r}": 51.0 - r for r in range(1, 51)}
        qrels[f"{q:03d}"] = {f"d{r}": int(g) for r, g in zip(ranked.best[part], ranked.gains[part])}
    return Qrels(qrels), Run(run)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
def test_ranx():
    from ranx import evaluate

    ranked = worlds.random_ranks(11, n_queries=40, n_candidates=50)
    found = evaluate(*_as_ranx(ranked), [name for _, name in RANX], return_mean=False)
    for metric, name in RANX:
        np.testing.assert_allclose(
            metric.per_query(ranked), found[name], rtol=0, atol=1e-12, err_msg=name
        )


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
def test_ranx_rbp_of_binary_grades():
    """ranx multiplies by the grade, so that only grades of 1 give rank-biased precision."""
    from ranx import evaluate

    graded = worlds.random_ranks(12, n_queries=40, n_candidates=50)
    ranked = replace(graded, gains=np.ones_like(graded.gains))
    found = evaluate(*_as_ranx(ranked), "rbp.80", return_mean=False)
    np.testing.assert_allclose(RBP(p=0.8).per_query(ranked), found, rtol=0, atol=1e-12)
