"""RecTools (MTS), defaults of version 0.13."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.metrics._prepared import Cuts, Prepared, discounts
from fullrank.metrics._rank import RankMetric
from fullrank.metrics.dialects._base import Dialect
from fullrank.metrics.dialects._formulas import cut_lengths

_RANKING = "MobileTeleSystems/RecTools, rectools/metrics/ranking.py"
_CLASSES = "MobileTeleSystems/RecTools, rectools/metrics/classification.py"
_TIES = "reads a rank column and no scores"


MOST_HITS = 10_000_000
"""Longest ideal list whose discounts are summed one by one."""


def _ndcg(metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
    """DCG over the DCG of a list of k hits, reachable or not."""
    lengths = cut_lengths(metric, ks)
    if int(lengths.max(initial=0)) > MOST_HITS:
        raise SpecError(
            f"{metric}: the ideal of rectools is a list of k hits, computed for k up to "
            f"{MOST_HITS:,} here; take a smaller cut-off"
        )
    found = ranks.expected(ranks.gains("binary", metric.rel), discounts, ranks.cuts(ks))
    _, ideal = ranks.table(discounts, int(lengths.max(initial=0)))
    return found / ideal[lengths]


DIALECTS = (
    Dialect("Precision", "rectools", "same", _CLASSES, _TIES),
    Dialect("Recall", "rectools", "same", _CLASSES, _TIES),
    Dialect("HitRate", "rectools", "same", _CLASSES, _TIES),
    Dialect("F1", "rectools", "same", _CLASSES, _TIES),
    Dialect("MRR", "rectools", "same", _RANKING, _TIES),
    Dialect(
        "MAP",
        "rectools",
        "divides by all relevant items, not by min(R, k) (divide_by_k=False)",
        _RANKING,
        _TIES,
        options={"denominator": "relevant"},
    ),
    Dialect(
        "NDCG",
        "rectools",
        "the ideal is k hits even for users with fewer targets (divide_by_achievable=False), so "
        "they stay below 1; grades are not used",
        _RANKING,
        _TIES,
        formula=_ndcg,
    ),
)
