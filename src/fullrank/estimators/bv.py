"""Bias-variance table estimator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.estimators._table import Design, PriorTable, TableFit, solve_scaled


@dataclass(frozen=True, kw_only=True)
class BV(PriorTable):
    """Trade bias against variance, by a factor ``gamma`` (Krichene & Rendle 2020).

    ``min_x sum_R p_R ((E[x | R] - b_R)^2 + gamma Var(x | R))``, solved by
    ``X = ((1 - gamma) A' D A + gamma diag(A' p))^-1 A' D B`` with ``D = diag(p)``: ``gamma = 1``
    is the mean of ``b`` given ``r``, ``gamma = 0`` the minimal bias. Krichene & Rendle found 0.1
    best for the order of models, Jin et al. 2023 use 0.01. With a uniform prior the accuracy is
    luck, with a deceptively small spread.

    Attributes:
        gamma: weight of the variance, 0 to 1.
        prior: of ranks.
    """

    gamma: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        number = isinstance(self.gamma, int | float | np.number)
        if not number or not 0.0 <= self.gamma <= 1.0:
            raise SpecError(f"BV: gamma must lie between 0 and 1, got {self.gamma!r}")

    def solve(
        self, design: Design, prior: NDArray[np.float64], b: NDArray[np.float64], fit: TableFit
    ) -> NDArray[np.float64]:
        """The table ``[n, j]``."""
        weighted = design.a * prior[:, None]
        matrix = (1.0 - self.gamma) * (weighted.T @ design.a)
        matrix += self.gamma * np.diag(weighted.sum(axis=0))
        return solve_scaled(matrix, weighted.T @ b)
