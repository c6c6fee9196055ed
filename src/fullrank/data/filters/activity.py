"""Activity: drop users and items with too few or too many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters.amounts import check_count


@dataclass(frozen=True)
class Activity(Filter):
    """Keep rows whose user and item have a number of **rows** within bounds, in one pass.

    Rows are counted, repeats included, on the data as they come in: a robot that clicks one item a
    thousand times is active. For distinct pairs take ``nfilter`` or ``core``.

    Attributes:
        min_user: fewest rows of a user, None for no limit.
        max_user: most rows of a user, None for no limit.
        min_item: fewest rows of an item, None for no limit.
        max_item: most rows of an item, None for no limit.
    """

    name: ClassVar[str] = "activity"

    min_user: int | None = None
    max_user: int | None = None
    min_item: int | None = None
    max_item: int | None = None

    def __post_init__(self) -> None:
        bounds = ("min_user", "max_user", "min_item", "max_item")
        if all(getattr(self, name) is None for name in bounds):
            raise SpecError(f"filter activity needs one of {', '.join(bounds)}")
        for name in bounds:
            if getattr(self, name) is not None:
                check_count("filter activity", name, getattr(self, name))

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        user_ok = _within(data.user_counts, self.min_user, self.max_user)
        item_ok = _within(data.item_counts, self.min_item, self.max_item)
        return np.asarray(user_ok[data.users] & item_ok[data.items])


def _within(counts: NDArray[np.int64], least: int | None, most: int | None) -> NDArray[np.bool_]:
    ok = np.ones(len(counts), dtype=bool)
    if least is not None:
        ok &= counts >= least
    if most is not None:
        ok &= counts <= most
    return ok
