"""TOP1: how often negatives are ahead, with a pull of their scores towards 0."""

from __future__ import annotations

from dataclasses import dataclass

from fullrank.objectives._base import Loss, Objective, Values, sigmoid


@dataclass(frozen=True, repr=False)
class Top1(Objective):
    """``sum_j s(n_j - p) + s(n_j²)``.

    Hidasi et al. 2016, "Session-based recommendations with recurrent neural networks", section
    3.1.4, which takes the mean over the negatives; the sum is DaisyRec's TL.

    Example:
        >>> print(Top1())
        Top1
    """

    shape = "pairs"

    def loss(self, positive: Values, negatives: Values) -> Loss:
        """Loss and gradients of each row."""
        ahead, pull = sigmoid(negatives - positive[:, None]), sigmoid(negatives**2)
        slope = ahead * (1 - ahead)
        loss = (ahead + pull).sum(axis=1)
        return loss, -slope.sum(axis=1), slope + 2 * negatives * pull * (1 - pull)
