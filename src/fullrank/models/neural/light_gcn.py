"""LightGCN: vectors of users and items, averaged over the layers of their graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.models.neural._graph import Graph, sum_of_powers
from fullrank.models.neural._pairs import PairFactors, PairNetwork, Shared, dots, take_rows
from fullrank.models.neural._torch import Noise, Tensor, torch


@dataclass(eq=False)
class LightGCN(PairFactors):
    """Score by ``e_u · e_i``, both averaged over a node's neighbourhoods of growing radius.

    He, Deng, Wang, Li, Zhang & Wang 2020, "LightGCN: simplifying and powering graph convolution
    network for recommendation", equations 4, 8 and 15. With ``Â = D^(-1/2) A D^(-1/2)`` the
    normalised adjacency of users and items and ``E`` learnt vectors,

        (e_users, e_items) = (E + Â E + … + Â^K E) / (K + 1)

    and the loss is BPR over one uniform negative. Other objectives and negatives are taken too.
    ``reg`` is on the rows of ``E`` that a batch names, as in the paper's code. There are no other
    weights, and no dropout (the paper's section 3.2.3 finds none needed).

    Each batch needs K products with ``Â`` forward and K back. The last one forward is made for the
    rows of the batch alone, and the first one back reads no others: neither changes a result.

    Defaults are the paper's (64 dimensions, 3 layers, ``reg`` 1e-4, one uniform negative, Adam),
    with its code's batches of 2,048. The paper trains 1,000 epochs at a rate of 0.001; ours are
    fewer and ten times as fast. Rate and epochs were chosen on validation rows of MovieLens 100K
    (``replications/ml_100k/defaults.md``): at this rate NDCG@10 was 0.060 after 40 epochs, 0.065
    after 60 and 0.068 after 70; at half and at twice the rate it was 0.057 and 0.062 after 60, with
    a standard error of about 0.006.

    Attributes:
        layers: the paper's K; 0 is plain matrix factorisation.
    """

    epochs: int = 60
    batch_size: int = 2048
    learning_rate: float = 0.01
    reg: float = 1e-4
    layers: int = 3

    search_space: ClassVar[Mapping[str, Any]] = {
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "reg": {"low": 1e-6, "high": 1e-2, "log": True},
        "layers": [1, 2, 3, 4],
        "embedding_dim": [32, 64, 128],
    }
    part_rows: ClassVar[int] = 4096
    version: ClassVar[int] = 2  # 60 epochs by default, not 40

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.layers, bool) or not isinstance(self.layers, int) or self.layers < 0:
            raise SpecError(f"LightGCN: layers must be a whole number >= 0, got {self.layers!r}")
        if self.dropout != 0:
            raise SpecError(f"LightGCN: has no dropout, so that it must be 0; got {self.dropout!r}")

    def _pairs(self, train: Interactions) -> PairNetwork:
        return _Network(self, train)

    def _vectors(self, network: Any) -> tuple[Tensor, Tensor]:
        users, items = network.spread(None)
        return users, items


class _Network(PairNetwork):
    def __init__(self, model: LightGCN, train: Interactions) -> None:
        super().__init__()
        self.layers, self.graph = model.layers, Graph(train.csr("binary"))
        d = model.embedding_dim
        self.users = torch.nn.Parameter(torch.empty(train.n_users, d))
        self.items = torch.nn.Parameter(torch.empty(train.n_items, d))

    def starts(self, name: str, parameter: Tensor) -> str:
        """The authors' code in PyTorch; the paper says Xavier."""
        return "normal(std=0.1)"

    def spread(self, rows: tuple[Tensor, Tensor] | None) -> Shared:
        """Final vectors of users and of items, right for the given ones."""
        both = torch.cat([self.users, self.items])
        out = sum_of_powers(both, self.graph, self.layers, rows) / (self.layers + 1)
        return out[: len(self.users)], out[len(self.users) :]

    def shared(self, noise: Noise, rows: tuple[Tensor, Tensor]) -> Shared:
        return self.spread(rows)

    def scores(self, users: Tensor, items: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        return dots(take_rows(shared[0], users), shared[1], items)

    def catalogue(self, users: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        return take_rows(shared[0], users) @ shared[1].T
