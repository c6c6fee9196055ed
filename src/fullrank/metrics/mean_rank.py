"""Mean rank of the relevant targets."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric, check_catalogue


@dataclass(frozen=True, kw_only=True, repr=False)
class MeanRankMetric(RankMetric):
    """The mean rank of the relevant targets of a query; lower is better.

    ``MeanRank = (1 / R) * sum over relevant targets of r``; in a block of equal scores a target
    has the mean rank of the block.

    **Convention**: 1 is the first place, and R targets in the first R places have (R + 1) / 2.
    Unranked targets come behind all candidates, and each has the last of these places. Needs the
    number of candidates, so lists without scores of the whole catalogue are refused. Undefined
    (NaN) without relevant targets or without other candidates, as AUC is; mean over queries;
    takes no k.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import MeanRank
        >>> MeanRank.per_query(TargetRanks.of([[2, 4], [None]], n_candidates=[6, 6])).tolist()
        [3.0, 7.0]

    Reference: Hu, Koren & Volinsky 2008, equation 8, in places instead of shares and without
    weights.
    """

    name = "MeanRank"
    aliases = ("mr",)
    cutoff = "none"
    higher_is_better = False
    bounds = (1.0, inf)

    def _check_ranks(self, ranks: Prepared) -> None:
        check_catalogue(self, ranks.ranked)

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        r = ranks.ranked
        # Twice the mean rank of a block is whole, so the sum is exact in any order.
        relevant = ranks.relevant(self.rel)
        last = r.n_candidates + ranks.sums(~r.ranked)
        double = np.where(r.ranked, r.best.astype(np.int64) + r.worst, 2 * last[ranks.rows])
        mean = ranks.sums(np.where(relevant, double, 0)) / (2.0 * ranks.n_relevant(self.rel))
        others = r.n_candidates - ranks.sums(relevant & r.ranked)
        return np.where(others > 0, mean, np.nan)[:, None]


MeanRank = MeanRankMetric()
