"""Hit rate at k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric


@dataclass(frozen=True, kw_only=True, repr=False)
class HitRateMetric(RankMetric):
    """Whether any relevant target is in the first k places.

    ``HitRate@k = 1 if hits(k) >= 1 else 0``. Where T relevant targets lie in a block of B equal
    scores of which m places are within k, the chance of a hit is hypergeometric:
    ``1 - C(B - T, m) / C(B, m)``.

    **Convention**: undefined (NaN) without relevant targets. Mean over queries; range 0 to 1.
    A cut-off is required: in a whole ranking every ranked target is a hit.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import HitRate
        >>> tied = TargetRanks.of([[1]], worst=[[5]])
        >>> [float((HitRate @ k).per_query(tied)[0]) for k in (1, 3, 5)]
        [0.2, 0.6, 1.0]

    Reference: Karypis 2001, section 5.2; ties: McSherry & Najork 2008.
    """

    name = "HitRate"
    aliases = ("hr", "hit", "hits", "success")
    cutoff = "required"

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        from fullrank.kernels.firsts import hit_chances

        r = ranks.ranked
        return hit_chances(r.indptr, r.best, r.worst, ranks.relevant(self.rel), ranks.cuts(ks))


HitRate = HitRateMetric()
