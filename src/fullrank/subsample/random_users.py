"""RandomUsers: random users with all their rows."""

from __future__ import annotations

from dataclasses import dataclass

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order
from fullrank.subsample._draws import side_draws
from fullrank.subsample._units import WholeUsers


@dataclass(frozen=True)
class RandomUsers(WholeUsers):
    """Keep random users, each with all its rows, until the size is reached.

    Each user's draw is a hash of seed and outside id. The last user is trimmed at random to hit
    the size exactly.

    The published code (``user_rns``) drops random users, the last one whole, until at least
    ``q |T|`` rows are gone: ``faithful`` and ``whole`` do the same.
    """

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return Order(side_draws(train, "users", seed, "RandomUsers")[train.users])
