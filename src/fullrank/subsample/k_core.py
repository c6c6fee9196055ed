"""KCore: the k-core that is nearest to a size, to show what cores do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._graph import Graph


@dataclass(frozen=True)
class KCore(Sampler):
    """Keep the largest part in which every user and item has k partners, with the k that fits best.

    Filters to a core are common before a split, and are no sample of the data: they keep the head
    of users and items alone. As a sampler a core can be compared with others at the same size. The
    size can't be chosen freely; the core nearest to it is taken, and the manifest says how large it
    is. The k is the same for users and items, and counts distinct partners.

    Seidman 1983, "Network structure and minimum degree". Not in the published code.
    """

    seeded: ClassVar[bool] = False
    exact: ClassVar[bool] = False

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        from fullrank.kernels.graph import core_numbers

        graph = Graph(train)
        core = np.empty(len(graph.degrees), np.int64)
        core_numbers(graph.indptr, graph.neighbours, core)
        both = np.minimum(core[train.users], core[train.n_users + train.items])
        return Order(-both, {"largest_k": int(both.max())})

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return "cores"
