"""Binarise: keep the rows whose value says "yes"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters._columns import number_column


@dataclass(frozen=True)
class Binarise(Filter):
    """Keep rows whose value is at or above a threshold, as positive feedback.

    The values of the rows that stay are not overwritten, so that a grade column can still be
    named; models of implicit feedback do not look at them.

    Attributes:
        at: the lowest value that counts as positive.
        column: ``"values"`` (the rating), or an extra column of numbers.
    """

    name: ClassVar[str] = "binarise"

    at: float
    column: str = "values"

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        column = number_column(self, data, self.column)
        keep = column >= self.at
        if len(column) and not keep.any():
            raise DataError(
                f"{self}: no value reaches {self.at:g}, the highest of {len(column):,} is "
                f"{column.max():g}; lower the threshold"
            )
        return np.asarray(keep)
