"""RandomItems: random items with all their rows."""

from __future__ import annotations

from dataclasses import dataclass

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._draws import side_draws


@dataclass(frozen=True)
class RandomItems(Sampler):
    """Keep random items, each with all its rows, until the size is reached.

    Each item's draw is a hash of seed and outside id. The last item is trimmed at random to hit
    the size exactly.

    Not in the published code.
    """

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return Order(side_draws(train, "items", seed, "RandomItems")[train.items])

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return "items"
