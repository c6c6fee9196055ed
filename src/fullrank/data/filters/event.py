"""Event: keep the rows of some kinds, by an extra column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.core.text import quoted
from fullrank.data.filters._base import Filter


@dataclass(frozen=True)
class Event(Filter):
    """Keep rows whose extra column holds one of some labels (a behaviour, a region, …).

    Attributes:
        column: name of the extra column.
        keep: labels to keep; one that occurs nowhere is an error.
    """

    name: ClassVar[str] = "event"

    column: str
    keep: Sequence[Any]

    def __post_init__(self) -> None:
        keep = [self.keep] if isinstance(self.keep, str | int | float) else list(self.keep)
        if not keep:
            raise SpecError("filter event needs at least one label in keep")
        object.__setattr__(self, "keep", tuple(keep))

    def mask(self, data: Interactions, rng: RNG = 0) -> NDArray[np.bool_]:
        """See ``Filter.mask``."""
        column = data.column(self.column)
        mask = np.zeros(len(data), dtype=bool)
        for label in self.keep:
            hit = np.asarray(column == label)
            if not hit.any():
                known = [str(x) for x in np.unique(column)[:20]]
                raise DataError(
                    f"{self}: column {self.column!r} never holds {quoted(label)}"
                    f"{suggest(str(label), known)}"
                )
            mask |= hit
        return mask
