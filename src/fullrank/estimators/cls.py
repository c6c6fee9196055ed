"""Constrained least squares: the minimal bias among monotone tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from fullrank.estimators._table import Design, TableEstimator, TableFit


@dataclass(frozen=True, kw_only=True)
class CLS(TableEstimator):
    """Least bias under ``x_1 >= x_2 >= … >= x_n >= 0`` (Krichene & Rendle 2020), uniform prior.

    With ``x = U z`` (``U`` the upper triangle of ones, ``z >= 0``) it is a non-negative least
    squares problem on the cumulative probabilities ``P(r <= j | R)``, reduced by QR to ``n``
    rows. The number of targets plays no part. Where ranks are not uniform it is wrong, with a
    small spread.
    """

    def solve(
        self, design: Design, prior: NDArray[np.float64], b: NDArray[np.float64], fit: TableFit
    ) -> NDArray[np.float64]:
        """The table ``[n, j]``; for what grows with the rank, of its distance from the largest."""
        weight = np.sqrt(prior)[:, None]
        cumulative = np.cumsum(design.a, axis=1) * weight
        grows = b[-1] > b[0]
        top = np.where(grows, b.max(axis=0), 0.0)
        falling = np.where(grows, top - b, b)
        q, r = np.linalg.qr(cumulative)
        right = q.T @ (falling * weight)
        z = np.stack([nnls(r, column)[0] for column in right.T], axis=1)
        table = np.cumsum(z[::-1], axis=0)[::-1]
        return np.asarray(np.where(grows, top - table, table))
