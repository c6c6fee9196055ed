"""NGCF: vectors of users and items, transformed from layer to layer of their graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.models.neural._graph import Graph, neighbours
from fullrank.models.neural._pairs import PairFactors, PairNetwork, Shared, dots, take_rows
from fullrank.models.neural._torch import Noise, Tensor, torch

_SLOPE = 0.2  # of the leaky ReLU; TensorFlow's default, which the paper's code takes


@dataclass(eq=False)
class NGCF(PairFactors):
    """Score by the product of vectors that all layers of a graph network add to.

    Wang, He, Wang, Feng & Chua 2019, "Neural graph collaborative filtering", equations 7, 9, 10
    and 11. With ``Â = D^(-1/2) A D^(-1/2)`` the normalised adjacency of users and items, learnt
    vectors ``E_0`` and learnt square matrices W,

        E_l = LeakyReLU((Â E_{l-1} + E_{l-1}) W1_l + (Â E_{l-1} ⊙ E_{l-1}) W2_l)

    and a node's vector is ``E_0 … E_K`` side by side. Each but ``E_0`` is scaled to length 1 there
    as in the authors' code (not in the paper, equation 9). The loss is BPR over one uniform
    negative; other objectives and negatives are taken too. ``reg`` is on the rows of ``E_0`` that
    a batch names (theirs: on the final vectors).

    Node dropout blocks nodes: with probability ``node_dropout`` a node sends nothing in a layer,
    and the others send more, as the paper says (its code drops edges). Message dropout
    (``dropout``) falls on the entries of ``E_1 … E_K``, as in its code. Scores have neither.

    Defaults are the paper's: 64 dimensions, 3 layers of 64, message dropout 0.1, node dropout 0,
    batches of 1,024, Xavier start, Adam; ``reg`` is its code's; the learning rate and the epochs
    are ours (0.0001 and 400 in the paper), for logs of thousands of users. They were held against
    others on validation rows of MovieLens 100K (``replications/ml_100k/defaults.md``): NDCG@10 was
    0.058 after 10 epochs, 0.059 after 20 and after 30; at a rate of 0.002 it was 0.054 after 30,
    with a standard error of about 0.006.

    Attributes:
        layers: the paper's K, at least 1.
        node_dropout: share of nodes that send nothing.
    """

    epochs: int = 20
    learning_rate: float = 0.005
    reg: float = 1e-5
    dropout: float = 0.1
    layers: int = 3
    node_dropout: float = 0.0

    search_space: ClassVar[Mapping[str, Any]] = {
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "reg": {"low": 1e-5, "high": 1e-2, "log": True},
        "dropout": {"low": 0.0, "high": 0.8},
        "node_dropout": {"low": 0.0, "high": 0.8},
        "embedding_dim": [32, 64, 128],
    }
    part_rows: ClassVar[int] = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.layers, bool) or not isinstance(self.layers, int) or self.layers < 1:
            raise SpecError(f"NGCF: layers must be a whole number >= 1, got {self.layers!r}")
        if not 0 <= self.node_dropout < 1:
            raise SpecError(
                f"NGCF: node_dropout must be at least 0 and below 1, got {self.node_dropout!r}"
            )

    def _pairs(self, train: Interactions) -> PairNetwork:
        return _Network(self, train)

    def _vectors(self, network: Any) -> tuple[Tensor, Tensor]:
        users, items = network.spread(None)
        return users, items


class _Network(PairNetwork):
    def __init__(self, model: NGCF, train: Interactions) -> None:
        super().__init__()
        self.model, self.graph, d = model, Graph(train.csr("binary")), model.embedding_dim
        self.users = torch.nn.Parameter(torch.empty(train.n_users, d))
        self.items = torch.nn.Parameter(torch.empty(train.n_items, d))
        self.sums = torch.nn.ParameterList(torch.empty(d, d) for _ in range(model.layers))
        self.products = torch.nn.ParameterList(torch.empty(d, d) for _ in range(model.layers))

    def starts(self, name: str, parameter: Tensor) -> str:
        """The paper's, section 4.2.3."""
        return "xavier_uniform"

    def spread(self, noise: Noise | None) -> Shared:
        """Final vectors of users and of items, ``[n, (layers + 1) d]``."""
        at = torch.cat([self.users, self.items])  # [n, d]
        found = [at]
        for w1, w2 in zip(self.sums, self.products, strict=True):
            sent = at
            if noise is not None:
                sent = at * noise.dropout(torch.ones_like(at[:, :1]), self.model.node_dropout)
            near = neighbours(sent, self.graph)
            at = (near + at) @ w1 + (near * at) @ w2
            at = torch.nn.functional.leaky_relu(at, _SLOPE)
            if noise is not None:
                at = noise.dropout(at, self.model.dropout)
            found.append(torch.nn.functional.normalize(at, dim=1))
        out = torch.cat(found, dim=1)
        return out[: len(self.users)], out[len(self.users) :]

    def shared(self, noise: Noise, rows: tuple[Tensor, Tensor]) -> Shared:
        return self.spread(noise)

    def scores(self, users: Tensor, items: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        return dots(take_rows(shared[0], users), shared[1], items)

    def catalogue(self, users: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        return take_rows(shared[0], users) @ shared[1].T
