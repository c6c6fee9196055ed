"""LeaveRandom: some random rows of each user test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.data.filters.amounts import check_count
from fullrank.split._base import Split, Strategy
from fullrank.split._per_user import Tail, split_at_random


@dataclass(frozen=True)
class LeaveRandom(Strategy):
    """Hold out ``n`` random rows of each user, and ``valid`` others to choose by.

    Each row's draw is a hash of seed, user, item and occurrence, so that it does not depend on
    the order of rows. Where there are times, the models learn from each user's future: see the
    card. Users with fewer than ``n + valid + min_train`` rows train with all of them.

    Attributes:
        n: rows of each user that test (1: leave one out).
        valid: rows that validate; 0 for none.
        min_train: rows that a user must keep for training.
    """

    seeded: ClassVar[bool] = True

    n: int = 1
    valid: int = 1
    min_train: int = 1

    def __post_init__(self) -> None:
        check_count("LeaveRandom", "n", self.n, least=1)
        check_count("LeaveRandom", "valid", self.valid)
        check_count("LeaveRandom", "min_train", self.min_train)

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        tail = Tail(
            valid=np.full(data.n_users, self.valid),
            test=np.full(data.n_users, self.n),
            min_train=self.min_train,
        )
        return [split_at_random(self, data, tail, seed_of(rng), self.valid > 0)]
