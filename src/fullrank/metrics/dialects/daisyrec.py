"""DaisyRec, the code of branch ``main`` that made the published tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared, discounts, reciprocals
from fullrank.metrics._rank import RankMetric
from fullrank.metrics.dialects._base import Dialect
from fullrank.metrics.dialects._formulas import cut_lengths
from fullrank.metrics.map import precision_sums_at

_SOURCE = "recsys-benchmark/DaisyRec-v2.0, daisy/utils/metrics.py (branch main)"
_TIES = "orders equal scores as its models' sort leaves them"


def _map(metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
    return precision_sums_at(ranks, metric.rel, ks) / cut_lengths(metric, ks)


def _mrr(metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
    return ranks.expected(ranks.gains("binary", metric.rel), reciprocals, ranks.cuts(ks))


def _ndcg(metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
    """DCG over the DCG of the list's own hits moved to its head."""
    cut_lengths(metric, ks)
    found = ranks.expected(ranks.gains("binary", metric.rel), discounts, ranks.cuts(ks))
    hits = ranks.hits(metric.rel, ks).astype(np.int64)
    _, ideal = ranks.table(discounts, int(hits.max(initial=0)))
    return np.where(hits > 0, found / ideal[hits], 0.0)


DIALECTS = (
    Dialect("Precision", "daisyrec", "same", _SOURCE, _TIES),
    Dialect("Recall", "daisyrec", "same", _SOURCE, _TIES),
    Dialect("HitRate", "daisyrec", "same", _SOURCE, _TIES),
    Dialect("MAP", "daisyrec", "divides by k, not by min(R, k)", _SOURCE, _TIES, formula=_map),
    Dialect(
        "MRR",
        "daisyrec",
        "adds the reciprocal ranks of all hits, not of the first alone: it may pass 1",
        _SOURCE,
        _TIES,
        formula=_mrr,
    ),
    Dialect(
        "NDCG",
        "daisyrec",
        "the ideal is made of the list's own hits, so that one hit at the top gives 1 whatever "
        "was missed; grades are not used",
        _SOURCE,
        _TIES,
        formula=_ndcg,
    ),
)
