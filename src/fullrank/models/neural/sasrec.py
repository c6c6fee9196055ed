"""SASRec: the next item by self-attention over the history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.models.neural._sequences import (
    RankerTask,
    SequenceNetwork,
    SequenceRanker,
    whole,
)
from fullrank.models.neural._task import Task
from fullrank.models.neural._torch import Noise, Tensor, torch
from fullrank.models.neural._transformer import Block, causal_mask, drop, places_from_end

embedding = torch.nn.functional.embedding


@dataclass(eq=False)
class SASRec(SequenceRanker):
    """Score by the product of a history's state with the items' vectors.

    Kang & McAuley 2018, "Self-attentive sequential recommendation". With ``e`` the vectors of
    items and ``p`` those of places, the sequence ``sqrt(d) e_i + p_t`` goes through ``blocks``
    causal transformer blocks and a last layer norm; its state at a place is compared with ``e``
    of the item that comes next.

    The default objective is the softmax over all items, as in Klenitskiy & Vasilev 2023, "Turning
    dross into gold loss", and Petrov & Macdonald 2023, "gSASRec", where it is well ahead of the
    paper's own: that is ``objective="crossentropy"`` with one uniform negative. gSASRec is
    ``objective="crossentropy(calibration=0.75)"`` with ``negatives_per_positive=256``.

    Departures from the paper: norms come first in a plain residual block (the paper's code takes
    the normed input as the residual of the attention, and keys and values without a norm); long
    histories are trained on whole, in windows of ``max_length``, not by their last one only. As in
    the paper, places are numbered from the end, and heads aren't mixed by a matrix of their own.

    Dropout falls on the sum of vectors, the attention's weights, and twice in the feed-forward
    layer. ``reg`` is L2 on all weights. The start is Xavier normal, biases 0. Defaults are the
    paper's (two blocks, one head, 50 places, Adam with rate 0.001 and beta2 0.98, batches of 128;
    dropout 0.2 as on ML-1M, where its sparse logs have 0.5), but for 64 dimensions in place of 50,
    and fewer epochs: 30, some 600 steps of ML-100K.

    Attributes:
        blocks: of the transformer.
        heads: of each; ``embedding_dim`` must be a multiple of it.
    """

    blocks: int = 2
    heads: int = 1
    epochs: int = 30
    dropout: float = 0.2
    optimiser: str = "adam(beta2=0.98)"

    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "max_length": [50, 100, 200],
        "blocks": [1, 2, 3],
        "heads": [1, 2],
        "dropout": {"low": 0.1, "high": 0.6},
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, "blocks")
        whole(self, "heads")
        if self.embedding_dim % self.heads:
            raise SpecError(
                f"SASRec: embedding_dim {self.embedding_dim} must be a multiple of heads "
                f"{self.heads}"
            )

    def _network(self, n_items: int) -> torch.nn.Module:
        return _Network(self, n_items)

    def _task(self, train: Interactions, seed: int) -> Task:
        return RankerTask(self, train, seed)


class _Network(SequenceNetwork):
    def __init__(self, model: SASRec, n_items: int) -> None:
        super().__init__()
        d = model.embedding_dim
        self.dropout, self.most = model.dropout, model.max_length
        self.items = torch.nn.Parameter(torch.empty(n_items, d))
        self.places = torch.nn.Parameter(torch.empty(model.max_length, d))
        self.blocks = torch.nn.ModuleList(
            Block(d, model.heads, d, norm_first=True, activation="relu", project=False)
            for _ in range(model.blocks)
        )
        self.norm = torch.nn.LayerNorm(d)

    def table(self) -> Tensor:
        return self.items

    def states(self, items: Tensor, lengths: Tensor, noise: Noise | None = None) -> Tensor:
        places = places_from_end(lengths, items.shape[1], self.most)
        x = embedding(items, self.items) * self.items.shape[1] ** 0.5  # [b, l, d]
        x = x + embedding(places, self.places)
        x, mask = drop(x, noise, self.dropout), causal_mask(x)
        for block in self.blocks:
            x = block(x, mask, noise, self.dropout)
        normed: Tensor = self.norm(x)
        return normed
