"""The family of autoencoders of users' items with a multinomial likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.models.neural._base import Encoder
from fullrank.models.neural._rows import Bags, bag_sum, user_batches
from fullrank.models.neural._softmax import catalogue_sum
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch


@dataclass(eq=False)
class Autoencoder(Encoder):
    """Base of MultiVAE and MultiDAE: the network, its batches and its scores.

    Batches are sparse: the first layer adds up the vectors of a user's items, and only the
    ``batch_size × n_items`` logits are dense.

    Attributes:
        embedding_dim: size of ``z``.
        hidden_dim: of the layer between; 0 for none.
    """

    embedding_dim: int = 200
    hidden_dim: int = 600
    epochs: int = 60
    batch_size: int = 128
    dropout: float = 0.5

    variational: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.hidden_dim, int) or self.hidden_dim < 0:
            raise SpecError(
                f"{type(self).__name__}: hidden_dim must be >= 0, got {self.hidden_dim!r}"
            )

    def _beta(self, step: int) -> float:
        """Weight of the KL term at a step of training, where there is one."""
        return 0.0

    def _network(self, n_items: int) -> torch.nn.Module:
        return _Network(n_items, self.hidden_dim, self.embedding_dim, self.variational)

    def _task(self, train: Interactions, seed: int) -> Task:
        return _Task(self, train, seed)

    def _encode(self, network: Any, queries: Queries) -> Tensor:
        bags = Bags(queries.history_csr())
        hidden: Tensor = network.top(network.encode(bags, torch.arange(len(bags)))[0])
        ones = torch.ones(len(hidden), 1, dtype=hidden.dtype)
        return torch.cat([hidden, ones], dim=1)

    def _items(self, network: Any) -> Tensor:
        return torch.cat([network.out, network.out_bias[:, None]], dim=1)


def first_layer(
    table: Tensor, bags: Bags, rows: Tensor, noise: Noise | None, dropout: float
) -> Tensor:
    """``x̂ W`` for users' rows of length 1, with dropout on ``x̂``: ``[b, hidden]``.

    Args:
        table: W, ``[n_items, hidden]``.
        bags: rows of all users.
        rows: which of them, ``[b]``.
        noise: of dropout; None for none.
        dropout: share of entries dropped.
    """
    items, row = (x.to(table.device) for x in bags.take(rows))  # [t], [t]
    counts = torch.bincount(row, minlength=len(rows)).clamp(min=1)
    weights = counts.to(table.dtype).rsqrt()[row]  # [t]
    if noise is not None:
        weights = noise.dropout(weights, dropout)
    return bag_sum(table, items, row, len(rows), weights)


class _Network(torch.nn.Module):
    def __init__(self, n_items: int, hidden: int, latent: int, variational: bool) -> None:
        super().__init__()
        width, first = 2 * latent if variational else latent, hidden or 0
        self.latent, self.variational = latent, variational
        self.items = torch.nn.Parameter(torch.empty(n_items, first or width))
        self.items_bias = torch.nn.Parameter(torch.zeros(first or width))
        self.middle = torch.nn.Linear(first, width) if first else None
        self.up = torch.nn.Linear(latent, first) if first else None
        self.out = torch.nn.Parameter(torch.empty(n_items, first or latent))
        self.out_bias = torch.nn.Parameter(torch.zeros(n_items))
        for linear in (self.middle, self.up):
            if linear is not None:
                torch.nn.init.zeros_(linear.bias)

    def encode(
        self, bags: Bags, rows: Tensor, noise: Noise | None = None, dropout: float = 0.0
    ) -> tuple[Tensor, Tensor | None]:
        """Mean and log-variance of ``z``, ``[b, latent]`` each."""
        x = first_layer(self.items, bags, rows, noise, dropout) + self.items_bias  # [b, hidden]
        if self.middle is not None:
            x = self.middle(torch.tanh(x))  # [b, latent or 2 latent]
        return (x[:, : self.latent], x[:, self.latent :]) if self.variational else (x, None)

    def top(self, z: Tensor) -> Tensor:
        """The decoder's last layer but one: ``[b, hidden]``."""
        return torch.tanh(self.up(z)) if self.up is not None else z


class _Task(Task):
    part_rows = 64

    def __init__(self, model: Autoencoder, train: Interactions, seed: int) -> None:
        self.model, self.seed = model, seed
        self.matrix, self.hashes = train.csr("binary"), train.user_vocab.hashes
        self.bags = Bags(self.matrix)
        self.network = model._network(train.n_items)
        self._steps_an_epoch = -(-int((train.user_counts > 0).sum()) // model.batch_size)
        self._beta = 0.0

    def batches(self, epoch: int) -> Iterator[Batch]:
        size = self.model.batch_size
        found = user_batches(self.matrix, self.hashes, size, self.seed, epoch)
        for number, batch in enumerate(found):
            self._beta = self.model._beta(epoch * self._steps_an_epoch + number)
            yield batch

    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        network: Any = self.network
        users = batch["users"].cpu()
        mean, log_variance = network.encode(self.bags, users, noise, self.model.dropout)
        z = mean
        if log_variance is not None:
            z = mean + noise.normal(mean) * torch.exp(0.5 * log_variance)
        items, counts = (x.to(z.device) for x in self.bags.targets(users))
        loss = catalogue_sum(network.top(z), network.out, items, counts, network.out_bias)
        if log_variance is not None:
            loss = loss + self._beta * _kl(mean.float(), log_variance.float())
        return loss


def _kl(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL divergence to the standard normal, summed."""
    return -0.5 * (1 + log_variance - mean**2 - torch.exp(log_variance)).sum()
