"""Users: a random sample of users, with all their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, derive, hash_elements, seed_of
from fullrank.data.filters._base import Filter
from fullrank.data.filters.amounts import check_count, check_share, rounded_share


@dataclass(frozen=True)
class Users(Filter):
    """Keep a random sample of users with all their rows.

    Each user's draw is a hash of the seed and the outside id, and the users with the smallest
    draws stay. So the sample does not depend on the order of rows, a smaller sample is part of a
    larger one with the same seed, and new users push few others out.

    Attributes:
        n: how many users stay.
        share: which share of the users stays; one of the two must be given.
    """

    name: ClassVar[str] = "users"
    seeded: ClassVar[bool] = True

    n: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if (self.n is None) == (self.share is None):
            raise SpecError("filter users needs either n or share")
        if self.n is not None:
            check_count("filter users", "n", self.n, least=1)
        else:
            check_share("filter users", "share", self.share)

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        present = np.flatnonzero(data.user_counts)
        n = self.n if self.n is not None else rounded_share(len(present), self.share or 0.0)
        if n > len(present):
            raise DataError(f"{self}: there are only {len(present):,} users to draw from")
        seed = derive(seed_of(rng), "filter users")
        draws = hash_elements(seed, data.user_vocab.hashes[present])
        chosen = np.zeros(data.n_users, dtype=bool)
        chosen[present[np.argsort(draws, kind="stable")[:n]]] = True
        return np.asarray(chosen[data.users])
