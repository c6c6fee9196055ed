"""What models of sequences share: windows of the log, padded batches, losses at their places."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr, rows_of
from fullrank.core.random import derive, hash_elements
from fullrank.models.neural._base import Encoder
from fullrank.models.neural._losses import losses
from fullrank.models.neural._softmax import catalogue_sum
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch
from fullrank.negatives.training import TrainingNegatives, recipe
from fullrank.objectives import Multinomial, Softmax, objective

_POOL = 32  # batches whose windows are put together by length
_BLOCK = 512  # queries that are encoded at a time


class SequenceNetwork(torch.nn.Module):
    """Base of the networks: states of the places of a sequence, to be compared with items.

    Rows are padded at the right with item 0. A network must not let padding reach the places
    before it, and what it says at padded places is never used.
    """

    @abstractmethod
    def states(self, items: Tensor, lengths: Tensor, noise: Noise | None = None) -> Tensor:
        """States ``[b, l, d]`` of int64 items ``[b, l]`` whose rows have some length ``[b]``."""

    @abstractmethod
    def table(self) -> Tensor:
        """Vectors of items, float ``[n_items, c]``."""

    def outputs(self, states: Tensor) -> Tensor:
        """What is multiplied by the table: ``[t, d]`` to ``[t, c]``."""
        return states

    def last(self, items: Tensor, lengths: Tensor) -> Tensor:
        """``[b, c]``: what to say after whole sequences."""
        rows = torch.arange(len(items), device=items.device)
        return self.outputs(self.states(items, lengths)[rows, lengths - 1])


@dataclass(eq=False)
class Sequential(Encoder):
    """Base of the models that read a history in its order.

    The rows of a user are in the order of time; rows of one time are in the order of their items'
    codes. A log without times has no order, and is refused. Training reads all of a user's rows,
    in windows of at most ``max_length`` that are cut from the end; scoring reads the last
    ``max_length`` rows of the history, repeats kept. Items without training rows are left out of
    histories, and score 0.

    ``batch_size`` counts windows. Each epoch has its own order of them, a hash; of every 32
    batches in that order, the windows are put together by length, so that padding is short.

    Attributes:
        max_length: rows that the network sees at once.
    """

    max_length: int = 50
    batch_size: int = 128

    uses_order: ClassVar[bool] = True
    reserved: ClassVar[int] = 0
    """Places of these that scoring needs for itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, "max_length", 1 + self.reserved)

    def _encode(self, network: Any, queries: Queries) -> Tensor:
        items, lengths = recent(queries, self.known_items_, self.max_length - self.reserved)
        order = np.argsort(lengths, kind="stable")
        out = torch.empty(len(items), network.table().shape[1], dtype=network.table().dtype)
        for start in range(0, len(order), _BLOCK):
            rows = order[start : start + _BLOCK]
            size = torch.from_numpy(np.maximum(lengths[rows], 1))
            some = torch.from_numpy(items[rows][:, : int(size.max())])
            out[torch.from_numpy(rows)] = network.last(some, size)
        return out

    def _items(self, network: Any) -> Tensor:
        table: Tensor = network.table()
        return table


@dataclass(eq=False)
class SequenceRanker(Sequential):
    """Base of those that compare what comes next with other items, by any objective.

    Attributes:
        objective: ``multinomial`` (the softmax over all items), or one of the others, for which
            negatives are drawn: ``crossentropy``, ``crossentropy(calibration=0.75)``, ``softmax``,
            ``bpr``, ``top1``, ``hinge``, ``warp``, ``squared``.
        negatives: how, as in ``fullrank.negatives.training``; never one of the user's items.
        negatives_per_positive: how many for each place; ``in_batch`` takes the other places of the
            part of the batch instead.
    """

    objective: str = "multinomial"
    negatives: str = "uniform"
    negatives_per_positive: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, "negatives_per_positive")
        objective(self.objective, model=type(self).__name__)
        recipe(self.negatives, type(self).__name__)


