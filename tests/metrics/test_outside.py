"""Agreement with pytrec_eval and scikit-learn to 1e-12, each under a named convention."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.metrics import worlds

from fullrank.metrics import AUC, DCG, MAP, MRR, NDCG, HitRate, Precision, Recall, RPrecision

CLOSE = 1e-12


def _as_trec(ranked):
    """Run and qrels of untied ranks: place ``r`` of a query holds document ``d<r>``."""
    run, qrels = {}, {}
    for q in range(len(ranked)):
        n = int(ranked.n_candidates[q])
        run[str(q)] = {f"d{r}": float(n - r) for r in range(1, n + 1)}
        part = slice(ranked.indptr[q], ranked.indptr[q + 1])
        qrels[str(q)] = {
            f"d{r}": int(g) for r, g in zip(ranked.best[part], ranked.gains[part], strict=True)
        }
    return run, qrels


# Ours, and trec_eval's name of the same thing. Its ndcg takes the grade as gain, its map_cut
# divides by all relevant documents.
TREC = [
    (Precision @ 5, "P_5"),
    (Precision @ 100, "P_100"),
    (Recall @ 10, "recall_10"),
    (HitRate @ 5, "success_5"),
    (MAP, "map"),
    (MAP(denominator="relevant") @ 10, "map_cut_10"),
    (NDCG(gain="linear"), "ndcg"),
    (NDCG(gain="linear") @ 10, "ndcg_cut_10"),
    (NDCG(dialect="trec") @ 10, "ndcg_cut_10"),
    (MAP(dialect="trec") @ 10, "map_cut_10"),
    (MRR, "recip_rank"),
    (RPrecision, "Rprec"),
]


@pytest.mark.parametrize("seed", range(3))
def test_trec_eval(seed):
    import pytrec_eval

    ranked = worlds.random_ranks(seed, n_candidates=120)
    run, qrels = _as_trec(ranked)
    measures = {"P", "recall", "success", "map", "map_cut", "ndcg", "ndcg_cut", "recip_rank"}
    results = pytrec_eval.RelevanceEvaluator(qrels, measures | {"Rprec"}).evaluate(run)
    for metric, name in TREC:
        want = [results[str(q)][name] for q in range(len(ranked))]
        np.testing.assert_allclose(metric.per_query(ranked), want, rtol=0, atol=CLOSE, err_msg=name)


def test_trec_eval_exponential_gain_by_grades():
    """trec_eval has no exponential gain, but takes grades that are gains already."""
    import pytrec_eval

    ranked = worlds.random_ranks(5, n_candidates=60)
    run, qrels = _as_trec(ranked)
    qrels = {q: {d: 2**g - 1 for d, g in docs.items()} for q, docs in qrels.items()}
    results = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut"}).evaluate(run)
    want = [results[str(q)]["ndcg_cut_10"] for q in range(len(ranked))]
    np.testing.assert_allclose((NDCG @ 10).per_query(ranked), want, rtol=0, atol=CLOSE)


def test_trec_eval_counts_a_query_without_relevant_documents_as_zero():
    import pytrec_eval

    results = pytrec_eval.RelevanceEvaluator({"q": {"d": 0}}, {"ndcg", "P"}).evaluate(
        {"q": {"d": 1.0}}
    )
    from fullrank.core.ranked import TargetRanks

    ranked = TargetRanks.of([[1]], [[0.0]], n_candidates=[1])
    assert results["q"]["ndcg"] == 0.0
    assert NDCG(dialect="trec").per_query(ranked).tolist() == [0.0]
    assert math.isnan(NDCG.per_query(ranked)[0])


def _scored(seed, levels):
    """Scores with ties, grades of all candidates, and the ranks that follow."""
    from fullrank.core.ranked import TargetRanks

    rng = np.random.default_rng(seed)
    n, q = 40, 30
    scores = rng.integers(0, levels, (q, n)).astype(float)
    grades = np.where(rng.random((q, n)) < 0.15, rng.integers(1, 5, (q, n)), 0).astype(float)
    grades[:, 0] = np.maximum(grades[:, 0], 1)
    best, worst, gains = [], [], []
    for s, g in zip(scores, grades, strict=True):
        targets = np.flatnonzero(g)
        best.append([int((s > s[t]).sum()) + 1 for t in targets])
        worst.append([int((s >= s[t]).sum()) for t in targets])
        gains.append(g[targets].tolist())
    ranked = TargetRanks.of(best, gains, worst=worst, n_candidates=[n] * q)
    return scores, grades, ranked


@pytest.mark.parametrize("levels", [3, 15, 10**6])
def test_scikit_learn(levels):
    """ndcg_score and dcg_score: linear gain, mean over ties; roc_auc_score: ties are a half."""
    from sklearn.metrics import dcg_score, ndcg_score, roc_auc_score

    scores, grades, ranked = _scored(1, levels)
    for k in (None, 1, 7, 20):
        linear = NDCG(gain="linear", k=k).per_query(ranked)
        want = [ndcg_score([g], [s], k=k) for g, s in zip(grades, scores, strict=True)]
        np.testing.assert_allclose(linear, want, rtol=0, atol=CLOSE)
        want = [dcg_score([g], [s], k=k) for g, s in zip(grades, scores, strict=True)]
        np.testing.assert_allclose(DCG(gain="linear", k=k).per_query(ranked), want, atol=1e-11)
        want = [dcg_score([2**g - 1], [s], k=k) for g, s in zip(grades, scores, strict=True)]
        np.testing.assert_allclose(DCG(k=k).per_query(ranked), want, atol=1e-11)
    want = [roc_auc_score(g > 0, s) for g, s in zip(grades, scores, strict=True)]
    np.testing.assert_allclose(AUC.per_query(ranked), want, rtol=0, atol=CLOSE)


def test_scikit_learn_average_precision_without_ties():
    """label_ranking_average_precision puts a block at its end, so only untied scores agree."""
    from sklearn.metrics import label_ranking_average_precision_score

    rng = np.random.default_rng(2)
    scores, grades, _ = _scored(2, 3)
    scores = rng.permuted(np.tile(np.arange(40.0), (len(scores), 1)), axis=1)
    from fullrank.core.ranked import TargetRanks

    ranks = [[int((s > s[t]).sum()) + 1 for t in np.flatnonzero(g)] for s, g in zip(scores, grades)]
    want = [
        label_ranking_average_precision_score([g > 0], [s])
        for g, s in zip(grades, scores, strict=True)
    ]
    np.testing.assert_allclose(MAP.per_query(TargetRanks.of(ranks)), want, rtol=0, atol=CLOSE)
