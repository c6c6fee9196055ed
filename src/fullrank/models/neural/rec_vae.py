"""RecVAE: a variational autoencoder whose prior remembers the last posterior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log, pi
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import derive
from fullrank.models.neural._autoencoder import first_layer
from fullrank.models.neural._base import Encoder, _whole
from fullrank.models.neural._rows import Bags, user_batches
from fullrank.models.neural._softmax import catalogue_sum
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch

# Shares of the prior's parts in the authors' code: standard normal, old posterior, wide normal.
_SHARES = (3 / 20, 3 / 4, 1 / 10)
_WIDE = 10.0  # log-variance of the wide normal, likewise
_EPS = 0.1  # of their layer norms
_ENCODER_PASSES = 3  # to one of the decoder, likewise


@dataclass(eq=False)
class RecVAE(Encoder):
    """Score by the linear decoder's logits of a user's items.

    Shenbin, Alekseev, Tutubalina, Malykh & Nikolenko 2020, "RecVAE: a new variational autoencoder
    for top-N recommendations with implicit feedback", equations 5 to 8. With ``x`` the user's row,
    ``z`` drawn from the encoder's ``q(z | x̂)`` and W the decoder, each user adds

        -sum_{i in x} ln softmax(W z + b)_i + gamma |x|_1 (ln q(z | x) - ln p(z | old, x))

    The prior p mixes, in each dimension, N(0, 1), the posterior of the encoder as it was an epoch
    ago, and a wide normal, with shares 3/20, 3/4 and 1/10. ``gamma |x|_1`` is their ``beta'(x)``,
    in proportion to the user's number of items. The encoder has ``layers`` layers of
    ``hidden_dim`` with swish and layer norm, each fed with all before it.

    An epoch is three passes that train the encoder (with dropout on ``x̂``), after which the prior
    takes its posterior, and one that trains the decoder (without dropout; the KL term does not
    reach it). One optimiser serves both, whose moments belong to either's own weights.

    Start: Xavier normal, biases 0 (theirs: PyTorch's default). Defaults are theirs for MovieLens
    20M (600 hidden, 200 latent, dropout 0.5, gamma 0.005, learning rate 5e-4, 5 layers), with
    smaller batches (theirs: 500), for logs of thousands of users.

    Attributes:
        embedding_dim: size of ``z``.
        hidden_dim: of the encoder's layers.
        layers: of the encoder.
        gamma: weight of the KL term for each item of the user's.
    """

    embedding_dim: int = 200
    hidden_dim: int = 600
    layers: int = 5
    gamma: float = 0.005
    epochs: int = 40
    batch_size: int = 128
    learning_rate: float = 5e-4
    dropout: float = 0.5

    version: ClassVar[int] = 2  # sums of the first layer in another order: last bits differ
    search_space: ClassVar[Mapping[str, Any]] = {
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "gamma": {"low": 0.001, "high": 0.02, "log": True},
        "dropout": {"low": 0.1, "high": 0.8},
        "embedding_dim": [64, 128, 200],
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("hidden_dim", "layers"):
            _whole("RecVAE", key, getattr(self, key))
        if not 0 <= self.gamma < float("inf"):
            raise SpecError(f"RecVAE: gamma must be >= 0, got {self.gamma!r}")

    def _network(self, n_items: int) -> torch.nn.Module:
        return _Network(n_items, self)

    def _task(self, train: Interactions, seed: int) -> Task:
        return _Task(self, train, seed)

    def _encode(self, network: Any, queries: Queries) -> Tensor:
        bags = Bags(queries.history_csr())
        mean: Tensor = network.encoder(bags, torch.arange(len(bags)), None, 0.0)[0]
        return torch.cat([mean, torch.ones(len(mean), 1, dtype=mean.dtype)], dim=1)

    def _items(self, network: Any) -> Tensor:
        return torch.cat([network.out, network.out_bias[:, None]], dim=1)


class _Encoder(torch.nn.Module):
    def __init__(self, n_items: int, model: RecVAE) -> None:
        super().__init__()
        h, d = model.hidden_dim, model.embedding_dim
        self.items = torch.nn.Parameter(torch.empty(n_items, h))
        self.items_bias = torch.nn.Parameter(torch.zeros(h))
        self.layers = torch.nn.ModuleList(torch.nn.Linear(h, h) for _ in range(model.layers - 1))
        self.norms = torch.nn.ModuleList(
            torch.nn.LayerNorm(h, eps=_EPS) for _ in range(model.layers)
        )
        self.mean, self.log_variance = torch.nn.Linear(h, d), torch.nn.Linear(h, d)
        for linear in (*self.layers, self.mean, self.log_variance):
            torch.nn.init.zeros_(linear.bias)

    def forward(
        self, bags: Bags, rows: Tensor, noise: Noise | None, dropout: float
    ) -> tuple[Tensor, Tensor]:
        """Mean and log-variance of ``z``, ``[b, d]`` each."""
        x = first_layer(self.items, bags, rows, noise, dropout) + self.items_bias  # [b, h]
        before = self.norms[0](torch.nn.functional.silu(x))  # [b, h]
        last = before
        for layer, norm in zip(self.layers, list(self.norms)[1:], strict=True):
            last = norm(torch.nn.functional.silu(layer(last) + before))
            before = before + last
        return self.mean(last), self.log_variance(last)


class _Network(torch.nn.Module):
    def __init__(self, n_items: int, model: RecVAE) -> None:
        super().__init__()
        self.encoder = _Encoder(n_items, model)
        self.out = torch.nn.Parameter(torch.empty(n_items, model.embedding_dim))
        self.out_bias = torch.nn.Parameter(torch.zeros(n_items))
        self.last = _frozen(_Encoder(n_items, model))

    def remember(self) -> None:
        """The prior's posterior becomes the present one."""
        last = dict(self.last.named_buffers())
        with torch.no_grad():
            for name, parameter in self.encoder.named_parameters():
                last[name].copy_(parameter)

    def old(self, bags: Bags, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log-variance of the remembered posterior."""
        found: tuple[Tensor, Tensor] = self.last(bags, rows, None, 0.0)
        return found


def _frozen(module: torch.nn.Module) -> torch.nn.Module:
    """The module with its parameters turned into buffers, which no optimiser sees."""
    for part in module.modules():
        for name, parameter in list(part.named_parameters(recurse=False)):
            delattr(part, name)
            part.register_buffer(name, torch.zeros_like(parameter))
    return module


class _Task(Task):
    part_rows = 64

    def __init__(self, model: RecVAE, train: Interactions, seed: int) -> None:
        self.model, self.seed = model, seed
        self.matrix, self.hashes = train.csr("binary"), train.user_vocab.hashes
        self.bags = Bags(self.matrix)
        self.network: Any = model._network(train.n_items)
        self._encodes = True

    def batches(self, epoch: int) -> Iterator[Batch]:
        if epoch == 0:
            self.network.remember()
        for turn in range(_ENCODER_PASSES + 1):
            self._encodes = turn < _ENCODER_PASSES
            if not self._encodes:
                self.network.remember()
            size, seed = self.model.batch_size, derive(self.seed, "turn", turn)
            yield from user_batches(self.matrix, self.hashes, size, seed, epoch)

    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        network, users = self.network, batch["users"].cpu()
        out, bias = network.out, network.out_bias
        if self._encodes:
            out, bias = out.detach(), bias.detach()
            mean, log_variance = network.encoder(self.bags, users, noise, self.model.dropout)
        else:
            with torch.no_grad():
                mean, log_variance = network.encoder(self.bags, users, None, 0.0)
        z = mean + noise.normal(mean) * torch.exp(0.5 * log_variance)  # [b, d]
        items, counts = (x.to(z.device) for x in self.bags.targets(users))
        loss = catalogue_sum(z, out, items, counts, bias)
        if self._encodes:
            apart = log_normal(z, mean, log_variance) - self._log_prior(z, users)  # [b, d]
            loss = loss + self.model.gamma * (counts[:, None] * apart).sum()
        return loss

    def _log_prior(self, z: Tensor, users: Tensor) -> Tensor:
        """Log density of each entry ``[b, d]`` under the mixture."""
        zero = torch.zeros_like(z)
        old = self.network.old(self.bags, users)
        parts = (
            log_normal(z, zero, zero),
            log_normal(z, *old),
            log_normal(z, zero, torch.full_like(z, _WIDE)),
        )
        weighted = [part + log(share) for part, share in zip(parts, _SHARES, strict=True)]
        return torch.logsumexp(torch.stack(weighted), dim=0)


def log_normal(x: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """Log density of each entry."""
    scaled = (x - mean) ** 2 * torch.exp(-log_variance)
    return -0.5 * (log(2 * pi) + log_variance + scaled)
