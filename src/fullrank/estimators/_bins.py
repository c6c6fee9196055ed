"""Bins of ranks: single at the head, then as wide as a few percent of the rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Function = Callable[[NDArray[np.int64]], NDArray[np.float64]]

_POINTS = 5
"""Ranks of a bin at which a likelihood is looked at (specification of the smooth-head fit)."""

_MOST = 32
"""Ranks of a bin at which a metric is looked at; all of them in narrower bins."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Ranks 1 to ``N``, cut into bins.

    Attributes:
        first: int64 ``[b]``, the first rank of each bin.
        last: int64 ``[b]``, the last.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, n: int, single: int = 60, growth: float = 1.04) -> Bins:
        """Cut the ranks 1 to ``n``.

        Args:
            n: the last rank.
            single: ranks at the head that each have a bin of their own.
            growth: of the edges beyond; 1.04 gives about 200 bins at 10,000 ranks.
        """
        edges = list(range(min(single, n) + 1))
        while edges[-1] < n:
            edges.append(min(n, max(edges[-1] + 1, int(edges[-1] * growth))))
        ends = np.array(edges, dtype=np.int64)
        return cls(ends[:-1] + 1, ends[1:])

    def __len__(self) -> int:
        return len(self.first)

    @property
    def n(self) -> int:
        """The last rank."""
        return int(self.last[-1])

    @property
    def width(self) -> NDArray[np.float64]:
        """Ranks in each bin: float64 ``[b]``."""
        return (self.last - self.first + 1).astype(np.float64)

    @property
    def middle(self) -> NDArray[np.float64]:
        """Middle of each bin: float64 ``[b]``."""
        return (self.first + self.last) / 2.0

    def place(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Bin of each rank."""
        return np.searchsorted(self.last, ranks)

    def points(self, most: int = _POINTS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ranks that stand for each bin: all of them, or ``most`` evenly spread.

        Returns:
            int64 ranks ``[p]`` and where each bin begins in them, int64 ``[b]``.
        """
        width = self.last - self.first + 1
        counts = np.minimum(width, most)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        number = np.arange(counts.sum()) - np.repeat(starts, counts)
        reach, many = np.repeat(width - 1, counts), np.repeat(counts, counts)
        # The same distances from both ends, so that the mean of a line is exact.
        mirrored = np.minimum(number, many - 1 - number)
        inward = reach * (2 * mirrored + 1) // (2 * many)
        offset = np.where(2 * number < many, inward, reach - inward)
        middle = 2 * number + 1 == many
        offset = np.where(middle, reach // 2, offset)
        return np.repeat(self.first, counts) + offset, starts

    def means(self, function: Function) -> NDArray[np.float64]:
        """Mean of a function of the rank over each bin: ``[b, …]``.

        Exact in bins of up to 32 ranks, and for what is linear in wider ones.
        """
        ranks, starts = self.points(_MOST)
        sums = np.add.reduceat(function(ranks), starts, axis=0)
        counts = np.diff(np.append(starts, len(ranks))).astype(np.float64)
        return np.asarray(sums / counts.reshape(-1, *[1] * (sums.ndim - 1)))
