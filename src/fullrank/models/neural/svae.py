"""SVAE: a variational autoencoder at each place of a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.models.neural._sequences import (
    SequenceNetwork,
    SequenceTask,
    Sequential,
    trimmed,
    whole,
)
from fullrank.models.neural._softmax import catalogue_sum
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch
from fullrank.models.neural._transformer import Affine, drop
from fullrank.models.neural.gru4rec import with_ones, zeroed


@dataclass(eq=False)
class SVAE(Sequential):
    """Score by the decoder's logits after the whole history.

    Sachdeva, Manco, Ritacco & Pudi 2019, "Sequential variational autoencoders for collaborative
    filtering". A recurrent network reads the history; at each place t its state is encoded to mean
    and log-variance of ``z_t`` by a ``tanh`` layer, and a mirrored decoder ``f`` is asked for the
    next ``next_items`` items y (those of the window):

        -sum over y of ln softmax(f(z_t))_y + beta KL(q(z_t | x_1 … x_t) || N(0, 1))

    with ``z_t`` drawn once in training and at its mean for scoring. ``beta`` rises from 0 to
    ``kl_weight`` over the first ``kl_steps`` steps.

    Departures: batches of windows in place of one user a step; dropout (the paper has none) falls
    on the vectors that come in. ``reg`` is L2 on all weights. The start is Xavier normal, biases 0.
    The sizes and the four next items are the paper's; ``kl_weight`` and ``kl_steps`` are as for
    ``MultiVAE``.

    Attributes:
        embedding_dim: size of the vectors that come in.
        state_dim: units of the recurrent network.
        hidden_dim: of the layers on both sides of ``z``.
        latent_dim: size of ``z``.
        next_items: that each place is asked for.
        kl_weight: the last ``beta``.
        kl_steps: steps until it.
    """

    embedding_dim: int = 256
    state_dim: int = 200
    hidden_dim: int = 150
    latent_dim: int = 64
    next_items: int = 4
    epochs: int = 30
    dropout: float = 0.2
    kl_weight: float = 0.2
    kl_steps: int = 2000

    search_space: ClassVar[Mapping[str, Any]] = {
        "latent_dim": [32, 64, 128],
        "next_items": [1, 2, 4, 8],
        "kl_weight": {"low": 0.01, "high": 1.0, "log": True},
        "dropout": {"low": 0.0, "high": 0.6},
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("state_dim", "hidden_dim", "latent_dim", "next_items"):
            whole(self, name)
        whole(self, "kl_steps", 0)
        if not 0 <= self.kl_weight < np.inf:
            raise SpecError(f"SVAE: kl_weight must be >= 0, got {self.kl_weight!r}")

    def _network(self, n_items: int) -> torch.nn.Module:
        return _Network(self, n_items)

    def _task(self, train: Interactions, seed: int) -> Task:
        return _Task(self, train, seed, overlap=1)


class _Network(SequenceNetwork):
    def __init__(self, model: SVAE, n_items: int) -> None:
        super().__init__()
        self.dropout, hidden = model.dropout, model.hidden_dim
        self.items = torch.nn.Parameter(torch.empty(n_items, model.embedding_dim))
        self.gru = zeroed(torch.nn.GRU(model.embedding_dim, model.state_dim, batch_first=True))
        self.down = Affine(model.state_dim, hidden)
        self.middle = Affine(hidden, 2 * model.latent_dim)
        self.up = Affine(model.latent_dim, hidden)
        self.out = torch.nn.Parameter(torch.empty(n_items, hidden))
        self.bias = torch.nn.Parameter(torch.zeros(n_items))

    def table(self) -> Tensor:
        return torch.cat([self.out, self.bias[:, None]], dim=1)

    def states(self, items: Tensor, lengths: Tensor, noise: Noise | None = None) -> Tensor:
        x = drop(torch.nn.functional.embedding(items, self.items), noise, self.dropout)
        states: Tensor = self.gru(x)[0]  # [b, l, state]
        return states

    def latent(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log-variance of ``z``, ``[t, latent]`` each."""
        mean, log_variance = self.middle(torch.tanh(self.down(states))).chunk(2, dim=1)
        return mean, log_variance

    def decoded(self, z: Tensor) -> Tensor:
        """``[t, hidden + 1]``."""
        return with_ones(torch.tanh(self.up(z)))

    def outputs(self, states: Tensor) -> Tensor:
        return self.decoded(self.latent(states)[0])


class _Task(SequenceTask):
    model: SVAE
    _beta = 0.0

    def batches(self, epoch: int) -> Iterator[Batch]:
        """Windows; each step has its own ``beta``."""
        steps = -(-len(self.users) // self.model.batch_size)
        for number, batch in enumerate(super().batches(epoch)):
            share = (epoch * steps + number) / max(self.model.kl_steps, 1)
            self._beta = self.model.kl_weight * min(share, 1.0)
            yield batch

    def weight(self, batch: Batch) -> int:
        """Places that are asked."""
        return int((batch["counts"] - 1).sum())

    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        """Sum over the places of the windows but the last."""
        lengths = batch["counts"] - 1
        inputs, there = trimmed(batch["items"], lengths)
        states = self.network.states(inputs, lengths, noise)[there]  # [t, state]
        mean, log_variance = self.network.latent(states)
        z = mean + noise.normal(mean) * torch.exp(0.5 * log_variance)
        items, counts = following(batch["items"], batch["counts"], there, self.model.next_items)
        loss = catalogue_sum(self.network.decoded(z), self.network.table(), items, counts)
        far = 1 + log_variance - mean**2 - torch.exp(log_variance)
        return loss - 0.5 * self._beta * far.sum()


def following(items: Tensor, counts: Tensor, there: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The next ``k`` items of each place that is there, fewer at the end: ``[p]``, and ``[t]``.

    Args:
        items: int64 ``[b, l]``.
        counts: int64 ``[b]`` items of each row.
        there: bool ``[b, l']``: which places are asked, row after row.
        k: how many items.
    """
    row, place = there.nonzero(as_tuple=True)  # [t] each
    ahead = place[:, None] + 1 + torch.arange(k, device=items.device)  # [t, k]
    real = ahead < counts[row][:, None]
    found = items[row[:, None], ahead.clamp(max=items.shape[1] - 1)]
    return found[real], real.sum(dim=1)
