"""Area under the ROC curve, per query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric, check_catalogue


@dataclass(frozen=True, kw_only=True, repr=False)
class AUCMetric(RankMetric):
    """The chance that a relevant target is ranked above a candidate that is not relevant.

        AUC = (1 / (R N)) * sum over pairs (relevant target, other candidate)
                            of [target higher] + [equal] / 2

    with R relevant targets and N other candidates of the query.

    **Convention**: per query and then averaged, over all candidates, ranked targets that are not
    relevant among the others. An unranked target loses to every other candidate. Needs the
    number of candidates, so lists without scores of the whole catalogue are refused. Undefined
    (NaN) without relevant targets or without other candidates; range 0 to 1; takes no k.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import AUC
        >>> AUC.per_query(TargetRanks.of([[2, 4]], n_candidates=[6])).tolist()  # 3 + 2 of 8
        [0.625]

    Reference: Hanley & McNeil 1982, equation 1.
    """

    name = "AUC"
    cutoff = "none"

    def _check_ranks(self, ranks: Prepared) -> None:
        check_catalogue(self, ranks.ranked)

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        from fullrank.kernels.pairs import pair_shares

        r = ranks.ranked
        relevant = ranks.relevant(self.rel)
        return pair_shares(r.indptr, r.best, r.worst, relevant, r.n_candidates)[:, None]


AUC = AUCMetric()
