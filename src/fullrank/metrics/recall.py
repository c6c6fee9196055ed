"""Recall at k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric, column


@dataclass(frozen=True, kw_only=True, repr=False)
class RecallMetric(RankMetric):
    """The share of the relevant targets that are in the first k places.

    ``Recall@k = hits(k) / R`` with ``hits(k)`` the relevant targets of rank <= k and ``R`` all
    relevant targets of the query.

    **Convention**: divided by R, not by min(R, k), so that it can stay below 1 for a perfect
    ranking. Unranked targets count in R. Undefined (NaN) without relevant targets. Mean over
    queries; range 0 to 1. Without a cut-off: the share of targets that are ranked at all.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import Recall
        >>> (Recall @ 5).per_query(TargetRanks.of([[1, 6], [2], []])).tolist()
        [0.5, 1.0, nan]

    Reference: Herlocker, Konstan, Terveen & Riedl 2004, section 4.2.
    """

    name = "Recall"

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        return ranks.hits(self.rel, ks) / column(ranks.n_relevant(self.rel))


Recall = RecallMetric()
