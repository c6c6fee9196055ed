"""Core: the largest part of the data in which every user and item has enough partners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.ragged import as_indptr, take_ragged
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters._pairs import Pairs, distinct_pairs
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
        pairs = distinct_pairs(data)
        return np.asarray(self._peel(pairs, data.n_users, data.n_items)[pairs.of_row])

    def _peel(self, pairs: Pairs, n_users: int, n_items: int) -> NDArray[np.bool_]:
        """Which pairs are in the core: bool ``[p]``."""
        alive = np.ones(len(pairs.users), dtype=bool)
        users = _Side(pairs.users, n_users, self.users)
        items = _Side(pairs.items, n_items, self.items)
        while len(users.fallen) or len(items.fallen):
            hit = np.unique(np.concatenate([users.pairs_of_fallen(), items.pairs_of_fallen()]))
            hit = hit[alive[hit]]
            alive[hit] = False
            users.lose(hit)
            items.lose(hit)
        return alive


class _Side:
    """Users or items: how many pairs each still has, and who fell below the bound just now."""

    def __init__(self, codes: NDArray[np.int64], n: int, least: int) -> None:
        self.codes, self.least = codes, least
        self.degree = np.bincount(codes, minlength=n)
        self.order = np.argsort(codes, kind="stable")
        self.indptr = as_indptr(self.degree)
        self.fallen = np.flatnonzero((self.degree < least) & (self.degree > 0))

    def pairs_of_fallen(self) -> NDArray[np.int64]:
        _, flat = take_ragged(self.indptr, self.fallen)
        return self.order[flat]

    def lose(self, pairs: NDArray[np.int64]) -> None:
        touched, lost = np.unique(self.codes[pairs], return_counts=True)
        before = self.degree[touched]
        self.degree[touched] = before - lost
        self.fallen = touched[(before >= self.least) & (before - lost < self.least)]
