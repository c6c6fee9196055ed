"""Softmax over a positive and its sampled negatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.core.errors import SpecError
from fullrank.objectives._base import Loss, Objective, Values


@dataclass(frozen=True, repr=False)
class Softmax(Objective):
    """``-ln (exp(p') / (exp(p') + sum_j exp(n_j')))``, with scores divided by ``temperature``.

    With ``log_q`` the log of the expected number of draws of an item is taken from the score of
    each negative, so that the loss tends to the softmax over all items as the number of draws
    grows (Bengio & Senécal 2008, "Adaptive importance sampling"; Yi et al. 2019,
    "Sampling-bias-corrected neural modeling", equation 3). Items that are drawn uniformly are all
    corrected by ``ln(m / n_items)``; the positive, which is always there, is not corrected.

    Attributes:
        temperature: divides the scores, > 0.
        log_q: correct for how likely an item is drawn.

    Example:
        >>> print(Softmax(log_q=False))
        Softmax(log_q=false)
    """

    temperature: float = 1.0
    log_q: bool = True

    shape = "list"

    def __post_init__(self) -> None:
        if not 0 < self.temperature < np.inf:
            raise SpecError(f"Softmax: temperature must be > 0, got {self.temperature!r}")

    def loss(self, positive: Values, negatives: Values, log_q: Values | None = None) -> Loss:
        """Loss and gradients of each row; ``log_q`` is ``ln(m q)`` of each negative ``[b, m]``."""
        scores = np.concatenate([positive[:, None], negatives], axis=1) / self.temperature
        if self.log_q and log_q is not None:
            scores[:, 1:] -= log_q
        top = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - top)
        total = shares.sum(axis=1, keepdims=True)
        shares /= total
        loss = (np.log(total) + top)[:, 0] - scores[:, 0]
        shares[:, 0] -= 1
        shares /= self.temperature
        return loss, shares[:, 0], shares[:, 1:]
