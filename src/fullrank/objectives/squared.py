"""Squared error against 1 for positives and 0 for negatives."""

from __future__ import annotations

from dataclasses import dataclass

from fullrank.objectives._base import Loss, Objective, Values


@dataclass(frozen=True, repr=False)
class Squared(Objective):
    """``(1 - p)² / 2 + sum_j n_j² / 2``.

    DaisyRec's SL (Sun et al. 2022, equation for the squared loss), with its half.

    Example:
        >>> print(Squared())
        Squared
    """

    shape = "points"

    def loss(self, positive: Values, negatives: Values) -> Loss:
        """Loss and gradients of each row."""
        loss = 0.5 * (1 - positive) ** 2 + 0.5 * (negatives**2).sum(axis=1)
        return loss, positive - 1, negatives
