"""What an objective is: a loss of the scores of positives and negatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.call import written

Shape = Literal["points", "pairs", "list", "catalogue"]
Values = NDArray[np.float64]
Loss = tuple[Values, Values, Values]
"""Loss of each row ``[b]``, its gradient by positives ``[b]`` and by negatives ``[b, m]``."""


@dataclass(frozen=True)
class Objective(ABC):
    """Base of the objectives: frozen dataclasses, written as ``str()`` gives them.

    With ``p`` the score of a positive, ``n_1 … n_m`` those of the negatives drawn for it, and
    ``s(x) = 1 / (1 + exp(-x))``, each subclass states its loss. It is the loss of one positive; a
    model adds these over its training rows and adds its regularisation.

    Class attributes:
        shape: ``points``: a positive and a negative count on their own; ``pairs``: a negative is
            compared with its positive; ``list``: all negatives of a positive together;
            ``catalogue``: all items, nothing is drawn.
    """

    shape: ClassVar[Shape]

    @abstractmethod
    def loss(self, positive: Values, negatives: Values) -> Loss:
        """Loss and gradients in plain NumPy: what faster code is tested against.

        Args:
            positive: float64 ``[b]`` scores.
            negatives: float64 ``[b, m]`` scores.
        """

    def __str__(self) -> str:
        """The text that ``objective`` reads back."""
        return written(self, type(self).__name__)

    __repr__ = __str__


def sigmoid(x: Values) -> Values:
    """``1 / (1 + exp(-x))`` without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def softplus(x: Values) -> Values:
    """``ln(1 + exp(x))`` without overflow."""
    return np.logaddexp(0.0, x)
