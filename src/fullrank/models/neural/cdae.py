"""CDAE: a denoising autoencoder of users' items with a vector of each user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.models.neural._base import Encoder, _whole
from fullrank.models.neural._losses import losses
from fullrank.models.neural._others import others
from fullrank.models.neural._pairs import dots, take_rows
from fullrank.models.neural._rows import Bags, bag_sum, user_batches
from fullrank.models.neural._softmax import catalogue_sum
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch
from fullrank.negatives.training import TrainingNegatives, recipe
from fullrank.objectives import Multinomial, Objective, Softmax, objective


@dataclass(eq=False)
class CDAE(Encoder):
    """Score by ``w'_i · z + b'_i`` with ``z = s(sum of w_j over the history + v_u + b)``.

    Wu, DuBois, Zheng & Ester 2016, "Collaborative denoising auto-encoders for top-N recommender
    systems", equations 8 and 9, with s the logistic function. In training, entries of the
    user's row are dropped with probability ``dropout`` and the others scaled up (their
    mask-out noise). The loss of a user is the sum over the user's items of the objective of each
    item and its negatives, drawn anew in each epoch; default is the logistic loss over 5
    uniform negatives. Other objectives and negatives are taken too; ``in_batch`` takes the items
    of other users of the same 64.

    A query is encoded by its history; the user's vector ``v_u`` is added where the user had
    training rows, and nothing where not, so that new users are folded in.

    ``reg`` is L2 on all weights, added to the mean loss over users. Start: Xavier normal, biases 0.
    Dropout 0.2, 50 dimensions and 5 negatives are the paper's (its section 5.2 and code); Adam, its
    rate, the batches and the epochs are ours (theirs: AdaGrad, one user a step). Rate and epochs
    were held against others on validation rows of MovieLens 100K
    (``replications/ml_100k/defaults.md``): NDCG@10 was 0.061 with them, 0.062 after 50 epochs and
    0.059 after 100; at half the rate it was 0.055 after 60 epochs, at twice 0.065 after 50 and less
    after more, with a standard error of about 0.006.

    Attributes:
        objective: an objective of ``fullrank.objectives``.
        negatives: ``uniform``, ``popularity(exponent=0.75)``, ``mixture(…)``,
            ``hardest(uniform, of=10)`` or ``in_batch``.
        negatives_per_positive: how many for each item.
    """

    embedding_dim: int = 50
    epochs: int = 60
    batch_size: int = 128
    learning_rate: float = 0.01
    dropout: float = 0.2
    objective: str = "crossentropy"
    negatives: str = "uniform"
    negatives_per_positive: int = 5

    version: ClassVar[int] = 2  # sums of the first layer in another order: last bits differ
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 50, 100, 200],
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "reg": {"low": 1e-7, "high": 1e-3, "log": True},
        "dropout": {"low": 0.0, "high": 0.8},
        "negatives_per_positive": {"low": 1, "high": 10},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._objective()
        recipe(self.negatives, "CDAE")
        _whole("CDAE", "negatives_per_positive", self.negatives_per_positive)

    def _objective(self) -> Objective:
        return objective(self.objective, model="CDAE")

    def _network(self, n_items: int) -> torch.nn.Module:
        return _Network(len(self.user_vocab_), n_items, self.embedding_dim)

    def _task(self, train: Interactions, seed: int) -> Task:
        return _Task(self, train, seed)

    def _encode(self, network: Any, queries: Queries) -> Tensor:
        codes = queries.users.astype(np.int64)
        if queries.user_vocab != self.user_vocab_:
            codes = self.user_vocab_.encode(queries.user_ids).astype(np.int64)
        known = (codes >= 0) & self.known_users_[codes]
        bags = Bags(queries.history_csr())
        z: Tensor = network.encode(
            bags,
            torch.arange(len(bags)),
            torch.from_numpy(np.where(known, codes, 0)),
            torch.from_numpy(known),
        )
        return torch.cat([z, torch.ones(len(z), 1, dtype=z.dtype)], dim=1)

    def _items(self, network: Any) -> Tensor:
        return torch.cat([network.out, network.out_bias[:, None]], dim=1)


class _Network(torch.nn.Module):
    def __init__(self, n_users: int, n_items: int, d: int) -> None:
        super().__init__()
        self.users = torch.nn.Parameter(torch.empty(n_users, d))
        self.items = torch.nn.Parameter(torch.empty(n_items, d))
        self.bias = torch.nn.Parameter(torch.zeros(d))
        self.out = torch.nn.Parameter(torch.empty(n_items, d))
        self.out_bias = torch.nn.Parameter(torch.zeros(n_items))

    def encode(
        self,
        bags: Bags,
        rows: Tensor,
        users: Tensor,
        known: Tensor | None = None,
        noise: Noise | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        """``z`` of rows of ``bags`` and of ``users``, where ``known``: ``[b, d]``."""
        items, row = bags.take(rows)  # [t], [t]
        weights = torch.ones(len(row), dtype=self.items.dtype)
        if noise is not None:
            weights = noise.dropout(weights, dropout)
        own = take_rows(self.users, users)
        if known is not None:
            own = own * known[:, None]
        return torch.sigmoid(bag_sum(self.items, items, row, len(rows), weights) + own + self.bias)


class _Task(Task):
    part_rows = 64

    def __init__(self, model: CDAE, train: Interactions, seed: int) -> None:
        self.model, self.seed, self.objective = model, seed, model._objective()
        self.matrix, self.hashes = train.csr("binary"), train.user_vocab.hashes
        self.bags = Bags(self.matrix)
        self.network: Any = model._network(train.n_items)
        self.draws = TrainingNegatives(model.negatives, train, seed=seed, model="CDAE")
        self.unknown = torch.from_numpy(train.item_counts == 0)
        self._epoch = 0

    def batches(self, epoch: int) -> Iterator[Batch]:
        self._epoch = epoch
        return user_batches(self.matrix, self.hashes, self.model.batch_size, self.seed, epoch)

    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        network, users = self.network, batch["users"].cpu()
        z = network.encode(self.bags, users, users, None, noise, self.model.dropout)  # [b, d]
        items, row = self.bags.take(users)  # [t], [t]
        if isinstance(self.objective, Multinomial):
            counts = torch.bincount(row, minlength=len(users))
            bias = network.out_bias.masked_fill(self.unknown, -torch.inf)
            return catalogue_sum(z, network.out, items, counts, bias)
        return self._sampled(z, users, items, row)

    def _sampled(self, z: Tensor, users: Tensor, items: Tensor, row: Tensor) -> Tensor:
        """Loss of the items of users ``[b]`` with their negatives, summed."""
        there, m, of = None, self.model.negatives_per_positive, self.draws.hardest
        who, what = users[row].numpy().astype(np.int32), items.numpy().astype(np.int32)
        if self.draws.in_batch:
            if len(what) < 2:
                return z.sum() * 0
            drawn, counted = others(who, what, self.matrix, m)
            there = torch.from_numpy(counted)
        else:
            free = self.draws.free[who]
            who, what = who[free], what[free]
            row, items = row[torch.from_numpy(free)], items[torch.from_numpy(free)]
            drawn = self.draws.draw(who, what, m * of, self._epoch)
        negatives = torch.from_numpy(drawn.astype(np.int64))
        if of > 1:
            with torch.no_grad():
                found = self._scores(z, row, negatives)
            best = found.unflatten(1, (-1, of)).argmax(dim=2, keepdim=True)
            negatives = negatives.unflatten(1, (-1, of)).gather(2, best)[:, :, 0]
        log_q = None
        if isinstance(self.objective, Softmax) and self.objective.log_q:
            log_q = torch.from_numpy(self.draws.log_q(who, negatives.numpy(), m))
        scores = self._scores(z, row, torch.cat([items[:, None], negatives], dim=1)).float()
        return losses(
            self.objective, scores[:, 0], scores[:, 1:],
            n_items=self.matrix.shape[1], log_q=log_q, there=there,
        ).sum()  # fmt: skip

    def _scores(self, z: Tensor, row: Tensor, items: Tensor) -> Tensor:
        """Scores ``[t, m]`` of the items of each pair, whose user is ``row`` of ``z``."""
        bias = take_rows(self.network.out_bias[:, None], items)[:, :, 0]
        return dots(take_rows(z, row), self.network.out, items) + bias
