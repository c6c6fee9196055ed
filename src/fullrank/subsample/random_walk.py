"""RandomWalk: what a random walk with restarts meets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.data.filters.amounts import check_count
from fullrank.subsample._graph import Graph, Walked, walk_key


@dataclass(frozen=True)
class RandomWalk(Walked):
    """Keep the interactions between users and items that a random walk with restarts has met.

    Leskovec & Faloutsos 2006, "Sampling from large graphs", section 3.3, on the graph of users and
    items: from a node drawn at random, each step goes to a random partner or, with chance
    ``restart``, back to the start. Where ``patience`` steps in a row meet nothing new, the walk
    begins anew at another node that was not met, so that no component can hold it. It ends when
    the rows between met users and items reach the size; the rows of the last node are trimmed at
    random.

    Where sizes are ``faithful`` the walk ends at a share p of the nodes, and what was not met is
    removed in order of codes until enough rows are gone, as in the published code
    (``random_walk``), where that order is about that of first appearance in the file; the code
    could walk for ever in a small component, and this doesn't.

    Attributes:
        restart: chance of a step back to the start, in [0, 1); the code's 0.1 by default.
        patience: steps without a new node before the walk begins elsewhere.
    """

    restart: float = 0.1
    patience: int = 1000

    def __post_init__(self) -> None:
        if not 0 <= self.restart < 1:
            raise SpecError(f"RandomWalk: restart must be a chance in [0, 1), got {self.restart!r}")
        check_count("RandomWalk", "patience", self.patience, least=1)

    def _met(self, graph: Graph, seed: int, rows: int, nodes: int) -> tuple[NDArray[np.int32], int]:
        from fullrank.kernels.graph import random_walk

        places = np.empty(len(graph.degrees), np.int32)
        starts = random_walk(
            *graph.arrays(), graph.starts(seed), walk_key(seed, "RandomWalk"), float(self.restart),
            self.patience, rows, nodes, places,
        )  # fmt: skip
        return places, starts
