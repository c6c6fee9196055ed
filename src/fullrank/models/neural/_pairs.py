"""The family of models that learn from a user, an item of theirs, and negatives drawn for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import NotFittedError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import hash_elements
from fullrank.models._base import Recommender
from fullrank.models.neural._base import Neural, _whole
from fullrank.models.neural._losses import catalogue_loss, losses
from fullrank.models.neural._others import others
from fullrank.models.neural._rows import shuffled
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch
from fullrank.models.neural._warm import Start, start_from
from fullrank.models.neural._weights import Weighted
from fullrank.negatives.training import TrainingNegatives, recipe
from fullrank.objectives import Multinomial, Objective, Softmax, objective

Shared = tuple[Tensor, ...]

# Negatives drawn in one call: enough that threads share the work, and no more memory than 32 MiB.
_AT_ONCE = 1 << 22
# From this many items a row on, one product with all that are named beats a gather (measured).
_MANY = 16


class PairNetwork(torch.nn.Module):
    """A network that scores pairs of a user and an item."""

    users: torch.nn.Parameter
    """Vectors of users ``[n_users, d]``; ``warm_start`` sets them."""
    items: torch.nn.Parameter
    """Vectors of items ``[n_items, d]``; likewise."""
    tables: tuple[str, ...] = ()
    """Names of tables that get sparse gradients where ``sparse`` says so."""
    sparse: bool = False

    def shared(self, noise: Noise, rows: tuple[Tensor, Tensor]) -> Shared:
        """What all parts of a batch use, from its users and items ``[n]`` each."""
        return ()

    def scores(self, users: Tensor, items: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        """Scores of each row's own items, ``[p, m]``; without dropout where ``noise`` is None.

        Args:
            users: int64 ``[p]``.
            items: int64 ``[p, m]``.
            noise: of dropout.
            shared: what ``shared`` gave.
        """
        raise NotImplementedError

    def catalogue(self, users: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        """Scores of all items, ``[p, n_items]``."""
        raise NotImplementedError

    def squares(self, users: Tensor, items: Tensor) -> Tensor:
        """Sum of squares of the learnt vectors of ``users`` [p] and ``items`` [p, m]: a scalar."""
        return (self.rows("users", users) ** 2).sum() + (self.rows("items", items) ** 2).sum()

    def rows(self, table: str, at: Tensor) -> Tensor:
        """Rows of a table, by its name."""
        return take_rows(getattr(self, table), at, sparse=self.sparse and table in self.tables)


def take_rows(table: Tensor, at: Tensor, *, sparse: bool = False) -> Tensor:
    """``table[at]``, whose gradient adds up in the order of ``at``."""
    return torch.nn.functional.embedding(at, table, sparse=sparse)


def dots(vectors: Tensor, table: Tensor, items: Tensor) -> Tensor:
    """Products ``[p, m]`` of ``vectors`` [p, d] with rows ``items`` [p, m] of ``table`` [n, d]."""
    if items.shape[1] < _MANY:
        return (vectors[:, None, :] * take_rows(table, items)).sum(dim=2)
    named, place = torch.unique(items, return_inverse=True)
    return (vectors @ take_rows(table, named).T).gather(1, place)


@dataclass(eq=False)
class Pairs(Neural):
    """Base of the models that learn from (user, item, negatives).

    Each distinct pair of the log is a row once an epoch, in an order hashed from seed, epoch and
    outside ids. Users that have every item have no negatives and are left out, but for the
    objectives and draws that need none. ``reg`` is L2 on the vectors of a batch's rows:
    ``reg / 2 (|user|² + |item|² + sum |negative|²)`` is added to the loss of each row.

    Attributes:
        objective: an objective of ``fullrank.objectives``.
        negatives: ``uniform``, ``popularity(exponent=0.75)``, ``mixture(uniform, popularity,
            share=0.5)``, ``hardest(uniform, of=10)`` (of 10 draws the one of the highest score) or
            ``in_batch``: the items of the rows that follow in the batch (around its end), without
            those that the user has.
        negatives_per_positive: how many for each row; with ``in_batch`` at most all other rows.
    """

    objective: str = "bpr"
    negatives: str = "uniform"
    negatives_per_positive: int = 1

    reg_in_loss: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    shapes: ClassVar[tuple[str, ...]] = ("points", "pairs", "list")
    """Shapes of objectives that the network can be trained by."""
    part_rows: ClassVar[int] = 1024
    """Rows of a part of a batch (see ``Task``)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        self._objective()
        recipe(self.negatives, name)
        _whole(name, "negatives_per_positive", self.negatives_per_positive)
        self._source: Recommender | None = None
        self._start: Start | None = None

    def _objective(self) -> Objective:
        return objective(self.objective, model=type(self).__name__, shapes=self.shapes)

    def warm_start(self, model: Recommender) -> Self:
        """Let the next ``fit`` start from another fitted model's vectors of users and items.

        They are matched by outside ids; users and items that the other model doesn't know start as
        ``init`` says. The model must have ``item_factors`` of size ``embedding_dim``. It is no
        setting: say in your report what you started from.

        Raises:
            NotFittedError: the other model is not fitted.
            SpecError: it is no model.
        """
        if not isinstance(model, Recommender):
            raise SpecError(
                f"{type(self).__name__}.warm_start takes a fitted model, such as "
                f"IALS(embedding_dim={self.embedding_dim}).fit(train); got {type(model).__name__}"
            )
        if not hasattr(model, "item_vocab_"):
            raise NotFittedError(
                f"{type(model).__name__} is not fitted; fit it, then start from it"
            )
        self._source = model
        return self

    @abstractmethod
    def _pairs(self, train: Interactions) -> PairNetwork:
        """A network of these settings, its weights still to come."""

    def _task(self, train: Interactions, seed: int) -> Task:
        self._start = None
        if self._source is not None:
            self._start = start_from(self._source, train, self.embedding_dim, type(self).__name__)
        return PairTask(self, self._pairs(train), train, seed)

    def _about(self) -> dict[str, Any]:
        return {} if self._start is None else {"start": self._start.fingerprint}

    def _initialise(self, network: Any, seed: int) -> None:
        super()._initialise(network, seed)
        if self._start is None:
            return
        tables = ((network.users, self._start.users), (network.items, self._start.items))
        with torch.no_grad():
            for table, (rows, vectors) in tables:
                table[torch.from_numpy(rows)] = torch.from_numpy(vectors)

    def _codes(self, queries: Queries) -> NDArray[np.int64]:
        """Code of each query's user among the fitted ones ``[q]``, -1 where it had no rows."""
        codes = queries.users.astype(np.int64)
        if queries.user_vocab != self.user_vocab_:
            codes = self.user_vocab_.encode(queries.user_ids).astype(np.int64)
        return np.where((codes >= 0) & self.known_users_[codes], codes, -1)


