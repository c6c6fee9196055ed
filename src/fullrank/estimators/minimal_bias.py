"""Minimal-bias table estimator: the limit of BV without any variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError
from fullrank.estimators._table import Design, TableEstimator, TableFit, solve_scaled

LARGEST_CONDITION = 1e10
"""Above, the errors of double precision are larger than what is estimated."""


@dataclass(frozen=True, kw_only=True)
class MinimalBias(TableEstimator):
    """Least bias whatever the variance (Krichene & Rendle 2020), under a uniform prior.

    ``min_x sum_R p_R (A x - b)_R^2``. The matrix of binomials is singular in doubles for all but
    small samples (its condition grows exponentially with ``n``): entries of 1e8 with both signs,
    and relative errors as large. It is here as the limit of ``BV`` for ``gamma -> 0``, and
    refuses what is ill conditioned.
    """

    def solve(
        self, design: Design, prior: NDArray[np.float64], b: NDArray[np.float64], fit: TableFit
    ) -> NDArray[np.float64]:
        """The table ``[n, j]``.

        Raises:
            EstimateError: the condition of the scaled matrix is above 1e10.
        """
        weighted = design.a * prior[:, None]
        matrix = weighted.T @ design.a
        scale = 1.0 / np.sqrt(np.diag(matrix))
        condition = float(np.linalg.cond(matrix * scale[:, None] * scale))
        if not condition < LARGEST_CONDITION:
            raise EstimateError(
                f"the minimal-bias table of samples of {design.size} is ill conditioned "
                f"(condition {condition:.0e}): its numbers would be noise; take BV with a small "
                "gamma, or SH"
            )
        return solve_scaled(matrix, weighted.T @ b)
