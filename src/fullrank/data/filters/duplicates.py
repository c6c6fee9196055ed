"""Duplicates: one row for each (user, item) pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.distinct import best_of_item, first_of_item
from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters._columns import number_column
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
        indptr, items = data.user_indptr, data.items
        if self.keep in ("first", "last"):
            self._require_order(data)
        if self.keep == "first":
            return first_of_item(indptr, items, data.n_items)
        if self.keep == "last":
            # The rows of each pair grow in place, so the highest place is the last row.
            values = np.arange(len(data), dtype=np.float64)
        else:
            values = number_column(self, data, "values")
            values = -values if self.keep == "min" else values
        return best_of_item(indptr, items, data.n_items, values)

    def _require_order(self, data: Interactions) -> None:
        if data.times is not None:
            return
        # Without times the rows of a pair stand side by side.
        unlike = np.zeros(max(len(data) - 1, 0), dtype=bool)
        for column in (*data.extras.values(), *([] if data.values is None else [data.values])):
            unlike |= column[1:] != column[:-1]
        alike = (data.users[1:] == data.users[:-1]) & (data.items[1:] == data.items[:-1])
        bad = np.flatnonzero(unlike & alike)
        if len(bad):
            row = int(bad[0])
            raise DataError(
                f"{self} needs times to tell which row came {self.keep}, and these data have none "
                f"(user {data.user_vocab.label(data.users[row])} and item "
                f"{data.item_vocab.label(data.items[row])} have rows that "
                "differ); keep 'max' or 'min' by value, or name the time column"
            )
