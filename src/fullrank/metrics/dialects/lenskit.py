"""LensKit (lkpy) 2025, metrics with their defaults."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric
from fullrank.metrics.dialects._base import Dialect
from fullrank.metrics.dialects._formulas import hits_of_reachable

_SOURCE = "lenskit/lkpy, src/lenskit/metrics/ranking/{}.py"
_TIES = "takes lists in the order they have, and promises none for equal scores"
_DISCOUNT = "the discount is 1/log2(max(r, 2)), so that ranks 1 and 2 weigh the same"


def _clipped(n: int) -> NDArray[np.float64]:
    """``1 / log2(max(r, 2))`` at rank ``r``: the original of Järvelin & Kekäläinen 2002."""
    return np.asarray(1.0 / np.log2(np.maximum(np.arange(1, n + 1), 2)))


def _dcg(metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
    return ranks.expected(ranks.gains("binary", metric.rel), _clipped, ranks.cuts(ks))


def _ndcg(metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
    ideal = ranks.ideal(ranks.gains("binary", metric.rel), _clipped, ks)
    # Means over a block of ties may round to an ulp above what they are.
    return np.minimum(_dcg(metric, ranks, ks) / ideal, 1.0)


DIALECTS = (
    Dialect(
        "Precision", "lenskit", "same for lists of at least k items", _SOURCE.format("_pr"), _TIES
    ),
    Dialect(
        "Recall",
        "lenskit",
        "divides by min(R, k), not by all relevant items",
        _SOURCE.format("_pr"),
        _TIES,
        formula=hits_of_reachable,
    ),
    Dialect("HitRate", "lenskit", "same", _SOURCE.format("_hit"), _TIES),
    Dialect("MRR", "lenskit", "same", _SOURCE.format("_recip"), _TIES),
    Dialect("MAP", "lenskit", "same for lists of at least k items", _SOURCE.format("_map"), _TIES),
    Dialect(
        "NDCG",
        "lenskit",
        f"{_DISCOUNT}; grades are used only if a gain field is named",
        _SOURCE.format("_dcg"),
        _TIES,
        formula=_ndcg,
    ),
    Dialect(
        "DCG",
        "lenskit",
        f"{_DISCOUNT}; grades are used only if a gain field is named",
        _SOURCE.format("_dcg"),
        _TIES,
        formula=_dcg,
    ),
    Dialect(
        "RBP", "lenskit", "patience is 0.85", _SOURCE.format("_rbp"), _TIES, options={"p": 0.85}
    ),
)
