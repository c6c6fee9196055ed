"""Multinomial table estimator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.estimators._table import Design, PriorTable, TableFit, solve_scaled


@dataclass(frozen=True, kw_only=True)
class MN(PriorTable):
    """Bias and variance by a multinomial argument (Jin et al. 2023).

    The loss is ``sum_R p_R ((A x)_R - b_R)^2 + (1 / M) sum_R Var(x | R)``, solved by
    ``X = (A' D A - A' A / M + diag(A' 1) / M)^-1 A' D B`` for ``M`` targets. Entries need be
    neither monotone nor within the range of the metric. The variance is summed over ranks that
    nobody has, so it regularises more than an error of means would: much too much with a uniform
    prior.

    Attributes:
        prior: of ranks; the published variants are ``"mle"`` and ``"mes"``.
    """

    def solve(
        self, design: Design, prior: NDArray[np.float64], b: NDArray[np.float64], fit: TableFit
    ) -> NDArray[np.float64]:
        """The table ``[n, j]``."""
        weighted, many = design.a * prior[:, None], fit.groups.total
        spread = design.a * fit.bins.width[:, None] / many
        matrix = (weighted - spread).T @ design.a + np.diag(spread.sum(axis=0))
        return solve_scaled((matrix + matrix.T) / 2.0, weighted.T @ b)
