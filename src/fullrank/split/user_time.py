"""UserTime: the latest share of each user's rows tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.data.filters.amounts import check_count, rounded_share
from fullrank.split._base import Split, Strategy
from fullrank.split._build import check_shares
from fullrank.split._per_user import Tail, split_by_time


@dataclass(frozen=True)
class UserTime(Strategy):
    """Hold out the latest share of each user's rows, and before it a share to choose by.

    A user with ``m`` rows tests with ``test * m`` and validates with ``valid * m`` of them, each
    rounded to the nearest whole number, halves up; either may be none. Rows of one time are
    ordered by a draw, and users whose cut falls into such a tie are counted. As with
    ``LeaveLast``, models may learn from rows of others that lie after a test row.

    Attributes:
        test: share of each user's rows that tests.
        valid: share that validates; 0 for none.
        min_train: rows that a user must keep for training, or all of them train.
    """

    timed: ClassVar[bool] = True

    test: float = 0.2
    valid: float = 0.1
    min_train: int = 1

    def __post_init__(self) -> None:
        check_shares(self, self.test, self.valid)
        check_count("UserTime", "min_train", self.min_train)

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        tail = Tail(
            valid=rounded_share(data.user_counts, self.valid),
            test=rounded_share(data.user_counts, self.test),
            min_train=self.min_train,
        )
        return [split_by_time(self, data, tail, seed_of(rng), self.valid > 0)]
