"""Bayesian personalised ranking: the logistic loss of differences."""

from __future__ import annotations

from dataclasses import dataclass

from fullrank.objectives._base import Loss, Objective, Values, sigmoid, softplus


@dataclass(frozen=True, repr=False)
class BPR(Objective):
    """``-sum_j ln s(p - n_j)``.

    Rendle et al. 2009, section 4: the criterion BPR-Opt, without its regularisation.

    Example:
        >>> print(BPR())
        BPR
    """

    shape = "pairs"

    def loss(self, positive: Values, negatives: Values) -> Loss:
        """Loss and gradients of each row."""
        behind = negatives - positive[:, None]
        slope = sigmoid(behind)
        return softplus(behind).sum(axis=1), -slope.sum(axis=1), slope
