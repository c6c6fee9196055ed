"""Negatives: a distribution over the items that a query has not seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr
from fullrank.core.sample import Scheme
from fullrank.core.text import quoted
from fullrank.negatives._pool import Pool

Drawn = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Rows of item codes: int64 ``[q + 1]`` and int32 ``[n]``."""


_MOST = np.iinfo(np.int32).max


@dataclass(frozen=True, kw_only=True)
class Negatives(ABC):
    """Base of the distributions over items; subclasses are frozen dataclasses of settings.

    Draws are a sequence for each query, a function of the seed and of the outside ids of the
    query: any part of it can be asked for, in any batch and thread.

    Class attributes:
        scheme: what estimators may assume: ``"uniform"``, ``"weighted"`` or ``"given"``.

    Attributes:
        m: candidates drawn for each query, the target apart.
        replacement: whether an item may be drawn twice.
    """

    scheme: ClassVar[Scheme]

    m: int = 100
    replacement: bool = False

    def __post_init__(self) -> None:
        whole = isinstance(self.m, int | np.integer) and not isinstance(self.m, bool)
        if not whole or not 1 <= self.m <= _MOST:
            raise SpecError(
                f"{type(self).__name__}: m must be a whole number of candidates >= 1 (and < 2^31), "
                f"got {quoted(self.m)}"
            )

    @abstractmethod
    def draw(self, pool: Pool, first: NDArray[np.int64], last: NDArray[np.int64]) -> Drawn:
        """Draws number ``first[q]`` up to ``last[q]`` of each row's sequence.

        Args:
            pool: what may be drawn.
            first: int64 ``[q]``.
            last: int64 ``[q]``, at most ``limits``.
        """

    def prepare(self, counts: NDArray[np.int64]) -> Negatives:
        """The distribution for a catalogue whose items were seen ``counts[n_items]`` times."""
        return self

    def own(self, queries: Queries) -> Drawn | None:
        """What each query may draw from, if that differs: rows of ascending item codes."""
        return None

    def limits(self, pool: Pool) -> NDArray[np.int64]:
        """Most draws that each row can give: int64 ``[q]``; its pool without replacement."""
        sizes = pool.sizes
        if self.replacement:
            return np.where(sizes > 0, np.iinfo(np.int64).max, 0)
        return sizes

    def probabilities(self, n_items: int) -> NDArray[np.float64]:
        """Share of draws of each item where none is excluded: float64 ``[n_items]``."""
        return np.full(n_items, 1.0 / max(n_items, 1))

    def settings(self) -> dict[str, Any]:
        """Settings by name, for provenance."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}


def rows_between(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indptr of rows that hold the draws from ``first`` up to ``last``."""
    return as_indptr(np.maximum(last - first, 0))
