"""NFM: a neural factorisation machine on the ids of user and item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.models.neural._pairs import PairNetwork, PairScores, Shared
from fullrank.models.neural._torch import Noise, Tensor, torch


@dataclass(eq=False)
class NFM(PairScores):
    """Score by ``w_0 + w_u + w_i + h · φ(v_u ⊙ v_i)``.

    He & Chua 2017, "Neural factorization machines for sparse predictive analytics", equations 2,
    3 and 7. With the ids of user and item as the only features, bi-interaction pooling
    (equation 3) is the product ``v_u ⊙ v_i``; φ is a perceptron of ``layers`` ReLU layers, each
    ``embedding_dim`` wide; with ``layers=0`` and h of ones it would be a factorisation machine,
    but h is learnt. ``dropout`` falls on the pooled vector and on each layer's output (section
    3.3). There is no batch normalisation, which the paper has: it would tie a row's score to the
    other rows of its batch. The paper's squared loss is ``objective="squared"``; BPR, the default,
    is that of DaisyRec (Sun et al. 2022). The paper's pre-training by an FM is ``warm_start``.
    ``reg`` is L2 on vectors and biases that a batch names.

    One layer is the paper's best depth (section 5.3.2), with dropout 0.3; Adam takes the place of
    its Adagrad, and the start is Xavier normal, as DaisyRec's. Epochs, batch and learning rate are
    NeuMF's here; they were not searched.

    Scores are computed in float64, a user at a time, and rounded to float32. Users without
    training rows score every item 0; for all others items without training rows come last.

    Attributes:
        layers: of the perceptron, at least 0.
    """

    embedding_dim: int = 64
    epochs: int = 20
    batch_size: int = 256
    dropout: float = 0.3
    layers: int = 1

    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [16, 32, 64, 128],
        "layers": [1, 2, 3],
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "reg": {"low": 1e-6, "high": 1e-2, "log": True},
        "dropout": {"low": 0.0, "high": 0.8},
        "negatives_per_positive": {"low": 1, "high": 5},
    }
    part_rows: ClassVar[int] = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.layers, bool) or not isinstance(self.layers, int) or self.layers < 0:
            raise SpecError(f"NFM: layers must be a whole number >= 0, got {self.layers!r}")

    def _network(self, n_users: int, n_items: int) -> PairNetwork:
        return _Network(self, n_users, n_items)

    def _item_side(self, network: Any) -> tuple[Tensor, ...]:
        return network.items, network.item_bias

    def _score_one(self, network: Any, user: Tensor, side: tuple[Tensor, ...]) -> Tensor:
        items, bias = side
        scores: Tensor = network.deep(network.users[user] * items, None)
        return scores + bias[:, 0] + network.user_bias[user, 0] + network.bias


class _Network(PairNetwork):
    tables: tuple[str, ...] = ("users", "items", "user_bias", "item_bias")

    def __init__(self, model: NFM, n_users: int, n_items: int) -> None:
        super().__init__()
        d, self.dropout = model.embedding_dim, model.dropout
        self.users = torch.nn.Parameter(torch.empty(n_users, d))
        self.items = torch.nn.Parameter(torch.empty(n_items, d))
        self.user_bias = torch.nn.Parameter(torch.zeros(n_users, 1))
        self.item_bias = torch.nn.Parameter(torch.zeros(n_items, 1))
        self.mlp = torch.nn.ModuleList(torch.nn.Linear(d, d) for _ in range(model.layers))
        for linear in self.mlp:
            torch.nn.init.zeros_(linear.bias)
        self.out = torch.nn.Parameter(torch.empty(1, d))
        self.bias = torch.nn.Parameter(torch.zeros(1))

    def starts(self, name: str, parameter: Tensor) -> str | None:
        """Xavier normal; biases, which are tables of one column, stay 0."""
        return None if name in ("user_bias", "item_bias") else "xavier_normal"

    def deep(self, x: Tensor, noise: Noise | None) -> Tensor:
        """``h · φ(x)`` of pooled vectors ``[…, d]``: ``[…]``."""
        x = x if noise is None else noise.dropout(x, self.dropout)
        for linear in self.mlp:
            x = torch.relu(linear(x))
            x = x if noise is None else noise.dropout(x, self.dropout)
        return x @ self.out[0]

    def scores(self, users: Tensor, items: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        pooled = self.rows("users", users)[:, None] * self.rows("items", items)  # [p, m, d]
        biases = self.rows("user_bias", users) + self.rows("item_bias", items)[:, :, 0]  # [p, m]
        return self.deep(pooled, noise) + biases + self.bias

    def squares(self, users: Tensor, items: Tensor) -> Tensor:
        at = (users, items, users, items)
        each = [
            (self.rows(name, rows) ** 2).sum() for name, rows in zip(self.tables, at, strict=True)
        ]
        return torch.stack(each).sum()