class PairTask(Task):
    """Rows of (user, item, negatives) and the loss of an objective."""

    def __init__(self, model: Pairs, network: PairNetwork, train: Interactions, seed: int) -> None:
        self.model, self.network, self.seed = model, network, seed
        self.pairs: PairNetwork = network
        network.sparse = model._reads_sparse()
        self.tables = frozenset(network.tables if network.sparse else ())
        self.part_rows, self.objective = model.part_rows, model._objective()
        self.whole = isinstance(self.objective, Multinomial)
        self.draws = TrainingNegatives(
            model.negatives, train, seed=seed, model=type(model).__name__
        )
        self.draw = not self.whole and not self.draws.in_batch
        self.others = not self.whole and self.draws.in_batch
        self.matrix = train.csr("binary")
        self.rows = np.arange(len(self.draws.users))
        if self.draw:
            self.rows = np.flatnonzero(self.draws.usable)
        self.hashes = hash_elements(
            0,
            train.user_vocab.hashes[self.draws.users[self.rows]],
            train.item_vocab.hashes[self.draws.items[self.rows]],
        )
        self.unknown: NDArray[np.bool_] | None = train.item_counts == 0
        if not self.unknown.any():
            self.unknown = None
        self._rows: tuple[Tensor, Tensor] | None = None

    def batches(self, epoch: int) -> Iterator[Batch]:
        """Batches ``{"users": [b], "items": [b], "negatives": [b, m], …}``."""
        size, m = self.model.batch_size, self.model.negatives_per_positive * self.draws.hardest
        group = size * max(1, _AT_ONCE // (size * m))
        for rows in shuffled(self.rows, self.hashes, group, self.seed, epoch):
            users, items = self.draws.users[rows], self.draws.items[rows]
            drawn = self.draws.draw(users, items, m, epoch) if self.draw else None
            for start in range(0, len(rows), size):
                part = slice(start, start + size)
                if self.others and len(users[part]) < 2:
                    continue
                mine = None if drawn is None else drawn[part]
                batch = self._batch(users[part], items[part], mine)
                self._rows = self._named(batch)
                yield batch

    def _batch(
        self, users: NDArray[np.int32], items: NDArray[np.int32], drawn: NDArray[np.int32] | None
    ) -> Batch:
        out: dict[str, NDArray[Any]] = {"users": users, "items": items}
        m = self.model.negatives_per_positive
        if self.others:
            drawn, out["there"] = others(users, items, self.matrix, m)
        if drawn is not None:
            out["negatives"] = drawn
            if isinstance(self.objective, Softmax) and self.objective.log_q:
                out["log_q"] = self.draws.log_q(users, drawn, m)
        wide = ("users", "items", "negatives")
        return {
            name: torch.from_numpy(x.astype(np.int64) if name in wide else x)
            for name, x in out.items()
        }

    def _named(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Users and items that a batch names."""
        items = batch["items"]
        if self.whole:
            items = torch.arange(self.matrix.shape[1])
        elif "negatives" in batch:
            items = torch.cat([items, batch["negatives"].flatten()])
        return batch["users"], items

    def shared(self, noise: Noise) -> tuple[Tensor, ...]:
        """What the network shares among the parts of the batch that ``batches`` gave last."""
        assert self._rows is not None, "a batch comes first"
        return self.pairs.shared(noise, self._rows)

    def loss(self, batch: Batch, noise: Noise, shared: tuple[Tensor, ...]) -> Tensor:
        """Objective and penalty of a batch's rows, summed."""
        users, items = batch["users"], batch["items"]
        if self.whole:
            scores = self.pairs.catalogue(users, noise, shared).float()
            if self.unknown is not None:
                never = torch.from_numpy(self.unknown).to(scores.device)
                scores = scores.masked_fill(never, -torch.inf)
            loss = catalogue_loss(scores, items).sum()
            return loss + self._penalty(users, items[:, None])
        negatives, log_q = self._negatives(batch, shared)
        every = torch.cat([items[:, None], negatives], dim=1)
        scores = self.pairs.scores(users, every, noise, shared).float()
        each = losses(
            self.objective,
            scores[:, 0],
            scores[:, 1:],
            n_items=self.matrix.shape[1],
            log_q=log_q,
            there=batch.get("there"),
        )
        return each.sum() + self._penalty(users, every)

    def _negatives(self, batch: Batch, shared: Shared) -> tuple[Tensor, Tensor | None]:
        """Negatives ``[p, m]`` and their ``log_q``; the hardest, if they are to be that."""
        negatives, log_q, of = batch["negatives"], batch.get("log_q"), self.draws.hardest
        if of == 1:
            return negatives, log_q
        with torch.no_grad():
            scores = self.pairs.scores(batch["users"], negatives, None, shared)
        best = scores.unflatten(1, (-1, of)).argmax(dim=2, keepdim=True)  # [p, m, 1]

        def pick(x: Tensor) -> Tensor:
            return x.unflatten(1, (-1, of)).gather(2, best)[:, :, 0]

        return pick(negatives), None if log_q is None else pick(log_q)

    def _penalty(self, users: Tensor, items: Tensor) -> Tensor | float:
        if self.model.reg == 0:
            return 0.0
        return 0.5 * self.model.reg * self.pairs.squares(users, items)


@dataclass(eq=False)
class PairFactors(Pairs):
    """Base of those whose scores are a product of a user's and an item's vector."""

    shapes: ClassVar[tuple[str, ...]] = ("points", "pairs", "list", "catalogue")
    fitted: ClassVar[tuple[str, ...]] = ("user_factors_", "item_factors_")

    @abstractmethod
    def _vectors(self, network: Any) -> tuple[Tensor, Tensor]:
        """Vectors of all users and items, without noise."""

    def _publish(self, task: Task) -> None:
        users, items = (x.detach().cpu().numpy().copy() for x in self._vectors(task.network))
        users[~self.known_users_], items[~self.known_items_] = 0.0, 0.0
        self.user_factors_: NDArray[np.float32] = np.ascontiguousarray(users)
        self.item_factors_: NDArray[np.float32] = np.ascontiguousarray(items)

    def item_factors(self) -> NDArray[np.float32]:
        """Float32 ``[n_items, d]``; 0 for items without training rows."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """Vectors of the queries' users: float32 ``[q, d]``; 0 for those without training rows."""
        self.check(queries)
        codes = self._codes(queries)
        out = self.user_factors_[codes]
        out[codes < 0] = 0.0
        return out


# Score of items that nothing is known of: they come last, and it is finite.
_LAST = np.finfo(np.float32).min


@dataclass(eq=False)
class PairScores(Weighted, Pairs):
    """Base of those whose network scores a user with many items, a user at a time, in float64."""

    @abstractmethod
    def _network(self, n_users: int, n_items: int) -> PairNetwork:
        """A network of these settings, its weights still to come."""

    @abstractmethod
    def _item_side(self, network: Any) -> tuple[Tensor, ...]:
        """What scoring needs of all items, computed once: ``[n_items, …]`` each."""

    @abstractmethod
    def _score_one(self, network: Any, user: Tensor, side: tuple[Tensor, ...]) -> Tensor:
        """Scores ``[c]`` of one user ``[1]`` with items, given by their rows of ``_item_side``."""

    def _pairs(self, train: Interactions) -> PairNetwork:
        return self._network(train.n_users, train.n_items)

    def _take(self, weights: dict[str, NDArray[Any]]) -> None:
        self.weights_ = weights
        network = self._network(len(self.user_vocab_), len(self.item_vocab_))
        network.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
        self._scorer = network.double().eval()
        with torch.no_grad():
            self._side = self._item_side(self._scorer)

    def _scored(self, code: int, items: NDArray[np.int32] | None) -> NDArray[np.float32]:
        """Scores of one user with items: all 0 for an unknown user, else last for unknown items."""
        known = self.known_items_ if items is None else self.known_items_[items]
        if code < 0:
            return np.zeros(len(known), np.float32)
        side = self._side
        if items is not None:
            at = torch.from_numpy(items.astype(np.int64))
            side = tuple(x[at] for x in side)
        with torch.no_grad():
            scores = self._score_one(self._scorer, torch.tensor([code]), side)
        out: NDArray[np.float32] = scores.numpy().astype(np.float32)
        out[~known] = _LAST
        return out

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        out = np.empty((len(queries), queries.n_items), np.float32)
        for row, code in enumerate(self._codes(queries)):
            out[row] = self._scored(int(code), None)
        return out

    def score_pairs(
        self, queries: Queries, indptr: NDArray[np.int64], candidates: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Scores of each query's own candidates, and of no others: float32 ``[n]``."""
        self.check(queries)
        out = np.empty(len(candidates), np.float32)
        for row, code in enumerate(self._codes(queries)):
            part = slice(indptr[row], indptr[row + 1])
            out[part] = self._scored(int(code), candidates[part])
        return out