class SequenceTask(Task):
    """Batches of windows: ``items`` ``[b, l]``, ``counts`` ``[b]`` and ``users`` ``[b]``.

    Args:
        model: whose settings hold.
        train: the log.
        seed: of the order of windows and the negatives.
        overlap: rows that a window begins before its first target; 1 where each row is predicted
            from those before it, 0 where windows are read whole.
    """

    part_rows = 32

    def __init__(self, model: Sequential, train: Interactions, seed: int, overlap: int) -> None:
        train.require_times(type(model).__name__)
        self.model, self.seed, self.epoch = model, seed, 0
        self.network: Any = model._network(train.n_items)
        self.items = train.items.astype(np.int64)
        self.users, self.starts, self.counts, place = _windows(train, model.max_length, overlap)
        self._hashed = (train.user_vocab.hashes[self.users], place)

    def batches(self, epoch: int) -> Iterator[Batch]:
        """Windows in the order of this epoch."""
        self.epoch = epoch
        size = self.model.batch_size
        hashes = hash_elements(derive(self.seed, "order", epoch), *self._hashed)
        order = np.argsort(hashes, kind="stable")
        for start in range(0, len(order), size * _POOL):
            pool = order[start : start + size * _POOL]
            pool = pool[np.argsort(self.counts[pool], kind="stable")]
            cuts = np.arange(0, len(pool), size)
            turns = np.argsort(hash_elements(derive(self.seed, "turns", epoch, start), cuts))
            for cut in cuts[turns]:
                yield self.batch(pool[cut : cut + size])

    def batch(self, windows: NDArray[np.int64]) -> Batch:
        """Those windows, padded at the right with item 0."""
        counts = self.counts[windows]
        ends = self.starts[windows] + counts
        return {
            "items": torch.from_numpy(pad(self.items, ends, counts)),
            "counts": torch.from_numpy(counts),
            "users": torch.from_numpy(self.users[windows]),
        }


class RankerTask(SequenceTask):
    """Next items by an objective: each place of a window is asked for the item after it."""

    model: SequenceRanker

    def __init__(
        self, model: SequenceRanker, train: Interactions, seed: int, overlap: int = 1
    ) -> None:
        super().__init__(model, train, seed, overlap)
        self.objective = objective(model.objective)
        self.n_known = int((train.item_counts > 0).sum())
        self.negatives: TrainingNegatives | None = None
        if not isinstance(self.objective, Multinomial):
            name = type(model).__name__
            self.negatives = TrainingNegatives(model.negatives, train, seed=seed, model=name)
            self.matrix = train.csr("binary")
            self.free = np.zeros(train.n_users, bool)
            self.free[self.negatives.users] = self.negatives.usable

    def weight(self, batch: Batch) -> int:
        """Places that are asked."""
        return int((batch["counts"] - 1).sum())

    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        """Sum over the places of the windows but the last."""
        lengths = batch["counts"] - 1
        inputs, there = trimmed(batch["items"], lengths)
        targets = batch["items"][:, 1 : there.shape[1] + 1]
        states = self.network.states(inputs, lengths, noise)[there]  # [t, d]
        users = batch["users"].repeat_interleave(lengths)
        return self.compare(self.network.outputs(states), targets[there], users)

    def compare(self, hidden: Tensor, positives: Tensor, users: Tensor) -> Tensor:
        """Sum of the objective's losses.

        Args:
            hidden: ``[t, c]``.
            positives: int64 ``[t]``.
            users: int64 ``[t]``, whose items are never negatives.
        """
        table = self.network.table()
        if self.negatives is None:
            return catalogue_sum(hidden, table, positives, torch.ones_like(positives))
        if self.negatives.in_batch:
            return self._in_batch(self.negatives, hidden, table, positives, users)
        free = torch.from_numpy(self.free[users.cpu().numpy()]).to(hidden.device)
        hidden, positives, users = hidden[free], positives[free], users[free]
        return self._drawn(self.negatives, hidden, table, positives, users)

    def _drawn(
        self, negatives: TrainingNegatives, hidden: Tensor, table: Tensor, positives: Tensor,
        users: Tensor,
    ) -> Tensor:  # fmt: skip
        m, of = self.model.negatives_per_positive, negatives.hardest
        whose = users.cpu().numpy().astype(np.int32)
        drawn = negatives.draw(whose, positives.cpu().numpy().astype(np.int32), m * of, self.epoch)
        items = torch.from_numpy(drawn.astype(np.int64)).to(hidden.device)  # [t, m * of]
        if of > 1:
            with torch.no_grad():
                scores = _against(hidden, table, items).view(-1, m, of)
                best = scores.argmax(dim=2, keepdim=True)
            items = items.view(-1, m, of).gather(2, best)[:, :, 0]
        log_q = None
        if isinstance(self.objective, Softmax) and self.objective.log_q:
            log_q = negatives.log_q(whose, items.cpu().numpy(), m)
        return losses(
            self.objective,
            (hidden * table[positives]).sum(dim=1),
            _against(hidden, table, items),
            n_items=self.n_known,
            log_q=None if log_q is None else torch.from_numpy(log_q).to(hidden.device),
        ).sum()

    def _in_batch(
        self, negatives: TrainingNegatives, hidden: Tensor, table: Tensor, positives: Tensor,
        users: Tensor,
    ) -> Tensor:  # fmt: skip
        """Negatives of a place are the items asked for at the others, without the user's own."""
        whose, items = users.cpu().numpy(), positives.cpu().numpy()
        distinct, row = np.unique(whose, return_inverse=True)
        own = self.matrix[distinct][:, items].toarray() > 0  # [users, t]
        there = torch.from_numpy(~own[row]).to(hidden.device)
        log_q = None
        if isinstance(self.objective, Softmax) and self.objective.log_q:
            found = negatives.log_q(whose, np.broadcast_to(items, there.shape), len(items))
            log_q = torch.from_numpy(found).to(hidden.device)
        return losses(
            self.objective,
            (hidden * table[positives]).sum(dim=1),
            hidden @ table[positives].T,
            n_items=self.n_known,
            log_q=log_q,
            there=there,
        ).sum()


