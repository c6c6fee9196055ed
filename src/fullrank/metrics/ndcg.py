"""Normalised discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared, discounts
from fullrank.metrics._rank import RankMetric


@dataclass(frozen=True, kw_only=True, repr=False)
class NDCGMetric(RankMetric):
    """DCG divided by the DCG of the best order.

    ``NDCG@k = DCG@k / IDCG@k``. ``DCG@k`` is the sum of ``gain(grade) / log2(r + 1)`` over targets
    of rank r <= k; ``IDCG@k`` is the same sum with all targets of the query, ranked or not, in
    the order of their gains, cut at k.

    **Convention**: gain 2^grade - 1 (``gain="exp"``), the grade (``"linear"``) or 1
    (``"binary"``); all three agree on grades 0 and 1. The ideal is cut at k too, so that 1 can be
    reached at any k and never passed. Undefined (NaN) without relevant targets; mean over
    queries; range 0 to 1. Without a cut-off: the whole ranking.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import NDCG
        >>> grades = [[5, 4, 3, 2, 1]] * 2
        >>> ranked = TargetRanks.of([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]], gains=grades)
        >>> (NDCG @ 5).per_query(ranked).round(6).tolist()
        [1.0, 0.544343]

    Reference: Järvelin & Kekäläinen 2002; Burges et al. 2005; ties: McSherry & Najork 2008.
    """

    name = "NDCG"
    choices = {"gain": ("exp", "linear", "binary")}  # noqa: RUF012

    gain: Literal["exp", "linear", "binary"] = "exp"

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        gains = ranks.gains(self.gain, self.rel)
        found = ranks.expected(gains, discounts, ranks.cuts(ks))
        ideal = ranks.ideal(gains, discounts, ks)
        # Means over a block of ties may round to an ulp above what they are.
        return np.minimum(found / ideal, 1.0)


NDCG = NDCGMetric()
