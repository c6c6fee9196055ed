"""NeuMF: a generalised product of vectors beside a perceptron."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, suggest
from fullrank.core.interactions import Interactions
from fullrank.core.random import derive
from fullrank.models.neural._pairs import PairNetwork, PairScores, Shared
from fullrank.models.neural._task import Task
from fullrank.models.neural._torch import Noise, Tensor, torch

Part = Literal["both", "gmf", "mlp"]
_ALPHA = 0.5  # the paper's trade-off between the two trained parts, section 3.4.1


@dataclass(eq=False)
class NeuMF(PairScores):
    """Score by ``h · [p_u ⊙ q_i ; φ(p'_u, q'_i)] + b``.

    He, Liao, Zhang, Nie, Hu & Chua 2017, "Neural collaborative filtering", equations 7, 9, 10
    and 12. ``p ⊙ q`` is the generalised matrix factorisation (GMF) of vectors of ``embedding_dim``
    numbers; φ is a perceptron of ``layers`` ReLU layers on vectors of its own, each half as wide
    as the one before and the last ``embedding_dim`` wide, as in the paper's code (16 with 3
    layers: 64, 32, 16, on vectors of 64). The loss is the binary cross-entropy of scores
    over 4 uniform negatives; other objectives and negatives are taken too.

    With ``pretrain`` GMF and MLP are trained first, each with these settings, and the network
    starts from both, ``h`` from 0.5 of each one's (section 3.4.1). The paper then goes on with
    SGD, because Adam's moments are lost; here ``optimiser`` is used throughout.

    ``dropout`` falls on the outputs of the layers of the perceptron; ``reg`` is L2 on the vectors
    that a batch names. The start is normal with deviation 0.01 for vectors as in the paper,
    Xavier uniform for layers (Keras' default, its code's).

    Defaults are the paper's (3 layers, 4 negatives, batches of 256, learning rate 0.001, 20
    epochs), of its sizes 8, 16, 32 and 64 the second.

    The first layer is a sum of a user's half and an item's, so that the items' halves are computed
    once for all queries. Scores are computed in float64 and rounded to float32. Users without
    training rows score every item 0; for all others items without training rows come last.

    Attributes:
        layers: of the perceptron, at least 1.
        part: ``both``, or one of ``gmf`` and ``mlp`` alone.
        pretrain: start from both parts trained alone.
    """

    embedding_dim: int = 16
    epochs: int = 20
    batch_size: int = 256
    objective: str = "crossentropy"
    negatives_per_positive: int = 4
    layers: int = 3
    part: Part = "both"
    pretrain: bool = False

    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [8, 16, 32, 64],
        "layers": [1, 2, 3],
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "reg": {"low": 1e-6, "high": 1e-2, "log": True},
        "dropout": {"low": 0.0, "high": 0.8},
        "negatives_per_positive": {"low": 1, "high": 8},
    }
    part_rows: ClassVar[int] = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.layers, bool) or not isinstance(self.layers, int) or self.layers < 1:
            raise SpecError(f"NeuMF: layers must be a whole number >= 1, got {self.layers!r}")
        if self.part not in get_args(Part):
            hint = suggest(str(self.part), get_args(Part))
            raise SpecError(f"NeuMF: unknown part {self.part!r}{hint}; one of both, gmf, mlp")
        if self.pretrain and self.part != "both":
            raise SpecError(f"NeuMF: pretrain=True joins two parts; part is {self.part!r}")
        self._parts: dict[str, dict[str, NDArray[Any]]] = {}

    def _network(self, n_users: int, n_items: int) -> PairNetwork:
        return _Network(self, n_users, n_items)

    def _task(self, train: Interactions, seed: int) -> Task:
        task = super()._task(train, seed)
        self._parts = {}
        if self.pretrain:
            for part in ("gmf", "mlp"):
                alone = NeuMF(**{**self.settings(), "pretrain": False, "part": part})
                if part == "gmf" and self._source is not None:
                    alone.warm_start(self._source)
                self._parts[part] = alone.fit(train, rng=derive(seed, part)).weights_
        return task

    def _initialise(self, network: Any, seed: int) -> None:
        super()._initialise(network, seed)
        if not self._parts:
            return
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                found = [one[name] for one in self._parts.values() if name in one]
                if name in ("out", "bias"):
                    found = [_ALPHA * one for one in found]
                joined = np.concatenate(found, axis=1) if name == "out" else sum(found)
                parameter.copy_(torch.from_numpy(np.asarray(joined)))

    def warm_start(self, model: Any) -> NeuMF:
        """As of all models of pairs; the vectors are those of GMF.

        Raises:
            SpecError: ``part`` is ``mlp``.
        """
        if self.part == "mlp":
            raise SpecError("NeuMF: part='mlp' has no vectors that another model could give")
        return super().warm_start(model)

    def _item_side(self, network: Any) -> tuple[Tensor, ...]:
        return tuple(network.items_of(torch.arange(len(self.item_vocab_))))

    def _score_one(self, network: Any, user: Tensor, side: tuple[Tensor, ...]) -> Tensor:
        scores: Tensor = network.joined(network.users_of(user), [x[None] for x in side], None)
        return scores[0]


class _Network(PairNetwork):
    tables: tuple[str, ...] = ("users", "items", "mlp_users", "mlp_items")

    def __init__(self, model: NeuMF, n_users: int, n_items: int) -> None:
        super().__init__()
        d, self.part, self.dropout = model.embedding_dim, model.part, model.dropout
        widths = [d << layer for layer in reversed(range(model.layers))]
        self.mlp = torch.nn.ModuleList()
        if self.part != "mlp":
            self.users = torch.nn.Parameter(torch.empty(n_users, d))
            self.items = torch.nn.Parameter(torch.empty(n_items, d))
        if self.part != "gmf":
            self.mlp_users = torch.nn.Parameter(torch.empty(n_users, widths[0]))
            self.mlp_items = torch.nn.Parameter(torch.empty(n_items, widths[0]))
            self.first_users = torch.nn.Linear(widths[0], widths[0])
            self.first_items = torch.nn.Linear(widths[0], widths[0], bias=False)
            self.mlp.extend(torch.nn.Linear(a, b) for a, b in pairwise(widths))
            for linear in (self.first_users, *self.mlp):
                torch.nn.init.zeros_(linear.bias)
        self.tables = tuple(name for name in self.tables if hasattr(self, name))
        self.out = torch.nn.Parameter(torch.empty(1, 2 * d if self.part == "both" else d))
        self.bias = torch.nn.Parameter(torch.zeros(1))

    def starts(self, name: str, parameter: Tensor) -> str:
        """The paper's for vectors; its code's for layers and, LeCun uniform, for ``h``."""
        if name in self.tables:
            return "normal(std=0.01)"
        if name == "out":
            bound = (3.0 / parameter.shape[1]) ** 0.5
            return f"uniform(low={-bound}, high={bound})"
        return "xavier_uniform"

    def users_of(self, users: Tensor) -> list[Tensor]:
        """Vectors ``[p, d]`` of GMF and the first layer's halves ``[p, h]``, of users."""
        found = [self.rows("users", users)] if self.part != "mlp" else []
        if self.part != "gmf":
            found.append(self.first_users(self.rows("mlp_users", users)))
        return found

    def items_of(self, items: Tensor) -> list[Tensor]:
        """The same of items ``[…]``: ``[…, d]`` and ``[…, h]``."""
        found = [self.rows("items", items)] if self.part != "mlp" else []
        if self.part != "gmf":
            found.append(self.first_items(self.rows("mlp_items", items)))
        return found

    def joined(self, mine: list[Tensor], theirs: list[Tensor], noise: Noise | None) -> Tensor:
        """Scores ``[p, m]`` of users ``[p, …]`` with their own items ``[p, m, …]``."""
        last = [mine[0][:, None] * theirs[0]] if self.part != "mlp" else []  # [p, m, d]
        if self.part != "gmf":
            x = torch.relu(mine[-1][:, None] + theirs[-1])  # [p, m, h]
            for linear in self.mlp:
                x = x if noise is None else noise.dropout(x, self.dropout)
                x = torch.relu(linear(x))
            last.append(x if noise is None else noise.dropout(x, self.dropout))  # [p, m, d]
        return torch.cat(last, dim=2) @ self.out[0] + self.bias

    def scores(self, users: Tensor, items: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        return self.joined(self.users_of(users), self.items_of(items), noise)

    def squares(self, users: Tensor, items: Tensor) -> Tensor:
        at = {"users": users, "mlp_users": users, "items": items, "mlp_items": items}
        return torch.stack([(self.rows(name, at[name]) ** 2).sum() for name in self.tables]).sum()