def trimmed(items: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """As many places as the longest row has ``[b, l]``, and which are real: bool ``[b, l]``."""
    places = torch.arange(int(lengths.max()), device=lengths.device)
    return items[:, : len(places)], places < lengths[:, None]


def _against(hidden: Tensor, table: Tensor, items: Tensor) -> Tensor:
    """Scores ``[t, m]`` of each row's own items ``[t, m]``."""
    return (table[items] @ hidden[:, :, None])[:, :, 0]


def _windows(
    train: Interactions, length: int, overlap: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """User, first row, number of rows and number from the end of each window: int64 ``[w]``.

    Windows of a user are cut from the end and hold ``length`` targets, the oldest one fewer. With
    an overlap a window begins that many rows before its first target. Each has two rows at least.
    """
    counts = train.user_counts.astype(np.int64)
    n = -(-np.maximum(counts - overlap, 0) // length)
    users = rows_of(as_indptr(n))
    place = np.arange(len(users)) - np.repeat(as_indptr(n)[:-1], n)
    stops = counts[users] - place * length
    starts = np.maximum(stops - length - overlap, 0)
    kept = stops - starts > 1
    users, place, starts, stops = users[kept], place[kept], starts[kept], stops[kept]
    return users, train.user_indptr[:-1][users] + starts, stops - starts, place


def pad(
    items: NDArray[Any], ends: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The ``counts`` items before each of ``ends``, padded at the right by 0: int64 ``[b, l]``."""
    length = int(counts.max(initial=1))
    within = np.arange(length)
    there = within < counts[:, None]
    out = np.zeros(there.shape, np.int64)
    out[there] = items[((ends - counts)[:, None] + within)[there]]
    return out


def recent(
    queries: Queries, known: NDArray[np.bool_], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The last items of each history, oldest first: int64 ``[q, l]`` and their number ``[q]``.

    Args:
        queries: ``[q]``.
        known: bool ``[n_items]``; other items are passed over.
        most: items of a history that are taken.
    """
    kept = known[queries.history_items]
    ends = as_indptr(kept)[queries.history_indptr]
    counts = np.minimum(np.diff(ends), most)
    return pad(queries.history_items[kept], ends[1:], counts), counts


def whole(model: Any, name: str, least: int = 1) -> None:
    """Refuse a setting that is no whole number of at least ``least``."""
    value = getattr(model, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SpecError(
            f"{type(model).__name__}: {name} must be a whole number >= {least}, got {value!r}"
        )
