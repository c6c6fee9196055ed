"""MultiVAE: a variational autoencoder of users' items with a multinomial likelihood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.models.neural._base import Encoder
from fullrank.models.neural._rows import Bags, bag_sum, user_batches
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch


@dataclass(eq=False)
class MultiVAE(Encoder):
    """Score by the decoder's logits of a user's items.

    Liang, Krishnan, Hoffman & Jebara 2018, "Variational autoencoders for collaborative filtering",
    equations 5, 8 and 10. With ``x`` the user's row (0 and 1), ``x̂ = x / |x|_2``, an encoder
    ``tanh`` layer to mean and log-variance of ``z`` and a mirrored decoder ``f``, each user adds

        -sum_{i in x} ln softmax(f(z))_i + beta KL(q(z | x) || N(0, 1))

    with ``z`` drawn once in training and at its mean for scoring. ``beta`` rises from 0 to
    ``kl_weight`` over the first ``kl_steps`` steps. Batches are sparse: the first layer adds up
    the vectors of a user's items, and only the ``batch_size × n_items`` logits are dense.

    Dropout falls on ``x̂``. ``reg`` is L2 on all weights, added to the mean loss over users. The
    start is Xavier normal as in the paper's code, biases 0 (there: truncated normal, 0.001).
    Defaults are the paper's (one hidden layer of 600, 200 latent, dropout 0.5, ``kl_weight`` 0.2
    at 200,000 steps), but for a shorter rise of ``beta``, made for logs of thousands of users:
    ``kl_steps`` 2,000 (about 40 epochs of ML-1M), and the epochs.

    Attributes:
        embedding_dim: size of ``z``.
        hidden_dim: of the layer between; 0 for none.
        kl_weight: the last ``beta``.
        kl_steps: steps until it.
    """

    embedding_dim: int = 200
    hidden_dim: int = 600
    epochs: int = 60
    batch_size: int = 128
    dropout: float = 0.5
    kl_weight: float = 0.2
    kl_steps: int = 2000

    search_space: ClassVar[Mapping[str, Any]] = {
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "kl_weight": {"low": 0.01, "high": 1.0, "log": True},
        "dropout": {"low": 0.1, "high": 0.8},
        "embedding_dim": [64, 128, 200],
    }

    variational: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.hidden_dim, int) or self.hidden_dim < 0:
            raise SpecError(f"MultiVAE: hidden_dim must be >= 0, got {self.hidden_dim!r}")
        if not 0 <= self.kl_weight < float("inf"):
            raise SpecError(f"MultiVAE: kl_weight must be >= 0, got {self.kl_weight!r}")
        if not isinstance(self.kl_steps, int) or self.kl_steps < 0:
            raise SpecError(f"MultiVAE: kl_steps must be >= 0, got {self.kl_steps!r}")

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
        items, row = bags.take(rows)  # [t], [t]
        counts = torch.bincount(row, minlength=len(rows)).clamp(min=1)
        weights = counts.to(self.items.dtype).rsqrt()[row]  # [t]
        if noise is not None:
            weights = noise.dropout(weights, dropout)
        x = bag_sum(self.items, items, row, len(rows), weights) + self.items_bias  # [b, hidden]
        if self.middle is not None:
            x = self.middle(torch.tanh(x))  # [b, latent or 2 latent]
        return (x[:, : self.latent], x[:, self.latent :]) if self.variational else (x, None)

    def top(self, z: Tensor) -> Tensor:
        """The decoder's last layer but one: ``[b, hidden]``."""
        return torch.tanh(self.up(z)) if self.up is not None else z

    def logits(self, z: Tensor) -> Tensor:
        """``[b, n_items]``."""
        return self.top(z) @ self.out.T + self.out_bias


class _Task(Task):
    part_rows = 64

    def __init__(self, model: MultiVAE, train: Interactions, seed: int) -> None:
        self.model, self.seed = model, seed
        self.matrix, self.hashes = train.csr("binary"), train.user_vocab.hashes
        self.bags = Bags(self.matrix)
        self.network = model._network(train.n_items)
        self._steps_an_epoch = -(-int((train.user_counts > 0).sum()) // model.batch_size)
        self._beta = 0.0

    def batches(self, epoch: int) -> Iterator[Batch]:
        model = self.model
        found = user_batches(self.matrix, self.hashes, model.batch_size, self.seed, epoch)
        for number, batch in enumerate(found):
            step = epoch * self._steps_an_epoch + number
            self._beta = model.kl_weight * min(step / max(model.kl_steps, 1), 1.0)
            yield batch

    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        network: Any = self.network
        users = batch["users"].cpu()
        mean, log_variance = network.encode(self.bags, users, noise, self.model.dropout)
        z = mean
        if log_variance is not None:
            z = mean + noise.normal(mean) * torch.exp(0.5 * log_variance)
        logs = torch.log_softmax(network.logits(z).float(), dim=1)  # [b, n_items]
        items, row = self.bags.take(users)
        loss = -logs[row, items].sum()
        if log_variance is not None:
            loss = loss + self._beta * _kl(mean.float(), log_variance.float())
        return loss


def _kl(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL divergence to the standard normal, summed."""
    return -0.5 * (1 + log_variance - mean**2 - torch.exp(log_variance)).sum()
