"""Training rows as a graph of users and items, and samples of its nodes as samples of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.random import derive, mix
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._draws import side_draws

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LATE = np.iinfo(np.int32).max
"""Key of rows whose nodes were not both met."""


class Graph:
    """The bipartite graph of the distinct pairs: users are nodes 0 to n_users - 1, then items.

    Attributes:
        indptr: int64 ``[nodes + 1]``.
        neighbours: int32 ``[2 edges]``, ascending within a node.
        weights: int32 ``[2 edges]``, rows of each pair.
        n_nodes: nodes with edges.
    """

    def __init__(self, train: Interactions) -> None:
        self.train = train
        forth = train.csr("count")
        back = forth.T.tocsr()
        back.sort_indices()
        self.by_user: csr_matrix = forth
        self.indptr = np.concatenate([forth.indptr, forth.nnz + back.indptr[1:]]).astype(np.int64)
        self.neighbours = np.concatenate([forth.indices + train.n_users, back.indices]).astype(
            np.int32
        )
        self.weights = np.concatenate([forth.data, back.data]).astype(np.int32)
        self.n_nodes = int(np.count_nonzero(np.diff(self.indptr)))

    @property
    def n_edges(self) -> int:
        """Distinct pairs."""
        return len(self.neighbours) // 2

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Partners of each node."""
        return np.diff(self.indptr)

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """What kernels walk on."""
        return self.indptr, self.neighbours, self.weights

    def draws(self, seed: int, *names: object) -> NDArray[np.uint64]:
        """One draw a node, by the outside id."""
        sides = [side_draws(self.train, side, seed, *names) for side in ("users", "items")]
        return np.concatenate(sides)

    def starts(self, seed: int) -> NDArray[np.int32]:
        """Nodes with edges in a drawn order."""
        nodes = np.flatnonzero(self.degrees)
        return nodes[np.argsort(self.draws(seed, "starts")[nodes], kind="stable")].astype(np.int32)

    def induced(self, places: NDArray[np.int32]) -> NDArray[np.int32]:
        """Keys ``[n]`` of the rows: when the later of user and item was met; ``LATE`` for never."""
        of_user = places[self.train.users]
        of_item = places[self.train.n_users + self.train.items]
        out = np.maximum(of_user, of_item)
        out[(of_user < 0) | (of_item < 0)] = LATE
        return out

    def without(self, places: NDArray[Any], removed: int) -> NDArray[np.bool_]:
        """Remove nodes one after another until enough rows went with them: bool ``[n]``, who stays.

        Args:
            places: ``[nodes]``, when each node is removed; negative ones never are.
            removed: rows, at least; a node takes all its remaining rows along.
        """
        never = np.iinfo(np.int64).max
        when = np.where(places < 0, never, places.astype(np.int64))
        gone = np.minimum(when[self.train.users], when[self.train.n_users + self.train.items])
        if removed <= 0:
            return np.ones(len(gone), bool)
        bound = np.partition(gone, removed - 1)[removed - 1]
        return np.asarray((gone > bound) | (gone == never))


def walk_key(seed: int, *names: object) -> np.uint64:
    """Key of the stream of draws of a walk."""
    return np.uint64(mix(np.array([derive(seed, *names)], np.uint64))[0])


def drop_unmet(
    train: Interactions, removed: Fraction, seed: int, walk: Any
) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """Samples of nodes as the published code makes them of rows.

    The walk ends at ``floor(p nodes)`` nodes. Those that were not met go with their rows, in
    ascending order of their codes (the code walks sets of small integers: about the order of first
    appearance in the file), until ``q |T|`` rows are gone. If that is not enough, the same begins
    anew on the graph that is left.

    Args:
        train: the rows.
        removed: q.
        seed: of the walks.
        walk: called with graph, seed and number of nodes; int32 ``[nodes]``, below 0 if not met.
    """
    keep = np.ones(len(train), bool)
    least, rounds = ceil(removed * len(train)), 0
    while len(train) - np.count_nonzero(keep) < least:
        left = train.take(keep)
        graph = Graph(left)
        places = walk(graph, derive(seed, rounds), floor((1 - removed) * graph.n_nodes))
        unmet = np.where((places < 0) & (graph.degrees > 0), np.arange(len(places)), -1)
        missing = least - (len(train) - len(left))
        keep[np.flatnonzero(keep)[~graph.without(unmet, missing)]] = False
        rounds += 1
    return keep, {"rounds": rounds}


@dataclass(frozen=True)
class Walked(Sampler):
    """Base of the strategies that keep the rows between nodes that something has met in turn."""

    published: ClassVar[bool] = True
    beginnings: ClassVar[str] = "starts"
    """What the manifest calls the nodes that were begun at."""

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        graph = Graph(train)
        places, begun = self._met(graph, seed, rows, graph.n_nodes)
        return Order(graph.induced(places), {self.beginnings: begun})

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``Sampler.as_published``."""

        def walk(graph: Graph, seed: int, nodes: int) -> NDArray[np.int32]:
            return self._met(graph, seed, len(train) + 1, nodes)[0]

        return drop_unmet(train, removed, seed, walk)

    @abstractmethod
    def _met(self, graph: Graph, seed: int, rows: int, nodes: int) -> tuple[NDArray[np.int32], int]:
        """When each node was met, int32 ``[nodes]``, below 0 for never, and how many were begun at.

        Args:
            graph: the nodes.
            seed: of the draws.
            rows: between met nodes, at which it ends.
            nodes: met, at which it ends.
        """

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return "nodes"
