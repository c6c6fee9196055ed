"""RandomRows: a random share of the rows tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.data.filters.amounts import rounded_share
from fullrank.split._base import TEST, TRAIN, VALID, Split, Strategy
from fullrank.split._build import build, check_shares, require_rows
from fullrank.split._draws import row_draws
from fullrank.split._per_user import Tail, split_at_random


@dataclass(frozen=True)
class RandomRows(Strategy):
    """Hold out a random share of all rows, or of each user's rows.

    Each row's draw is a hash of seed, user, item and occurrence, and the rows with the smallest
    draws are held out: exact shares that do not depend on the order of rows. Where there are
    times, models learn from each user's future: see the card.

    Attributes:
        test: share that tests.
        valid: share that validates; 0 for none.
        per_user: shares are of each user's rows (rounded, halves up; a user keeps at least one
            row for training or trains with all), not of all rows.
    """

    seeded: ClassVar[bool] = True

    test: float = 0.1
    valid: float = 0.1
    per_user: bool = False

    def __post_init__(self) -> None:
        check_shares(self, self.test, self.valid)

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        seed = seed_of(rng)
        if self.per_user:
            tail = Tail(
                valid=rounded_share(data.user_counts, self.valid),
                test=rounded_share(data.user_counts, self.test),
                min_train=1,
            )
            return [split_at_random(self, data, tail, seed, self.valid > 0)]
        require_rows(self, data)
        order = np.argsort(row_draws(data, seed, "RandomRows"), kind="stable")
        n_test = rounded_share(len(data), self.test)
        n_valid = rounded_share(len(data), self.valid)
        part = np.full(len(data), TRAIN, dtype=np.int8)
        part[order[:n_test]] = TEST
        part[order[n_test : n_test + n_valid]] = VALID
        return [build(self, data, part, wants_valid=self.valid > 0, extra={"seed": seed})]
