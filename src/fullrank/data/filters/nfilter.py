"""NFilter: users and items with at least so many pairs, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters._pairs import distinct_pairs
from fullrank.data.filters.amounts import check_count


@dataclass(frozen=True)
class NFilter(Filter):
    """Keep rows whose user and item both have enough distinct partners, counted once.

    Both counts are taken on the data as they come in, so what is left may hold users or items
    below the bound; ``core`` repeats until none does.

    Attributes:
        users: distinct items that a user must have.
        items: distinct users that an item must have.

    Reference:
        Sun, Yu, Fang, Yang, Qu, Zhang & Geng 2020, "Are We Evaluating Rigorously?", RecSys
        (the "5-filter" and "10-filter" views).
    """

    name: ClassVar[str] = "nfilter"

    users: int = 5
    items: int = 5

    def __post_init__(self) -> None:
        check_count("filter nfilter", "users", self.users)
        check_count("filter nfilter", "items", self.items)

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        pairs = distinct_pairs(data)
        user_stays, item_stays = pairs.of_user >= self.users, pairs.of_item >= self.items
        return np.asarray(user_stays[data.users] & item_stays[data.items])
