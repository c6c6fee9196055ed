"""Precision at k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric, cut_row


@dataclass(frozen=True, kw_only=True, repr=False)
class PrecisionMetric(RankMetric):
    """The share of the first k places that hold relevant targets.

    ``Precision@k = hits(k) / k``, where ``hits(k)`` is the number of relevant targets with rank
    <= k.

    **Convention**: k divides always, also where a list is shorter or fewer than k targets
    exist. Undefined (NaN) without relevant targets. Mean over queries; range 0 to 1. A cut-off
    is required: over a whole ranking it says nothing about the ranking.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import Precision
        >>> ranked = TargetRanks.of([[1, 6]])
        >>> [float((Precision @ k).per_query(ranked)[0]) for k in (1, 2, 5, 10, 20)]
        [1.0, 0.5, 0.2, 0.2, 0.1]

    Reference: Herlocker, Konstan, Terveen & Riedl 2004, section 4.2.
    """

    name = "Precision"
    aliases = ("p", "prec")
    cutoff = "required"

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        return ranks.hits(self.rel, ks) / cut_row(ks)


Precision = PrecisionMetric()
