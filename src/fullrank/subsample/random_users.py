"""RandomUsers: random users with all their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._draws import side_draws
from fullrank.subsample._units import drop_from_the_end


@dataclass(frozen=True)
class RandomUsers(Sampler):
    """Keep random users, each with all its rows, until the size is reached.

    Each user's draw is a hash of seed and outside id. The last user is trimmed at random to hit
    the size exactly.

    The published code (``user_rns``) drops random users, the last one whole, until at least
    ``q |T|`` rows are gone: ``faithful`` and ``whole`` do the same.
    """

    published: ClassVar[bool] = True

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return Order(side_draws(train, "users", seed, "RandomUsers")[train.users])

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``Sampler.as_published``."""
        return drop_from_the_end(self.order(train, seed, len(train)).keys, removed), {}

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return "users"
