"""R-precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.metrics._prepared import Cuts, Prepared, label, ones
from fullrank.metrics._rank import RankMetric, column


@dataclass(frozen=True, kw_only=True, repr=False)
class RPrecisionMetric(RankMetric):
    """Precision at R, the number of relevant targets of the query.

    ``RPrecision = hits(R) / R``, with ``hits(R)`` the relevant targets of rank <= R.

    **Convention**: the cut-off is the query's own, so it takes no k. Undefined (NaN) without
    relevant targets; mean over queries; range 0 to 1.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import RPrecision
        >>> RPrecision.per_query(TargetRanks.of([[1, 4], [1, 2]])).tolist()
        [0.5, 1.0]

    Reference: Buckley & Voorhees 2000; Manning, Raghavan & Schütze 2008, section 8.4.
    """

    name = "RPrecision"
    aliases = ("rprec",)
    cutoff = "none"

    def _check_ranks(self, ranks: Prepared) -> None:
        n = ranks.n_relevant(self.rel)
        depth, most = ranks.ranked.depth, int(n.max(initial=0))
        if depth is not None and most > depth:
            user = label(ranks.ranked.user_vocab, int(ranks.ranked.users[n.argmax()]))
            raise SpecError(
                f"{self} looks at as many places as a query has relevant targets: {most} for user "
                f"{user}, and the lists were declared to be cut at depth "
                f"{depth}; give deeper lists"
            )

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        n = ranks.n_relevant(self.rel)
        return ranks.expected(ranks.gains("binary", self.rel), ones, n[:, None]) / column(n)


RPrecision = RPrecisionMetric()
