"""Draws from one of two distributions, by a share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.ragged import rows_of
from fullrank.core.random import derive, hash_elements, uniform_elements
from fullrank.negatives._base import Drawn, Negatives, rows_between
from fullrank.negatives._pool import Pool
from fullrank.negatives.popularity import Popularity
from fullrank.negatives.uniform import Uniform


@dataclass(frozen=True, kw_only=True)
class Mixture(Negatives):
    """Each draw comes from ``second`` with probability ``share``, else from ``first``.

    With replacement only. An item of a row's pool is drawn with probability
    ``(1 - share) q_1 + share q_2``, of which ``q_1`` and ``q_2`` are the parts' own. DaisyRec's
    hybrids are uniform with popular, or with rare, items half and half.

    Attributes:
        first: a distribution with replacement.
        second: another.
        share: of draws from the second, from 0 to 1.

    Example:
        >>> Mixture(share=0.25).settings()["share"]
        0.25
    """

    first: Negatives = field(default_factory=lambda: Uniform(replacement=True))
    second: Negatives = field(default_factory=Popularity)
    share: float = 0.5
    replacement: bool = True

    scheme = "weighted"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.share <= 1:
            raise SpecError(f"Mixture: share must be from 0 to 1, got {self.share!r}")
        for part in (self, self.first, self.second):
            if not part.replacement:
                raise SpecError(
                    f"Mixture: draws are with replacement, and {type(part).__name__} has "
                    "replacement=False; set it to True"
                )

    def prepare(self, counts: NDArray[np.int64]) -> Negatives:
        """The parts for items that were seen ``counts[n_items]`` times."""
        parts = self.first.prepare(counts), self.second.prepare(counts)
        return replace(self, first=parts[0], second=parts[1])

    def limits(self, pool: Pool) -> NDArray[np.int64]:
        """Most draws that each row can give: none where a part can't draw."""
        return np.minimum(self.first.limits(pool), self.second.limits(pool))

    def draw(self, pool: Pool, first: NDArray[np.int64], last: NDArray[np.int64]) -> Drawn:
        """Draws number ``first[q]`` up to ``last[q]`` of each row's sequence."""
        indptr = rows_between(first, last)
        rows = rows_of(indptr)
        numbers = np.arange(len(rows)) - np.repeat(indptr[:-1] - first, np.diff(indptr))
        seed = derive(0, "Mixture")
        other = uniform_elements(seed, pool.keys[rows], numbers) < self.share
        # The parts have streams of their own, so that which part a draw comes from tells nothing.
        twin = replace(pool, keys=hash_elements(seed, pool.keys))
        items = self.first.draw(pool, first, last)[1]
        return indptr, np.where(other, self.second.draw(twin, first, last)[1], items)

    def probabilities(self, n_items: int) -> NDArray[np.float64]:
        """Share of draws of each item where none is excluded: float64 ``[n_items]``."""
        parts = self.first.probabilities(n_items), self.second.probabilities(n_items)
        return (1 - self.share) * parts[0] + self.share * parts[1]

    def settings(self) -> dict[str, Any]:
        """Settings by name, those of the parts within."""
        given = super().settings()
        for name in ("first", "second"):
            part = getattr(self, name)
            given[name] = {"strategy": type(part).__name__, **part.settings()}
        return given
