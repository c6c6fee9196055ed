"""F1 at k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric, cut_row


@dataclass(frozen=True, kw_only=True, repr=False)
class F1Metric(RankMetric):
    """The harmonic mean of precision and recall at k, query by query.

    ``F1@k = 2 P R / (P + R) = 2 hits(k) / (k + n)``, with P and R precision and recall at k,
    ``hits(k)`` the relevant targets of rank <= k and ``n`` all relevant targets.

    **Convention**: per query and then averaged, not the harmonic mean of the averages; 0 without
    a hit; undefined (NaN) without relevant targets; range 0 to 1. A cut-off is required.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import F1
        >>> (F1 @ 4).per_query(TargetRanks.of([[1, 6]])).tolist()  # P = 1/4, R = 1/2
        [0.3333333333333333]

    Reference: van Rijsbergen 1979, chapter 7, with equal weights.
    """

    name = "F1"
    cutoff = "required"

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        both = np.add.outer(cut_row(ks), ranks.n_relevant(self.rel)).T
        return 2.0 * ranks.hits(self.rel, ks) / both


F1 = F1Metric()
