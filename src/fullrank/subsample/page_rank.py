"""PageRank: users and items that are central in the graph of interactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.data.filters.amounts import check_share
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._graph import Graph

FAITHFUL_DAMPING = 1e-6
"""The published code passes its tolerance where the library takes the damping."""

_TOLERANCE = 1e-13
_DIGITS = 10
"""Scores equal to so many digits are ties: rounding must not order nodes that are alike."""


@dataclass(frozen=True)
class PageRank(Sampler):
    """Keep the interactions between the most central users and items.

    PageRank (Page, Brin, Motwani & Winograd 1999) of all nodes of the undirected graph of users and
    items. Nodes join from the highest score down, and an interaction is kept when both its ends
    are in; the rows of the last node are trimmed at random. Scores solve

        x = (1 - damping) / N + damping A D^-1 x

    by conjugate gradients on one side of the graph. Equal scores are in a drawn order.

    Where sizes are ``faithful``, scores have the damping 1e-6 that the published code
    (``pagerank``) uses by mistake: they are then ordered by the sum of 1 / degree over a node's
    partners. Nodes go from the lowest score up, until ``q`` of the interactions are gone.

    Attributes:
        damping: chance to follow an edge, in (0, 1).
    """

    seeded: ClassVar[bool] = False
    published: ClassVar[bool] = True

    damping: float = 0.85

    def __post_init__(self) -> None:
        check_share("PageRank", "damping", self.damping)

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        graph = Graph(train)
        return Order(graph.induced(descending(graph, page_rank(graph, self.damping), seed)))

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``Sampler.as_published``."""
        graph = Graph(train)
        places = descending(graph, page_rank(graph, FAITHFUL_DAMPING), seed)
        last = int(places.max())
        gone = graph.without(np.where(places < 0, -1, last - places), ceil(removed * len(train)))
        return gone, {"damping": FAITHFUL_DAMPING}

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return "nodes"


def descending(graph: Graph, scores: NDArray[np.float64], seed: int) -> NDArray[np.int32]:
    """Place of each node by falling score, equal ones drawn: int32 ``[nodes]``, -1 without edges.

    Args:
        graph: the nodes.
        scores: float64 ``[nodes]``.
        seed: of the draws.
    """
    nodes = np.flatnonzero(graph.degrees)
    mine = scores[nodes]
    mantissa, exponent = np.frexp(mine)
    rounded = np.ldexp(np.round(mantissa, _DIGITS), exponent)
    out = np.full(len(scores), -1, np.int32)
    out[nodes[np.lexsort((graph.draws(seed, "PageRank")[nodes], -rounded))]] = np.arange(len(nodes))
    return out


def page_rank(graph: Graph, damping: float) -> NDArray[np.float64]:
    """PageRank of each node, times the number of nodes and over ``1 - damping``: ``[nodes]``.

    With ``y = D^-1/2 x`` the system is symmetric; users are eliminated, and what is left for the
    items, ``(I - d^2 S^T S) y = b``, has a condition of at most ``1 / (1 - d^2)``.

    Args:
        graph: nodes without edges get 1.
        damping: in (0, 1).
    """
    n_users = graph.train.n_users
    roots = np.sqrt(np.maximum(graph.degrees, 1).astype(np.float64))
    of_user, of_item = roots[:n_users], roots[n_users:]
    matrix = graph.by_user.astype(np.float64)
    matrix.data = np.ones_like(matrix.data)
    turned = matrix.T  # a view: columns are rows

    def forth(items: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(damping * (matrix @ (items / of_item)) / of_user)

    def back(users: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(damping * (turned @ (users / of_user)) / of_item)

    wanted = 1.0 / of_item + back(1.0 / of_user)
    y = np.zeros(len(of_item))
    rest, direction = wanted.copy(), wanted.copy()
    power = _dot(rest, rest)
    least = _TOLERANCE**2 * power
    while power > least:
        moved = direction - back(forth(direction))
        step = power / _dot(direction, moved)
        y += step * direction
        rest -= step * moved
        power, before = _dot(rest, rest), power
        direction = rest + (power / before) * direction
    return np.concatenate([(1.0 / of_user + forth(y)) * of_user, y * of_item])


def _dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Inner product without BLAS, whose sums hang on the machine's threads."""
    return float(np.sum(a * b))
