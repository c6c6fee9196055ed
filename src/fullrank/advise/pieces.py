"""Pieces of a log's graph that a graph network reads: the whole of it, or drawn neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.advise._graph import Bipartite
from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, derive, hash_elements, seed_of, uniform_elements
from fullrank.data.filters.amounts import check_count

INPUTS = 3
"""ln(1 + degree), 1 for users, 1 for items."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A graph of users and items.

    Attributes:
        inputs: float32 ``[nodes, 3]``: ln(1 + degree in the log), 1 for a user, 1 for an item.
        edges: int64 ``[2, m]``: from, to; each edge in both directions.
    """

    inputs: NDArray[np.float32]
    edges: NDArray[np.int64]


@dataclass(frozen=True)
class Pieces:
    """How a log becomes a ``Piece``.

    A log with at most ``whole`` users and items is taken as it is. Of a larger one ``egos`` nodes
    are drawn, and about each of them ``hops`` times at most ``fanout`` partners of every node met
    last (all of them, or as many draws with replacement, each once): Hamilton, Ying & Leskovec
    2017's neighbourhoods. They are separate parts of one graph, and only edges that were followed
    are in it; degrees are those of the log.

    Draws are hashes of outside ids: a sample of a log has the same egos, where it has them.

    Attributes:
        whole: nodes up to which a log is taken whole; 0 for neighbourhoods always, so that a log
            and a small sample of it are read alike.
        egos: neighbourhoods.
        fanout: partners of a node.
        hops: steps from an ego.
    """

    whole: int = 2_048
    egos: int = 32
    fanout: int = 6
    hops: int = 2

    def __post_init__(self) -> None:
        check_count("pieces", "whole", self.whole)
        for name in ("egos", "fanout", "hops"):
            check_count("pieces", name, getattr(self, name), least=1)

    def of(self, rows: Interactions, rng: RNG = 0) -> Piece:
        """The piece of a log.

        Args:
            rows: at least one.
            rng: seed or Generator of the draws.

        Raises:
            DataError: there are no rows.
        """
        if not len(rows):
            raise DataError("there are no rows to make a graph of; check the split and filters")
        graph = Bipartite(rows)
        n_users = graph.by_user.shape[0]
        degrees = np.concatenate([graph.user_degrees, graph.item_degrees])
        if len(degrees) > self.whole:
            nodes, edges = self._drawn(graph, degrees, seed_of(rng))
        else:
            nodes, edges = np.arange(len(degrees)), _all_edges(graph)
        inputs = np.empty((len(nodes), INPUTS), np.float32)
        inputs[:, 0] = np.log1p(degrees[nodes])
        inputs[:, 1] = nodes < n_users
        inputs[:, 2] = nodes >= n_users
        return Piece(inputs, edges)

    def _drawn(
        self, graph: Bipartite, degrees: NDArray[np.int64], seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Nodes of all neighbourhoods, and edges between their places."""
        n, draws = len(degrees), graph.draws(seed, "egos")
        egos = np.argsort(draws, kind="stable")[: self.egos]
        front = np.arange(len(egos)) * n + egos  # a node of each neighbourhood is one of its own
        seen, links = front, [np.zeros((2, 0), np.int64)]
        for hop in range(self.hops):
            follow = hash_elements(derive(seed, "follow", hop), draws[front % n])
            places, partners = self._partners(graph, degrees, front % n, follow)
            links.append(np.stack([front[places], front[places] // n * n + partners]))
            met = np.unique(links[-1][1])
            front = met[~np.isin(met, seen)]
            seen = np.union1d(seen, front)
        both = np.concatenate([part for link in links for part in (link, link[::-1])], axis=1)
        edges = np.searchsorted(seen, np.unique(both, axis=1))
        return seen % n, edges

    def _partners(
        self,
        graph: Bipartite,
        degrees: NDArray[np.int64],
        nodes: NDArray[np.int64],
        draws: NDArray[np.uint64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Some partners of each node: places of the nodes, and the partners."""
        n_users = graph.by_user.shape[0]
        slots = np.arange(self.fanout)
        degree = degrees[nodes][:, None]
        share = uniform_elements(0, np.repeat(draws, len(slots)), np.tile(slots, len(nodes)))
        drawn = (share.reshape(len(nodes), -1) * degree).astype(np.int64)
        offsets = np.where(degree <= self.fanout, slots, drawn)
        places, slot = np.nonzero(offsets < degree)
        offsets, chosen = offsets[places, slot], nodes[places]
        out = np.empty(len(places), np.int64)
        users = chosen < n_users
        m, t = graph.by_user, graph.by_item
        out[users] = n_users + m.indices[m.indptr[chosen[users]] + offsets[users]]
        out[~users] = t.indices[t.indptr[chosen[~users] - n_users] + offsets[~users]]
        return places, out


def _all_edges(graph: Bipartite) -> NDArray[np.int64]:
    """Every edge in both directions: int64 ``[2, 2 n_edges]``."""
    users = np.repeat(np.arange(graph.by_user.shape[0]), graph.user_degrees)
    items = graph.by_user.indices.astype(np.int64) + graph.by_user.shape[0]
    return np.stack([np.concatenate([users, items]), np.concatenate([items, users])])
