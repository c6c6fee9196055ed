"""HeadItems: the items with the most rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._units import ranked_units


@dataclass(frozen=True)
class HeadItems(Sampler):
    """Keep the items with the most rows, each with all of them, until the size is reached.

    Equally active ones are in a drawn order; the last item is trimmed at random to hit the size
    exactly.

    Not in the published code.
    """

    seeded: ClassVar[bool] = False

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return Order(ranked_units(train, "items", -train.item_counts, seed))

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return "items"
