"""Filter: a rule that keeps some of the rows, and leaves a line in the recipe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, seed_of
from fullrank.data.filters.amounts import plain_settings


@dataclass(frozen=True)
class Filter(ABC):
    """A rule that keeps rows and changes none. Subclasses are frozen dataclasses.

    Class attributes:
        name: the spelling in benchmark files.
        seeded: what is kept depends on ``rng``.
    """

    name: ClassVar[str]
    seeded: ClassVar[bool] = False

    @abstractmethod
    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """Tell which rows stay: bool ``[n]``, whatever the order of the input rows was."""

    def apply(self, data: Interactions, rng: RNG = 0) -> Interactions:
        """Keep the rows of ``mask``; vocabularies and codes stay, the recipe grows by one step.

        Raises:
            DataError: no row is left.
        """
        seed = seed_of(rng)
        keep = self.select(data, seed)
        left = int(np.count_nonzero(keep))
        step = {**self.settings, "rows_before": len(data), "rows_after": left}
        if self.seeded:
            step["seed"] = seed
        return data.take(keep, step=step)

    def select(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """``mask``, refused if it keeps nothing.

        Raises:
            DataError: no row is left.
        """
        keep = self.mask(data, rng)
        if not keep.any():
            raise DataError(
                f"filter {self} leaves none of {len(data):,} rows ({_sizes(data)}); "
                "weaken it, or check the columns that it looks at"
            )
        return keep

    @property
    def settings(self) -> dict[str, Any]:
        """Name and settings, for provenance."""
        return {"filter": self.name, **plain_settings(self)}

    def __str__(self) -> str:
        inside = ", ".join(f"{k} = {v!r}" for k, v in plain_settings(self).items() if v is not None)
        return f"{self.name}({inside})"


def apply_all(
    data: Interactions, filters: Sequence[Filter], rng: RNG = 0, *, compact: bool = False
) -> Interactions:
    """Apply filters one after another.

    Args:
        data: the rows.
        filters: in order; the rows that one leaves are what the next one sees.
        rng: seed or Generator for the filters that draw.
        compact: shrink the vocabularies at the end to the users and items that have rows. Right
            before a split, where ``n_items`` shall mean what is there; wrong on training rows,
            whose codes must stay those of the test rows.
    """
    seed = seed_of(rng)
    for one in filters:
        data = one.apply(data, seed)
    return data.compact() if compact and filters else data


def kept_rows(data: Interactions, filters: Sequence[Filter], rng: RNG = 0) -> NDArray[np.int64]:
    """Row numbers of ``data`` that survive all filters, applied one after another."""
    seed = seed_of(rng)
    rows = np.arange(len(data))
    for one in filters:
        keep = one.select(data, seed)
        rows, data = rows[keep], data.take(keep)
    return rows


def _sizes(data: Interactions) -> str:
    users = int(np.count_nonzero(data.user_counts))
    items = int(np.count_nonzero(data.item_counts))
    return f"{users:,} users, {items:,} items"
