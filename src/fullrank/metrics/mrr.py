"""Mean reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared, reciprocals
from fullrank.metrics._rank import RankMetric


@dataclass(frozen=True, kw_only=True, repr=False)
class MRRMetric(RankMetric):
    """The reciprocal rank of the first relevant target.

    ``RR@k = 1 / r`` with ``r`` the smallest rank of a relevant target, 0 if r > k. Where T
    relevant targets lie in a block of B equal scores below s others, the first is at place j of
    the block with chance ``C(B - j, T - 1) / C(B, T)``.

    **Convention**: only the first relevant target counts; undefined (NaN) without relevant
    targets; mean over queries; range 0 to 1. Without a cut-off: the whole ranking.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import MRR
        >>> (MRR @ 5).per_query(TargetRanks.of([[2, 3], [6]])).tolist()
        [0.5, 0.0]

    Reference: Voorhees 1999; ties: McSherry & Najork 2008, section 3.4.
    """

    name = "MRR"
    aliases = ("rr", "reciprocalrank")

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        from fullrank.kernels.firsts import reciprocal_firsts

        r, cuts = ranks.ranked, ranks.cuts(ks)
        table, prefix = ranks.table(reciprocals, int(cuts.max(initial=0)))
        relevant = ranks.relevant(self.rel)
        return reciprocal_firsts(r.indptr, r.best, r.worst, relevant, table, prefix, cuts)


MRR = MRRMetric()
