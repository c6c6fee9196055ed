"""HeadUsers: the users with the most rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order
from fullrank.subsample._units import WholeUsers, ranked_units


@dataclass(frozen=True)
class HeadUsers(WholeUsers):
    """Keep the users with the most rows, each with all of them, until the size is reached.

    Equally active ones are in a drawn order; the last user is trimmed at random to hit the size
    exactly.

    The published code (``tail_user_remove``) drops the least active users, the last one whole,
    until at least ``q |T|`` rows are gone: ``faithful`` and ``whole`` do the same.
    """

    seeded: ClassVar[bool] = False

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return Order(ranked_units(train, "users", -train.user_counts, seed))
