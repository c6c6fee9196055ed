"""PyTorch, or an error that says how to get it; the device, and noise that repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullrank.core.errors import SpecError
from fullrank.core.random import derive

try:
    import torch
except ModuleNotFoundError as error:  # pragma: no cover (tested in a process without it)
    raise SpecError(
        "neural models need PyTorch, which is not installed; pip install 'fullrank[neural]' "
        "(a CPU build is enough: see the installation page)"
    ) from error

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = Any

__all__ = ["Noise", "Tensor", "device", "torch"]


def device() -> torch.device:
    """CUDA where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Noise:
    """Random draws of one part of one batch: a function of the seed, epoch, batch and part.

    PyTorch's own dropout draws from one generator for all threads, so that the order in which
    they come decides what they get.
    """

    def __init__(self, seed: int, *place: int, on: torch.device) -> None:
        self._generator = torch.Generator(device=on)
        self._generator.manual_seed(derive(seed, "noise", *place))

    def dropout(self, x: Tensor, p: float) -> Tensor:
        """Set entries to 0 with probability ``p`` and scale the others by ``1 / (1 - p)``."""
        if p == 0:
            return x
        keep = torch.empty_like(x).bernoulli_(1 - p, generator=self._generator)
        return x * keep.div_(1 - p)

    def normal(self, x: Tensor) -> Tensor:
        """Standard normal draws of the shape of ``x``."""
        return torch.empty_like(x).normal_(generator=self._generator)

    def uniform(self, *shape: int) -> Tensor:
        """Uniform draws in [0, 1), float32."""
        on = self._generator.device
        return torch.rand(*shape, generator=self._generator, device=on)
