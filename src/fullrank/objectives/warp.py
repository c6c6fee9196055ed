"""WARP: a hinge weighted by how far down the positive is estimated to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.objectives._base import Loss, Objective, Values


@dataclass(frozen=True, repr=False)
class WARP(Objective):
    """``L(floor((n_items - 1) / v)) max(0, margin - (p - n_v))`` for the first violating ``n_v``.

    Weston et al. 2011, "WSABIE", section 3: negatives are looked at in turn until one, the v-th,
    is less than ``margin`` behind the positive; ``L(k) = sum_{i <= k} 1/i``. Without one among
    those drawn the loss is 0.

    Attributes:
        margin: by how much a positive should be ahead, > 0.

    Example:
        >>> print(WARP())
        WARP
    """

    margin: float = 1.0

    shape = "list"

    def __post_init__(self) -> None:
        if not 0 < self.margin < np.inf:
            raise SpecError(f"WARP: margin must be > 0, got {self.margin!r}")

    def loss(self, positive: Values, negatives: Values, n_items: int = 0) -> Loss:
        """Loss and gradients of each row; ``n_items`` is the size of the catalogue."""
        short = self.margin - (positive[:, None] - negatives)
        violates = short > 0
        first = violates.argmax(axis=1)
        rows = np.arange(len(short))
        weight = rank_weights(n_items or negatives.shape[1] + 1, negatives.shape[1])[first]
        weight = np.where(violates.any(axis=1), weight, 0.0)
        slope = np.zeros_like(negatives)
        slope[rows, first] = weight
        return weight * np.maximum(short[rows, first], 0), -weight, slope


def rank_weights(n_items: int, m: int) -> NDArray[np.float64]:
    """``L(floor((n_items - 1) / v))`` for v = 1 … m: float64 ``[m]``."""
    sums = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, max(n_items, 2)))])
    return np.asarray(sums[np.maximum((n_items - 1) // np.arange(1, m + 1), 1)])
