"""Binary cross-entropy of positives and negatives, with gSASRec's correction."""

from __future__ import annotations

from dataclasses import dataclass

from fullrank.core.errors import SpecError
from fullrank.objectives._base import Loss, Objective, Values, sigmoid, softplus


@dataclass(frozen=True, repr=False)
class CrossEntropy(Objective):
    """``-beta ln s(p) - sum_j ln(1 - s(n_j))``.

    ``beta = 1`` is the usual one (He et al. 2017, equation 7). Fewer negatives than there are
    make every probability too high; Petrov & Macdonald 2023, "gSASRec", equation 12, correct it
    by ``beta = a (t (1 - 1/a) + 1/a)`` with ``a = m / (n_items - 1)`` the share of negatives
    drawn, and calibration ``t`` between 0 (none) and 1 (full).

    Attributes:
        calibration: the paper's ``t``; 0 leaves the loss as it is (their recommendation with many
            items: 0.75 and 256 negatives).

    Example:
        >>> print(CrossEntropy(calibration=0.75))
        CrossEntropy(calibration=0.75)
    """

    calibration: float = 0.0

    shape = "points"

    def __post_init__(self) -> None:
        if not 0 <= self.calibration <= 1:
            raise SpecError(
                f"CrossEntropy: calibration must be from 0 to 1, got {self.calibration!r}"
            )

    def beta(self, m: int, n_items: int) -> float:
        """Weight of the positives where ``m`` negatives of ``n_items - 1`` are drawn."""
        if self.calibration == 0:
            return 1.0
        share = min(m / max(n_items - 1, 1), 1.0)
        return share * (self.calibration * (1 - 1 / share) + 1 / share)

    def loss(self, positive: Values, negatives: Values, beta: float = 1.0) -> Loss:
        """Loss and gradients of each row."""
        loss = beta * softplus(-positive) + softplus(negatives).sum(axis=1)
        return loss, beta * (sigmoid(positive) - 1), sigmoid(negatives)
