"""Softmax over the whole catalogue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.objectives._base import Loss, Objective, Values


@dataclass(frozen=True, repr=False)
class Multinomial(Objective):
    """``-ln (exp(p) / sum_{all items i} exp(s_i))``: no item is drawn, each is compared.

    The multinomial likelihood of Liang et al. 2018 for one of a user's items, and the full
    softmax of next-item models.

    Example:
        >>> print(Multinomial())
        Multinomial
    """

    shape = "catalogue"

    def loss(self, positive: Values, negatives: Values) -> Loss:
        """Loss and gradients of each row; ``negatives`` are the scores of all other items."""
        scores = np.concatenate([positive[:, None], negatives], axis=1)
        top = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - top)
        total = shares.sum(axis=1, keepdims=True)
        shares /= total
        loss = (np.log(total) + top)[:, 0] - scores[:, 0]
        shares[:, 0] -= 1
        return loss, shares[:, 0], shares[:, 1:]
