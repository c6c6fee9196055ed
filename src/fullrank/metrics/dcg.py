"""Discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics._prepared import Cuts, Prepared, discounts
from fullrank.metrics._rank import RankMetric


@dataclass(frozen=True, kw_only=True, repr=False)
class DCGMetric(RankMetric):
    """The gains of the targets, discounted by the logarithm of their ranks.

    ``DCG@k = sum over targets of rank r <= k of gain(grade) / log2(r + 1)``, with
    ``gain = 2^grade - 1`` (``gain="exp"``), the grade itself (``"linear"``) or 1 (``"binary"``).

    **Convention**: discount 1/log2(r + 1) from the first rank on; targets that are not relevant
    add nothing. Exponential gain refuses grades over 50. Undefined (NaN) without relevant
    targets; mean over queries; range 0 to infinity. Without a cut-off: the whole ranking.

    Example:
        The worked example of the field's notes: grades 5 to 1 in the ideal order, then reversed.
        Their 45.643 and 24.845 are right to the digits printed.

        >>> from fullrank.core.ranked import TargetRanks
        >>> from fullrank.metrics import DCG
        >>> grades = [[5, 4, 3, 2, 1]] * 2
        >>> ranked = TargetRanks.of([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]], gains=grades)
        >>> (DCG @ 5).per_query(ranked).round(6).tolist()
        [45.642829, 24.845375]

    Reference: Järvelin & Kekäläinen 2002; gain 2^grade - 1: Burges et al. 2005, section 6;
    ties: McSherry & Najork 2008, section 3.5.
    """

    name = "DCG"
    choices = {"gain": ("exp", "linear", "binary")}  # noqa: RUF012
    bounds = (0.0, inf)

    gain: Literal["exp", "linear", "binary"] = "exp"

    def _at(self, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        return ranks.expected(ranks.gains(self.gain, self.rel), discounts, ranks.cuts(ks))


DCG = DCGMetric()
