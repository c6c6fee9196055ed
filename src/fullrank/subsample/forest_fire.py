"""ForestFire: what a fire burns that jumps from node to node."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.data.filters.amounts import check_share
from fullrank.subsample._graph import Graph, Walked, walk_key


@dataclass(frozen=True)
class ForestFire(Walked):
    """Keep the interactions between users and items that a forest fire has burnt.

    Leskovec, Kleinberg & Faloutsos 2005, "Graphs over time", section 4.2, as the published code
    has it: a node that burns sets a number of its unburnt partners on fire, geometric on 1, 2, …
    with chance ``burn``; of the others up to 100 are remembered, the latest first, and where the
    fire has gone out up to 10 of these burn, else a new fire is lit at a random node. It ends when
    the rows between burnt users and items reach the size; the rows of the last node are trimmed at
    random. Which partners are remembered is drawn here, and by the order of codes in the code.

    Where sizes are ``faithful`` the fire ends at a share p of the nodes, and the others are removed
    as ``RandomWalk`` says.

    Attributes:
        burn: chance of the geometric distribution, in (0, 1): ``1 / burn`` partners burn on
            average; the code's 0.4 by default.
    """

    beginnings: ClassVar[str] = "fires"

    burn: float = 0.4

    def __post_init__(self) -> None:
        check_share("ForestFire", "burn", self.burn)

    def _met(self, graph: Graph, seed: int, rows: int, nodes: int) -> tuple[NDArray[np.int32], int]:
        from fullrank.kernels.graph import forest_fire

        places = np.empty(len(graph.degrees), np.int32)
        fires = forest_fire(
            *graph.arrays(), graph.starts(seed), walk_key(seed, "ForestFire"), log1p(-self.burn),
            rows, nodes, places,
        )  # fmt: skip
        return places, fires
