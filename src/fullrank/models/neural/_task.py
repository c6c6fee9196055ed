"""What a neural model gives to the training loop: a network, batches, and their loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from fullrank.models.neural._torch import Noise, Tensor, torch

Batch = dict[str, Tensor]
"""Tensors whose first dimension is the rows of the batch, by name; they are cut by rows."""


class Task(ABC):
    """One training: subclasses hold the network and the data.

    Attributes:
        network: whose parameters are learnt.
        part_rows: rows that one thread takes of a batch. Gradients of the parts are added up in
            order, so that the number of threads changes nothing; it is no setting, and belongs to
            the model's ``version``.
        tables: names of parameters with sparse gradients, if the optimiser is lazy.
    """

    network: torch.nn.Module
    part_rows: int = 1024
    tables: frozenset[str] = frozenset()

    @abstractmethod
    def batches(self, epoch: int) -> Iterator[Batch]:
        """Batches of an epoch: a function of the seed and the epoch."""

    @abstractmethod
    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        """Sum of the losses of a batch's rows, penalties included: a scalar."""

    def shared(self, noise: Noise) -> tuple[Tensor, ...]:
        """What all parts of a batch use, computed once for it (a graph's propagation)."""
        return ()

    def weight(self, batch: Batch) -> int:
        """What the sum of losses is divided by: the rows of the batch."""
        return len(next(iter(batch.values())))

    def after_step(self) -> None:  # noqa: B027
        """Called after each step of the optimiser."""
