"""Hinge loss of differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.core.errors import SpecError
from fullrank.objectives._base import Loss, Objective, Values


@dataclass(frozen=True, repr=False)
class Hinge(Objective):
    """``sum_j max(0, margin - (p - n_j))``.

    Attributes:
        margin: by how much a positive should be ahead, > 0; DaisyRec's HL has 1.

    Example:
        >>> print(Hinge(margin=0.5))
        Hinge(margin=0.5)
    """

    margin: float = 1.0

    shape = "pairs"

    def __post_init__(self) -> None:
        if not 0 < self.margin < np.inf:
            raise SpecError(f"Hinge: margin must be > 0, got {self.margin!r}")

    def loss(self, positive: Values, negatives: Values) -> Loss:
        """Loss and gradients of each row."""
        short = self.margin - (positive[:, None] - negatives)
        slope = (short > 0).astype(np.float64)
        return np.maximum(short, 0).sum(axis=1), -slope.sum(axis=1), slope
