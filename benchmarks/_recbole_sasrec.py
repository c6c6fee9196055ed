"""RecBole's network of SASRec in fullrank's training, to tell the network's part of a difference.

RecBole 1.2.1: vectors of items and places (numbered from the start) are added and normed; blocks
(with relu, by setting) have their norms after the residuals and mix the heads by a matrix; no norm
at the end; all matrices start normal with a deviation of 0.02. What still differs: dropout falls
twice in the feed-forward layer here and once there, norms divide by the root of the variance plus
1e-5 and not 1e-12, and there the softmax has the padding as one more item.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from fullrank.models import SASRec
from fullrank.models.neural._sequences import SequenceNetwork
from fullrank.models.neural._torch import Noise, Tensor
from fullrank.models.neural._transformer import Block, causal_mask, drop


@dataclass(eq=False)
class RecBoleSASRec(SASRec):
    """SASRec with RecBole's network."""

    def _network(self, n_items: int) -> torch.nn.Module:
        return _Network(self, n_items)


class _Network(SequenceNetwork):
    def __init__(self, model: SASRec, n_items: int) -> None:
        super().__init__()
        d, self.dropout = model.embedding_dim, model.dropout
        self.items = torch.nn.Parameter(torch.empty(n_items, d))
        self.places = torch.nn.Parameter(torch.empty(model.max_length, d))
        self.norm = torch.nn.LayerNorm(d)
        self.blocks = torch.nn.ModuleList(
            Block(d, model.heads, d, norm_first=False, activation="relu", project=True)
            for _ in range(model.blocks)
        )

    def starts(self, name: str, parameter: Tensor) -> str:
        """Initialiser of every matrix."""
        return "normal(std=0.02)"

    def table(self) -> Tensor:
        return self.items

    def states(self, items: Tensor, lengths: Tensor, noise: Noise | None = None) -> Tensor:
        x = torch.nn.functional.embedding(items, self.items) + self.places[: items.shape[1]]
        x, mask = drop(self.norm(x), noise, self.dropout), causal_mask(x)
        for block in self.blocks:
            x = block(x, mask, noise, self.dropout)
        return x
