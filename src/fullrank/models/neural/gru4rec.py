"""GRU4Rec: the next item by a recurrent network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.interactions import Interactions
from fullrank.models.neural._sequences import RankerTask, SequenceNetwork, SequenceRanker, whole
from fullrank.models.neural._task import Task
from fullrank.models.neural._torch import Noise, Tensor, torch
from fullrank.models.neural._transformer import drop


@dataclass(eq=False)
class GRU4Rec(SequenceRanker):
    """Score by the product of a recurrent state with the items' vectors, and a bias of each item.

    Hidasi, Karatzoglou, Baltrunas & Tikk 2016, "Session-based recommendations with recurrent
    neural networks": the vectors of a history's items go through ``layers`` of gated recurrent
    units (Cho et al. 2014), whose state is compared with the item that comes next. Input and
    output share one table of vectors ("constrained embedding" of the authors' code; Hidasi &
    Karatzoglou 2018), so that the state has ``embedding_dim`` units.

    Objectives of the papers: ``objective="top1"`` or ``"bpr"`` with ``negatives="in_batch"``
    (2016, section 3.1.4: other sessions' items at the same moment), the cross-entropy with
    sampled items of 2018 as ``"softmax"``; BPR-max and TOP1-max are not here. The default is the
    softmax over all items, which needs no sampling and is no slower for some ten thousand items.

    Departures: windows of a user's rows in place of sessions laid side by side, the state starting
    at 0 in each; Adam in place of AdaGrad. Dropout falls on the vectors that come in and on the
    state. ``reg`` is L2 on all weights. The start is Xavier normal, biases 0. One layer of 100
    units is the paper's; the rest is as for ``SASRec``.

    Attributes:
        layers: of the network.
    """

    embedding_dim: int = 100
    layers: int = 1
    epochs: int = 30
    dropout: float = 0.2

    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 100, 128, 256],
        "max_length": [20, 50, 100, 200],
        "layers": [1, 2],
        "dropout": {"low": 0.0, "high": 0.6},
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, "layers")

    def _network(self, n_items: int) -> torch.nn.Module:
        return _Network(self, n_items)

    def _task(self, train: Interactions, seed: int) -> Task:
        return RankerTask(self, train, seed)


class _Network(SequenceNetwork):
    def __init__(self, model: GRU4Rec, n_items: int) -> None:
        super().__init__()
        d, self.dropout = model.embedding_dim, model.dropout
        self.items = torch.nn.Parameter(torch.empty(n_items, d))
        self.bias = torch.nn.Parameter(torch.zeros(n_items))
        self.gru = zeroed(torch.nn.GRU(d, d, model.layers, batch_first=True))

    def table(self) -> Tensor:
        return torch.cat([self.items, self.bias[:, None]], dim=1)

    def states(self, items: Tensor, lengths: Tensor, noise: Noise | None = None) -> Tensor:
        x = drop(torch.nn.functional.embedding(items, self.items), noise, self.dropout)
        return drop(self.gru(x)[0], noise, self.dropout)  # [b, l, d]

    def outputs(self, states: Tensor) -> Tensor:
        return with_ones(states)


def zeroed(gru: torch.nn.GRU) -> torch.nn.GRU:
    """The units with biases of 0, in place of PyTorch's own draws."""
    for name, parameter in gru.named_parameters():
        if "bias" in name:
            torch.nn.init.zeros_(parameter)
    return gru


def with_ones(x: Tensor) -> Tensor:
    """``[t, d]`` and a column of ones, for the biases of a table: ``[t, d + 1]``."""
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
