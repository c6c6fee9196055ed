"""Optimisers as values, for the models that train by gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullrank.core.call import made, read_call
from fullrank.core.errors import SpecError


@dataclass(frozen=True)
class Optimiser(ABC):
    """Base of the optimisers; ``lazy`` ones touch only the rows of tables that a batch meets."""

    lazy: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float) and not 0 <= value < np.inf:
                raise SpecError(f"optimiser: {name} must be >= 0, got {value!r}")

    @abstractmethod
    def make(self, dense: Sequence[Any], tables: Sequence[Any], rate: float) -> list[Any]:
        """PyTorch optimisers of dense parameters, and of tables whose gradients are sparse."""


@dataclass(frozen=True)
class SGD(Optimiser):
    """Stochastic gradient descent: one step a batch; ``batch_size`` 1 is the pure one."""

    lazy = True

    def make(self, dense: Sequence[Any], tables: Sequence[Any], rate: float) -> list[Any]:
        """One optimiser for both."""
        from torch import optim

        return [optim.SGD([*dense, *tables], lr=rate)]


@dataclass(frozen=True)
class Momentum(Optimiser):
    """SGD with momentum (Polyak 1964), or Nesterov's."""

    momentum: float = 0.9
    nesterov: bool = False

    def make(self, dense: Sequence[Any], tables: Sequence[Any], rate: float) -> list[Any]:
        """One optimiser for both."""
        from torch import optim

        how: dict[str, Any] = {"momentum": self.momentum, "nesterov": self.nesterov}
        return [optim.SGD([*dense, *tables], lr=rate, **how)]


@dataclass(frozen=True)
class AdaGrad(Optimiser):
    """Duchi, Hazan & Singer 2011."""

    lazy = True

    def make(self, dense: Sequence[Any], tables: Sequence[Any], rate: float) -> list[Any]:
        """One optimiser for both."""
        from torch import optim

        return [optim.Adagrad([*dense, *tables], lr=rate)]


@dataclass(frozen=True)
class RMSProp(Optimiser):
    """Tieleman & Hinton 2012, with PyTorch's defaults."""

    alpha: float = 0.99

    def make(self, dense: Sequence[Any], tables: Sequence[Any], rate: float) -> list[Any]:
        """One optimiser for both."""
        from torch import optim

        return [optim.RMSprop([*dense, *tables], lr=rate, alpha=self.alpha)]


@dataclass(frozen=True)
class Adam(Optimiser):
    """Kingma & Ba 2015."""

    beta1: float = 0.9
    beta2: float = 0.999

    def make(self, dense: Sequence[Any], tables: Sequence[Any], rate: float) -> list[Any]:
        """One optimiser for both."""
        from torch import optim

        betas = (self.beta1, self.beta2)
        return [optim.Adam([*dense, *tables], lr=rate, betas=betas, fused=True)]


@dataclass(frozen=True)
class AdamW(Optimiser):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019)."""

    beta1: float = 0.9
    beta2: float = 0.999
    weight_decay: float = 0.01

    def make(self, dense: Sequence[Any], tables: Sequence[Any], rate: float) -> list[Any]:
        """One optimiser for both."""
        from torch import optim

        betas, decay = (self.beta1, self.beta2), self.weight_decay
        made = optim.AdamW([*dense, *tables], lr=rate, betas=betas, weight_decay=decay, fused=True)
        return [made]


@dataclass(frozen=True)
class SparseAdam(Optimiser):
    """Adam whose moments of a table's row move only when a batch meets it; Adam for the rest."""

    lazy = True

    beta1: float = 0.9
    beta2: float = 0.999

    def make(self, dense: Sequence[Any], tables: Sequence[Any], rate: float) -> list[Any]:
        """Adam for dense parameters, SparseAdam for tables."""
        from torch import optim

        betas = (self.beta1, self.beta2)
        out: list[Any] = []
        if dense:
            out.append(optim.Adam(list(dense), lr=rate, betas=betas, fused=True))
        if tables:
            out.append(optim.SparseAdam(list(tables), lr=rate, betas=betas))
        return out


_KNOWN = {
    "sgd": SGD,
    "momentum": Momentum,
    "adagrad": AdaGrad,
    "rmsprop": RMSProp,
    "adam": Adam,
    "adamw": AdamW,
    "sparseadam": SparseAdam,
}


def optimiser(text: str, model: str) -> Optimiser:
    """Read an optimiser, such as ``adam``, ``momentum(momentum=0.9)`` or ``sparse_adam``.

    Raises:
        SpecError: another form, or options that mean nothing.
    """
    what = f"{model}: optimiser"
    found: Optimiser = made(read_call(text, what), what, _KNOWN)
    return found
