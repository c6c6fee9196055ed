"""DropMissingTime: keep the rows whose time is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.core.random import RNG
from fullrank.data._columns import naming
from fullrank.data.filters._base import Filter


@dataclass(frozen=True)
class DropMissingTime(Filter):
    """Keep rows that have a time, as every split by time demands."""

    name: ClassVar[str] = "drop_missing_time"

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        if data.times is None:
            raise DataError(
                f"{self}: these data have no time column, so no row would be left; name it when "
                f"reading ({naming('timestamp')}), or leave the filter out"
            )
        return np.asarray(data.times != NO_TIME)
