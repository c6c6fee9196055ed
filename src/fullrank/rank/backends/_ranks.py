"""Counts of the items above and level with each target, tile of scores by tile on a device.

A target counts among the candidates of its own query: its screened score lies within the error of
its canonical one, so that where nothing else does, one score lies between its limits, and it is
its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.rank.backends._device import Tensor, torch
from fullrank.rank.backends._scores import Block, Items, at_least, at_most, imprecise

MANY_TARGETS = 64
"""From here the scores of a query are sorted, and its targets searched in them."""

MANY_TIES = 32
"""From here a query's whole tile is given canonical scores at once."""

_BYTES_PER_CELL = 16
"""Of rows gathered to be compared: a float32, comparisons, and what is found."""


@dataclass(eq=False)
class RankedTargets:
    """Targets of a block that stand in its catalogue: the first of each row, then the second.

    Rows must be in descending order of their number of targets, so that the ``j``-th targets are
    those of the first rows.

    Attributes:
        sizes: how many rows have a ``j``-th target.
        rows: int64 ``[t]``.
        places: int64 ``[t]``.
        scores: float32 ``[t]``, canonical.
        hi: float32 ``[t]``: what scores more is above, whatever the rounding.
        lo: float32 ``[t]``: what scores less is below, whatever the rounding.
        above: int64 ``[t]``: items above so far.
        level: int64 ``[t]``: items level so far, the target itself among them.
    """

    sizes: list[int]
    rows: Tensor
    places: Tensor
    scores: Tensor
    hi: Tensor
    lo: Tensor
    above: Tensor
    level: Tensor

    @classmethod
    def of(
        cls, items: Items, block: Block, rows: NDArray[np.int64], codes: NDArray[np.int64],
        sizes: list[int],
    ) -> RankedTargets:  # fmt: skip
        """Score the targets ``codes`` of ``rows``, both in the order of the class."""
        device = block.queries.device
        at, places = (
            torch.from_numpy(rows).to(device),
            items.place_of[torch.from_numpy(codes).to(device)],
        )
        scores, error = items.dots(block.queries, at, places), block.error[at]
        hi, lo = at_least(scores.double() + error), at_most(scores.double() - error)
        none = torch.zeros(len(at), dtype=torch.int64, device=device)
        return cls(sizes, at, places, scores, hi, lo, none, none.clone())

    def count(self, items: Items, block: Block, number: int, tile: Tensor) -> None:
        """Count one tile ``[b, width]`` of screened scores, -inf for what is left out.

        Rows with many ties are given canonical scores in it.
        """
        if not len(self.rows):
            return
        above, level = self._compared(tile)
        width = items.layout.width
        own = (self.places.div(width, rounding_mode="floor") == number).long()
        others = level - own
        if bool((others < 0).any()):
            raise imprecise("float32")
        tied = self.rows[others > MANY_TIES].unique()
        many = torch.isin(self.rows, tied)
        if len(tied):
            self._make_canonical(items, block, number, tile, tied)
            at = many.nonzero()[:, 0]
            above[at], level[at] = self._found(items, block, number, tile, at, canonical=True)
            if bool((level[at] < own[at]).any()):
                raise imprecise("float64")
        at = ((others > 0) & ~many).nonzero()[:, 0]
        if len(at):
            beyond, level[at] = self._found(items, block, number, tile, at, canonical=False)
            above[at] += beyond
        self.above += above
        self.level += level

    def _compared(self, tile: Tensor) -> tuple[Tensor, Tensor]:
        """How many scores of its row lie above the limits of each target, and within them."""
        above, reach = torch.empty_like(self.above), torch.empty_like(self.above)
        heavy = self.sizes[MANY_TARGETS] if len(self.sizes) > MANY_TARGETS else 0
        starts = np.cumsum([0, *self.sizes])
        for start, size in zip(starts[:MANY_TARGETS], self.sizes[:MANY_TARGETS], strict=False):
            some, part = slice(start + heavy, start + size), tile[heavy:size]
            above[some] = (part > self.hi[some, None]).sum(1, dtype=torch.int32)
            reach[some] = (part >= self.lo[some, None]).sum(1, dtype=torch.int32)
        first = torch.from_numpy(starts[:-1]).to(tile.device)
        for row in range(heavy):
            at = first[: sum(size > row for size in self.sizes)] + row
            scores = tile[row].sort().values
            above[at] = len(scores) - torch.searchsorted(scores, self.hi[at], right=True)
            reach[at] = len(scores) - torch.searchsorted(scores, self.lo[at])
        return above, reach - above

    def _make_canonical(
        self, items: Items, block: Block, number: int, tile: Tensor, rows: Tensor
    ) -> None:
        step = max(1, items.part // (8 * items.layout.width))
        for at in range(0, len(rows), step):
            some = rows[at : at + step]
            tile[some] = items.exact(block.take(some), number)

    def _found(
        self, items: Items, block: Block, number: int, tile: Tensor, at: Tensor, canonical: bool
    ) -> tuple[Tensor, Tensor]:
        """For the targets ``at``: canonical scores within the limits that are above, and level.

        Where the tile is canonical already, the score itself is the limit.
        """
        above, level = torch.zeros_like(at), torch.zeros_like(at)
        step = max(1, items.part // (_BYTES_PER_CELL * items.layout.width))
        for start in range(0, len(at), step):
            some = at[start : start + step]
            rows, scores = self.rows[some], self.scores[some]
            part, out = tile[rows], slice(start, start + step)
            if canonical:
                above[out] = (part > scores[:, None]).sum(1, dtype=torch.int32)
                level[out] = (part == scores[:, None]).sum(1, dtype=torch.int32)
                continue
            near = (part >= self.lo[some, None]) & (part <= self.hi[some, None])
            target, column = near.nonzero(as_tuple=True)
            places = column + number * items.layout.width
            exact = items.dots(block.queries, rows[target], places)
            above[out] = target[exact > scores[target]].bincount(minlength=len(some))
            level[out] = target[exact == scores[target]].bincount(minlength=len(some))
        return above, level
