"""Values: keep the rows whose value lies in a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters._columns import number_column


@dataclass(frozen=True)
class Values(Filter):
    """Keep rows with ``min <= value <= max``.

    Attributes:
        min: lowest value kept, None for no limit.
        max: highest value kept, None for no limit.
        column: ``"values"`` or an extra column of numbers.
    """

    name: ClassVar[str] = "values"

    min: float | None = None
    max: float | None = None
    column: str = "values"

    def __post_init__(self) -> None:
        if self.min is None and self.max is None:
            raise SpecError("filter values needs min or max")

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        column = number_column(self, data, self.column)
        keep = np.ones(len(data), dtype=bool)
        if self.min is not None:
            keep &= column >= self.min
        if self.max is not None:
            keep &= column <= self.max
        return keep
