"""Duplicates: one row for each (user, item) pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters._columns import number_column
from fullrank.data.filters._pairs import pair_keys
from fullrank.data.filters.amounts import check_choice

Keep = Literal["first", "last", "max", "min"]


@dataclass(frozen=True)
class Duplicates(Filter):
    """Keep one row of each (user, item) pair.

    ``first`` and ``last`` go by time; among equal times ``first`` takes the lowest value and
    ``last`` the highest (then the extra columns by name decide); rows without a time count as
    earliest. ``max`` and ``min`` go by value; among equal values the earliest row stays. The order
    of the rows in a file never decides: without times, ``first`` and ``last`` are refused unless
    the rows of every pair are alike.

    Attributes:
        keep: which row stays.
    """

    name: ClassVar[str] = "duplicates"

    keep: Keep = "first"

    def __post_init__(self) -> None:
        check_choice("filter duplicates", "keep", self.keep, ("first", "last", "max", "min"))

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        keys = pair_keys(data)
        if self.keep in ("first", "last"):
            order = np.argsort(keys, kind="stable")
            self._require_order(data, keys, order)
        else:
            values = number_column(self, data, "values")
            order = np.lexsort((values if self.keep == "min" else -values, keys))
        keys = keys[order]
        edge = np.ones(len(keys), dtype=bool)
        changes = keys[1:] != keys[:-1]
        if self.keep == "last":
            edge[:-1] = changes
        else:
            edge[1:] = changes
        mask = np.zeros(len(keys), dtype=bool)
        mask[order[edge]] = True
        return mask

    def _require_order(
        self, data: Interactions, keys: NDArray[np.int64], order: NDArray[np.int64]
    ) -> None:
        if data.times is not None:
            return
        left, right = order[:-1], order[1:]
        columns = [*data.extras.values(), *([data.values] if data.values is not None else [])]
        unlike = np.zeros(len(left), dtype=bool)
        for column in columns:
            unlike |= column[left] != column[right]
        bad = np.flatnonzero(unlike & (keys[left] == keys[right]))
        if len(bad):
            row = int(left[bad[0]])
            raise DataError(
                f"{self} needs times to tell which row came {self.keep}, and these data have none "
                f"(user {data.user_vocab.label(data.users[row])} and item "
                f"{data.item_vocab.label(data.items[row])} have rows that "
                "differ); keep 'max' or 'min' by value, or name the time column"
            )
