"""Prediction intervals by jackknife+ over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BOUNDS = (-1.0, 1.0)
"""Of a tau."""
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What the model without one data set says.

    Attributes:
        predicted: float64 ``[n]``, of the cells that an interval is wanted for.
        residuals: float64 ``[m]``, absolute, of the data set's own cells.
    """

    predicted: NDArray[np.float64]
    residuals: NDArray[np.float64]


def jackknife_plus(
    parts: Sequence[LeftOut], level: float, bounds: tuple[float, float] = BOUNDS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of the intervals: float64 ``[n]`` twice.

    With K data sets, model k without data set k and ``R_kj`` its errors on that one's cells, the
    lower end at a cell x is the ``1 - level`` quantile of the ``mu_k(x) - R_kj``, the upper end the
    ``level`` quantile of the ``mu_k(x) + R_kj``; a data set has the weight 1 / (K + 1), which its
    cells share, and as much lies at each of the ``bounds``, for the new data set (jackknife+ of
    Barber, Candès, Ramdas & Tibshirani 2021, for cells within groups by Lee, Barber & Willett
    2023, "Distribution-free inference with hierarchical data"). If data sets are exchangeable, an
    interval holds a new tau with probability at least ``2 level - 1``, and mostly near ``level``.
    With fewer than ``level / (1 - level)`` data sets it is the whole range.
    """
    n, share = len(parts[0].predicted), 1 / (len(parts) + 1)
    most = 1 - level + _ROUNDING
    ends = [np.full(n, bound) for bound in bounds]
    if share > most:
        return ends[0], ends[1]
    weights = np.concatenate([np.full(len(p.residuals), share / len(p.residuals)) for p in parts])
    for sign, out in zip((-1, 1), ends):
        for cell in range(n):
            values = np.concatenate([p.predicted[cell] + sign * p.residuals for p in parts])
            order = np.argsort(-sign * values, kind="stable")  # from the far end inwards
            beyond = share + np.cumsum(weights[order])
            out[cell] = values[order[np.argmax(beyond > most)]]
    return np.clip(ends[0], *bounds), np.clip(ends[1], *bounds)
