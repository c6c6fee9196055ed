"""LeaveLast: the last rows of each user test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.data.filters.amounts import check_count
from fullrank.split._base import Split, Strategy
from fullrank.split._per_user import Tail, split_by_time


@dataclass(frozen=True)
class LeaveLast(Strategy):
    """Hold out the last ``n`` rows of each user, and before them ``valid`` rows to choose by.

    A model may learn from other users' rows that lie after a test row: the card says how many
    rows do (a global cut has none). Rows of one time are ordered by a draw, and users whose cut
    falls into such a tie are counted. Users with fewer than ``n + valid + min_train`` rows train
    with all of them.

    Attributes:
        n: rows of each user that test (1: leave one out).
        valid: rows before them that validate; 0 for none.
        min_train: rows that a user must keep for training.
    """

    timed: ClassVar[bool] = True

    n: int = 1
    valid: int = 1
    min_train: int = 1

    def __post_init__(self) -> None:
        check_count("LeaveLast", "n", self.n, least=1)
        check_count("LeaveLast", "valid", self.valid)
        check_count("LeaveLast", "min_train", self.min_train)

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        tail = Tail(
            valid=np.full(data.n_users, self.valid),
            test=np.full(data.n_users, self.n),
            min_train=self.min_train,
        )
        return [split_by_time(self, data, tail, seed_of(rng), self.valid > 0)]
