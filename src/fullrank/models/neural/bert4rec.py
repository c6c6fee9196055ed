"""BERT4Rec: masked items by self-attention that looks both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import derive
from fullrank.models.neural._sequences import (
    RankerTask,
    SequenceNetwork,
    SequenceRanker,
    trimmed,
    whole,
)
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch
from fullrank.models.neural._transformer import Affine, Block, drop, length_mask, places_from_end

_LAST = 1 / 11  # the authors' code masks each sequence 10 times at random, and once at its end


@dataclass(eq=False)
class BERT4Rec(SequenceRanker):
    """Score what a mask after the end of the history stands for.

    Sun, Liu, Wu, Pei, Lin, Ou & Jiang 2019, "BERT4Rec", section 3: a share ``mask_share`` of a
    window's items is replaced by a mask, one at least, and the network, whose attention looks both
    ways, is asked for them; one window in eleven has its last item masked and no other. With ``s``
    the state at a mask, ``LayerNorm(gelu(W s + w)) E^T + b`` are the scores, ``E`` being the same
    table that the network reads items by (equation 7; the norm is the authors' code's).

    Petrov & Macdonald 2022, "A systematic review and replicability study of BERT4Rec": it takes
    far longer to train than others, and worse results are mostly those of too few epochs. One
    epoch asks for a fifth of the places, so that five make one of ``SASRec``.

    Departures: masks are new in each epoch; the rate is constant, ten times the paper's and
    without its warm-up and weight decay. Dropout falls on the vectors that come in, the attention's
    weights and what both layers of a block add. ``reg`` is L2 on all weights. The start is normal
    with standard deviation 0.02, biases 0. Two blocks, two heads, 64 dimensions, ``mask_share``
    0.2 and dropout 0.2 are the paper's for ML-1M (0.6 are masked on Amazon Beauty there).

    Attributes:
        blocks: of the transformer.
        heads: of each; ``embedding_dim`` must be a multiple of it.
        mask_share: probability that an item is masked, above 0 and below 1.
    """

    blocks: int = 2
    heads: int = 2
    mask_share: float = 0.2
    epochs: int = 60
    dropout: float = 0.2

    reserved: ClassVar[int] = 1
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "max_length": [50, 100, 200],
        "blocks": [1, 2, 3],
        "mask_share": {"low": 0.1, "high": 0.8},
        "dropout": {"low": 0.1, "high": 0.6},
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, "blocks")
        whole(self, "heads")
        if self.embedding_dim % self.heads:
            raise SpecError(
                f"BERT4Rec: embedding_dim {self.embedding_dim} must be a multiple of heads "
                f"{self.heads}"
            )
        if not 0 < self.mask_share < 1:
            raise SpecError(
                f"BERT4Rec: mask_share must be above 0 and below 1, got {self.mask_share!r}"
            )

    def _network(self, n_items: int) -> torch.nn.Module:
        return _Network(self, n_items)

    def _task(self, train: Interactions, seed: int) -> Task:
        return _Task(self, train, seed, overlap=0)


class _Network(SequenceNetwork):
    def __init__(self, model: BERT4Rec, n_items: int) -> None:
        super().__init__()
        d = model.embedding_dim
        self.dropout, self.most = model.dropout, model.max_length
        self.items = torch.nn.Parameter(torch.empty(n_items, d))
        self.mask = torch.nn.Parameter(torch.empty(1, d))
        self.places = torch.nn.Parameter(torch.empty(model.max_length, d))
        self.norm, self.top_norm = torch.nn.LayerNorm(d), torch.nn.LayerNorm(d)
        self.blocks = torch.nn.ModuleList(
            Block(d, model.heads, 4 * d, norm_first=False, activation="gelu", project=True)
            for _ in range(model.blocks)
        )
        self.top = Affine(d, d)
        self.bias = torch.nn.Parameter(torch.zeros(n_items))

    def starts(self, name: str, parameter: Tensor) -> str:
        """Initialiser of every matrix."""
        return "normal(std=0.02)"

    def table(self) -> Tensor:
        return torch.cat([self.items, self.bias[:, None]], dim=1)

    def states(
        self,
        items: Tensor,
        lengths: Tensor,
        noise: Noise | None = None,
        masked: Tensor | None = None,
    ) -> Tensor:
        """``[b, l, d]``; ``masked`` is bool ``[b, l]``."""
        embedding = torch.nn.functional.embedding
        x = embedding(items, self.items)  # [b, l, d]
        if masked is not None:
            x = torch.where(masked[:, :, None], self.mask, x)
        x = x + embedding(places_from_end(lengths, items.shape[1], self.most), self.places)
        x, mask = drop(self.norm(x), noise, self.dropout), length_mask(x, lengths)
        for block in self.blocks:
            x = block(x, mask, noise, self.dropout)
        return x

    def outputs(self, states: Tensor) -> Tensor:
        top = self.top_norm(torch.nn.functional.gelu(self.top(states)))  # [t, d]
        return torch.cat([top, torch.ones_like(top[:, :1])], dim=1)

    def last(self, items: Tensor, lengths: Tensor) -> Tensor:
        """``[b, d + 1]`` at a mask after the end."""
        more = torch.cat([items, torch.zeros_like(items[:, :1])], dim=1)
        masked = torch.arange(more.shape[1], device=items.device) == lengths[:, None]
        states = self.states(more, lengths + 1, masked=masked)
        return self.outputs(states[masked])


class _Task(RankerTask):
    """Windows with masks, and what the masks stand for."""

    model: BERT4Rec

    def batches(self, epoch: int) -> Iterator[Batch]:
        """Windows with ``masked``, bool ``[b, l]``."""
        for number, batch in enumerate(super().batches(epoch)):
            noise = Noise(derive(self.seed, "masks"), epoch, number, on=torch.device("cpu"))
            yield {**batch, "masked": masks(batch["counts"], self.model.mask_share, noise)}

    def weight(self, batch: Batch) -> int:
        """Masks."""
        return int(batch["masked"].sum())

    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        """Sum over the masks."""
        lengths = batch["counts"]
        items, there = trimmed(batch["items"], lengths)
        masked = batch["masked"][:, : there.shape[1]]
        states = self.network.states(items, lengths, noise, masked)[masked]  # [t, d]
        users = batch["users"].repeat_interleave(masked.sum(dim=1))
        return self.compare(self.network.outputs(states), items[masked], users)


def masks(counts: Tensor, share: float, noise: Noise) -> Tensor:
    """Which places are masked: bool ``[b, l]``, one of each row at least."""
    places = torch.arange(int(counts.max()))
    draws = noise.uniform(len(counts), len(places))
    draws = draws.masked_fill(places >= counts[:, None], torch.inf)
    masked = draws < share
    masked[torch.arange(len(counts)), draws.argmin(dim=1)] = True
    last = noise.uniform(len(counts)) < _LAST
    return torch.where(last[:, None], places == counts[:, None] - 1, masked)
