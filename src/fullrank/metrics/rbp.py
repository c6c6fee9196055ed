"""Rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric


@dataclass(frozen=True, kw_only=True, repr=False)
class RBPMetric(RankMetric):
    """The rate of relevant targets seen by a user who goes on from rank to rank with chance p.

    ``RBP@k = (1 - p) * sum over relevant targets of rank r <= k of p^(r - 1)``.

    **Convention**: binary relevance; p = 0.8 by default; what lies below k, or is not ranked,
    adds nothing (the lower end of the residual). Not normalised: with few targets a perfect
    ranking stays below 1. Undefined (NaN) without relevant targets; mean over queries; range 0
    to 1.

    Example:
        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import RBP
        >>> RBP(p=0.5).per_query(TargetRanks.of([[1, 3]])).tolist()
        [0.625]

    Reference: Moffat & Zobel 2008, equation 5.
    """

    name = "RBP"

    p: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        self._number("p", 0.0, 1.0)

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        gains = ranks.gains("binary", self.rel)
        return ranks.expected(gains, self._weights, ranks.cuts(ks), key=("rbp", self.p))

    def _weights(self, n: int) -> NDArray[np.float64]:
        return np.asarray((1.0 - self.p) * self.p ** np.arange(n))


RBP = RBPMetric()
