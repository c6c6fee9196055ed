"""CKE: factors of a log, with what a knowledge graph, texts and images say of the items."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, told
from fullrank.core.interactions import Interactions
from fullrank.core.random import derive
from fullrank.models._knowledge import Corrupted, Triples, Vectors
from fullrank.models.neural._base import _whole
from fullrank.models.neural._pairs import (
    PairFactors,
    PairNetwork,
    PairTask,
    Shared,
    dots,
    take_rows,
)
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, torch

_SIDES = ("text", "image")


@dataclass(eq=False)
class CKE(PairFactors):
    """Score by ``u · (η_i + v_i + x_i + z_i)``, with knowledge of items beside the log.

    Zhang, Yuan, Lian, Xie & Ma 2016, "Collaborative knowledge base embedding for recommender
    systems". An item's vector is the sum of its own offset η, its place v in a knowledge graph,
    and codes x of its text and z of its image, all learnt together with the users' vectors u; the
    paper compares pairs (``objective="bpr"``, the default), other objectives are taken too.

    **Triples** (head, relation, tail) are embedded by TransR in the paper's Bayesian form. With

        f(h, r, t) = |v_h M_r + r - v_t M_r|²

    and a wrong tail t' for each triple, ``-ln σ(f(h, r, t') - f(h, r, t))`` is added to the loss,
    times ``kg_weight``. t' is a head or tail of the file, drawn uniformly from those that don't
    follow (h, r) anywhere in it. Each row of the log comes with one triple, so that they are passed
    over again and again in orders of their own, as in RecBole. Unlike there, projected vectors are
    not scaled to length 1: the paper has its priors for that, here ``reg``.

    **Text and image** are vectors from elsewhere. Each kind has an auto-encoder (vector, ``hidden``
    sigmoid units, ``embedding_dim`` units, ``hidden`` sigmoid units, vector) that sees it with a
    share ``dropout`` of the entries masked; the middle layer is the item's code, and half the mean
    square between output and unmasked vector, of each row's item and times ``vector_weight``, is
    added to the loss. Vectors are scaled to a mean square of 1. The paper's layers are sigmoid
    throughout (the middle and last ones are linear here, as vectors need not lie within 0 and 1),
    and those of images are convolutions over pixels.

    ``reg`` is L2 on ``u``, ``η`` and ``v`` of the rows that a batch names, and on the triples' v, r
    and M_r, as the paper's priors are. ``M_r`` starts at the identity, as in TransR; the rest is
    Xavier normal. Items of no triple have no v, those without a vector no x or z. Items without
    training rows are scored by what else is known of them; they have no η.

    Files are read in each fit. ``triples``: a table with columns head, relation and tail, or of
    three columns without names; whatever has the text of an item's id is that item, and all else
    an entity. Triples that come twice count once. ``text``, ``image``: npz with ``item_id`` and
    ``vector`` ``[n, f]``, or a table with ``item_id`` and a list ``vector`` or a column an entry.
    At least one of the three is needed. A benchmark file names them relative to itself, and makes
    its results anew if their content changes. Defaults were not searched.

    Attributes:
        triples: file of the knowledge graph.
        text: file of the items' text vectors.
        image: file of the items' image vectors.
        relation_dim: size of the vectors r.
        kg_weight: of the loss of triples.
        vector_weight: of the losses of the auto-encoders.
        hidden: units between vector and code.
    """

    epochs: int = 40
    batch_size: int = 2048
    learning_rate: float = 0.005
    reg: float = 1e-4
    dropout: float = 0.3
    triples: str = ""
    text: str = ""
    image: str = ""
    relation_dim: int = 64
    kg_weight: float = 1.0
    vector_weight: float = 1.0
    hidden: int = 200

    file_settings: ClassVar[tuple[str, ...]] = ("triples", *_SIDES)
    search_space: ClassVar[Mapping[str, Any]] = {
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "reg": {"low": 1e-6, "high": 1e-2, "log": True},
        "kg_weight": {"low": 0.01, "high": 10.0, "log": True},
        "embedding_dim": [32, 64, 128],
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in self.file_settings:
            value = getattr(self, key)
            if not isinstance(value, str | os.PathLike):
                raise SpecError(f"CKE: {key} must be the path of a file, got {value!r}")
            setattr(self, key, os.fspath(value))
        if not any(getattr(self, key) for key in self.file_settings):
            raise SpecError(
                "CKE: needs something that is known of items: name a file of triples (head, "
                "relation, tail), or of vectors as text or image; without any it would be BPRMF"
            )
        for key in ("relation_dim", "hidden"):
            _whole("CKE", key, getattr(self, key))
        for key in ("kg_weight", "vector_weight"):
            if not 0 <= getattr(self, key) < np.inf:
                raise SpecError(f"CKE: {key} must be >= 0, got {getattr(self, key)!r}")

    def _task(self, train: Interactions, seed: int) -> Task:
        self._known = _Known.read(self)
        task = super()._task(train, seed)
        return _Task(self, task.network, train, seed)

    def _pairs(self, train: Interactions) -> PairNetwork:
        return _Network(self, train, self._known)

    def _about(self) -> dict[str, Any]:
        return {**super()._about(), **self._known.fingerprints}

    def _vectors(self, network: Any) -> tuple[Tensor, Tensor]:
        every = torch.arange(len(network.items), device=network.items.device)
        return network.users, network.vectors(every, None)

    def _publish(self, task: Task) -> None:
        """As others do, but items without training rows keep what the files say of them."""
        users, items = (x.cpu().numpy().copy() for x in self._vectors(task.network))
        users[~self.known_users_] = 0.0
        self.user_factors_, self.item_factors_ = users, np.ascontiguousarray(items)


@dataclass(frozen=True)
class _Known:
    """What the files hold."""

    triples: Triples | None
    sides: dict[str, Vectors]

    @classmethod
    def read(cls, model: CKE) -> _Known:
        with told("CKE: "):
            triples = Triples.read(model.triples) if model.triples else None
            given = {name: getattr(model, name) for name in _SIDES}
            return cls(triples, {name: Vectors.read(path) for name, path in given.items() if path})

    @property
    def fingerprints(self) -> dict[str, str]:
        found = {name: vectors.fingerprint for name, vectors in self.sides.items()}
        return found if self.triples is None else {"triples": self.triples.fingerprint, **found}


class _Task(PairTask):
    """Rows of (user, item, negatives), each with a triple and its wrong tail."""

    network: Any

    def __init__(self, model: CKE, network: Any, train: Interactions, seed: int) -> None:
        super().__init__(model, network, train, seed)
        self.corrupted: Corrupted | None = None
        if model._known.triples is not None and model.kg_weight > 0:
            with told(f"CKE: {model.triples}: "):
                self.corrupted = Corrupted(model._known.triples, derive(seed, "triples"))
        self.kg_weight, self.vector_weight = model.kg_weight, model.vector_weight

    def batches(self, epoch: int) -> Iterator[Batch]:
        """Those of pairs, with ``"triples"`` ``[b, 4]``."""
        at = epoch * len(self.rows)
        for batch in super().batches(epoch):
            n = len(batch["users"])
            if self.corrupted is not None:
                batch["triples"] = torch.from_numpy(self.corrupted.take(at, n))
            at += n
            yield batch

    def loss(self, batch: Batch, noise: Noise, shared: Shared) -> Tensor:
        """Those of pairs, of triples and of the auto-encoders, with their penalties."""
        total = super().loss(batch, noise, shared)
        if self.corrupted is not None:
            triples = batch["triples"]
            total = total + self.kg_weight * self.network.wrong(triples).sum()
            if self.model.reg > 0:
                total = total + 0.5 * self.model.reg * self.network.squares_of(triples)
        for side in self.network.sides.values():
            if self.vector_weight > 0:
                total = total + self.vector_weight * side.missed(batch["items"], noise).sum()
        return total


class _Network(PairNetwork):
    tables: tuple[str, ...] = ("users", "items", "entities")
    linked: Tensor
    node: Tensor
    seen: Tensor

    def __init__(self, model: CKE, train: Interactions, known: _Known) -> None:
        super().__init__()
        d, k = model.embedding_dim, model.relation_dim
        self.users = torch.nn.Parameter(torch.empty(train.n_users, d))
        self.items = torch.nn.Parameter(torch.empty(train.n_items, d))
        self._keep("seen", (train.item_counts > 0)[:, None].astype(np.float32))
        self.graph = known.triples is not None
        if known.triples is not None:
            with told(f"CKE: {model.triples}: "):
                node = known.triples.of_items(train.item_vocab)
            self._keep("node", np.maximum(node, 0))
            self._keep("linked", (node >= 0)[:, None].astype(np.float32))
            n = len(known.triples.relations)
            self.entities = torch.nn.Parameter(torch.empty(len(known.triples.nodes), d))
            self.relations = torch.nn.Parameter(torch.empty(n, k))
            self.projections = torch.nn.Parameter(torch.eye(d, k).repeat(n, 1, 1))
        self.sides = torch.nn.ModuleDict()
        for name, vectors in known.sides.items():
            with told(f"CKE: {getattr(model, name)}: "):
                rows, there = vectors.of_items(train.item_vocab)
            self.sides[name] = _Side(model, rows, there)

    def _keep(self, name: str, values: NDArray[Any]) -> None:
        self.register_buffer(name, torch.from_numpy(values), persistent=False)

    def starts(self, name: str, parameter: Tensor) -> str | None:
        """RecBole's, but for ``M_r``."""
        return None if name == "projections" else "xavier_normal"

    def vectors(self, items: Tensor, noise: Noise | None) -> Tensor:
        """Vectors of items ``[n]``: ``[n, d]``."""
        out = self.rows("items", items) * take_rows(self.seen, items)
        if self.graph:
            out = out + self._places(items)
        for side in self.sides.values():
            out = out + side.code(items, noise)
        return out

    def _places(self, items: Tensor) -> Tensor:
        """Vectors of items in the graph, 0 for those that are not there."""
        return self.rows("entities", self.node[items]) * self.linked[items]

    def scores(self, users: Tensor, items: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        named, place = torch.unique(items, return_inverse=True)
        return dots(self.rows("users", users), self.vectors(named, noise), place)

    def catalogue(self, users: Tensor, noise: Noise | None, shared: Shared) -> Tensor:
        every = torch.arange(len(self.items), device=users.device)
        return self.rows("users", users) @ self.vectors(every, noise).T

    def squares(self, users: Tensor, items: Tensor) -> Tensor:
        total = super().squares(users, items)
        return total + (self._places(items.flatten()) ** 2).sum() if self.graph else total

    def wrong(self, triples: Tensor) -> Tensor:
        """``-ln σ(f(h, r, t') - f(h, r, t))`` of rows ``[p, 4]`` of h, r, t, t': ``[p]``."""
        relations = triples[:, 1]
        at = self.rows("entities", triples[:, [0, 2, 3]])  # [p, 3, d]
        head, tail, other = self._projected(at, relations).unbind(1)  # [p, k]
        moved = head + take_rows(self.relations, relations)
        right, false = ((moved - x).square().sum(dim=1) for x in (tail, other))
        return torch.nn.functional.softplus(right - false)

    def _projected(self, at: Tensor, relations: Tensor) -> Tensor:
        """``at @ M_r`` of rows ``[p, 3, d]``, one product a relation: ``[p, 3, k]``."""
        order = torch.argsort(relations, stable=True)
        counts = torch.bincount(relations, minlength=len(self.projections)).tolist()
        pieces = zip(at[order].split(counts), self.projections.unbind(0), strict=True)
        return torch.cat([rows @ matrix for rows, matrix in pieces if len(rows)])[
            torch.argsort(order)
        ]

    def squares_of(self, triples: Tensor) -> Tensor:
        """Sum of squares of what triples ``[p, 4]`` name."""
        at = self.rows("entities", triples[:, [0, 2, 3]])
        own = (self.relations**2).sum(dim=1) + (self.projections**2).sum(dim=(1, 2))
        return (at**2).sum() + own[triples[:, 1]].sum()


class _Side(torch.nn.Module):
    """The auto-encoder of one kind of vectors."""

    given: Tensor
    there: Tensor

    def __init__(self, model: CKE, rows: NDArray[np.float32], there: NDArray[np.bool_]) -> None:
        super().__init__()
        f, hidden, d = rows.shape[1], model.hidden, model.embedding_dim
        self.dropout = model.dropout
        self.register_buffer("given", torch.from_numpy(rows), persistent=False)
        column = torch.from_numpy(there[:, None].astype(np.float32))
        self.register_buffer("there", column, persistent=False)
        sizes = ((f, hidden), (hidden, d), (d, hidden), (hidden, f))
        self.layers = torch.nn.ModuleList(torch.nn.Linear(*size) for size in sizes)
        for linear in self.layers:
            torch.nn.init.zeros_(linear.bias)

    def code(self, items: Tensor, noise: Noise | None) -> Tensor:
        """Middle layer of items ``[n]``: ``[n, d]``, 0 for those without a vector."""
        x = self.given[items]
        x = x if noise is None else noise.dropout(x, self.dropout)
        return self.layers[1](torch.sigmoid(self.layers[0](x))) * self.there[items]

    def missed(self, items: Tensor, noise: Noise) -> Tensor:
        """Half the mean square between output and vector of items ``[n]``: ``[n]``."""
        out = self.layers[3](torch.sigmoid(self.layers[2](self.code(items, noise))))
        return 0.5 * ((out - self.given[items]) ** 2).mean(dim=1) * self.there[items, 0]
