"""Core: the largest part of the data in which every user and item has enough partners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.ragged import as_indptr
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters._pairs import distinct_pairs
from fullrank.data.filters.amounts import check_count


@dataclass(frozen=True)
class Core(Filter):
    """Drop users and items with too few distinct partners, again and again, until none is left.

    Counts are of **distinct pairs**: a row that repeats a pair makes no user more active. The
    result is unique, whatever is dropped first. All rows of a kept pair stay.

    Each pair is touched when its user or its item falls, so the work grows with the rows and not
    with rows times rounds.

    Attributes:
        users: distinct items that every remaining user has.
        items: distinct users that every remaining item has.

    Reference:
        Seidman 1983, "Network structure and minimum degree"; Batagelj & Zaveršnik 2003.
    """

    name: ClassVar[str] = "core"

    users: int = 5
    items: int = 5

    def __post_init__(self) -> None:
        check_count("filter core", "users", self.users)
        check_count("filter core", "items", self.items)

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        from fullrank.kernels.distinct import item_lists, peel

        pairs = distinct_pairs(data)
        item_indptr = as_indptr(pairs.of_item)
        item_users = np.empty(item_indptr[-1], dtype=np.int32)
        item_lists(data.users, data.items, pairs.counted, item_indptr, item_users)
        user_stays, item_stays = peel(
            data.user_indptr,
            data.items,
            pairs.counted,
            item_indptr,
            item_users,
            pairs.of_user,
            pairs.of_item,
            self.users,
            self.items,
        )
        return np.asarray(user_stays[data.users] & item_stays[data.items])
