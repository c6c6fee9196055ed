"""Window: keep the rows of a span of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters._base import Filter
from fullrank.data.filters.moments import Moment, as_moment, to_units


@dataclass(frozen=True)
class Window(Filter):
    """Keep rows with ``start <= time < end``: half-open, so that adjacent windows share no row.

    Attributes:
        start: ISO date or time (UTC unless it names a zone; a date is its midnight), or a whole
            number in the unit of the data's times; None for no limit.
        end: likewise; the first moment that is not in the window.
    """

    name: ClassVar[str] = "window"

    start: Moment | None = None
    end: Moment | None = None

    def __post_init__(self) -> None:
        if self.start is None and self.end is None:
            raise SpecError("filter window needs start or end")
        for name in ("start", "end"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, as_moment("filter window", name, value))

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        times = data.require_times(str(self))
        keep = np.ones(len(data), dtype=bool)
        if self.start is not None:
            keep &= times >= to_units("filter window", "start", self.start, data.time_unit)
        if self.end is not None:
            keep &= times < to_units("filter window", "end", self.end, data.time_unit)
        return keep
