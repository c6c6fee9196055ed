"""Rank estimate: the metric of an unbiased estimate of the rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.estimators._table import Design, TableEstimator, TableFit


@dataclass(frozen=True, kw_only=True)
class RankEstimate(TableEstimator):
    """``x_r = b(floor(1 + (N - 1)(r - 1) / (n - 1)))`` (Krichene & Rendle 2020).

    The rank inside is unbiased, with and without replacement; a metric of it is not, but for what
    is linear in the rank (AUC). For ``k < (N - 1) / (n - 1)`` only ``r = 1`` scores, so Recall@k
    and NDCG@k are both the share of ``r = 1``.
    """

    consistent = False

    def solve(
        self, design: Design, prior: NDArray[np.float64], b: NDArray[np.float64], fit: TableFit
    ) -> NDArray[np.float64]:
        """The table ``[n, j]``."""
        r = np.arange(1, design.size + 1)
        ranks = 1 + (design.catalog - 1) * (r - 1) // (design.size - 1)
        return np.asarray(b[fit.bins.place(ranks)])
