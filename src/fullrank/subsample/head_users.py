"""HeadUsers: the users with the most rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._units import drop_from_the_end, ranked_units


@dataclass(frozen=True)
class HeadUsers(Sampler):
    """Keep the users with the most rows, each with all of them, until the size is reached.

    Equally active ones are in a drawn order; the last user is trimmed at random to hit the size
    exactly.

    The published code (``tail_user_remove``) drops the least active users, the last one whole,
    until at least ``q |T|`` rows are gone: ``faithful`` and ``whole`` do the same.
    """

    seeded: ClassVar[bool] = False
    published: ClassVar[bool] = True

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return Order(ranked_units(train, "users", -train.user_counts, seed))

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``Sampler.as_published``."""
        return drop_from_the_end(self.order(train, seed, len(train)).keys, removed), {}

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return "users"
