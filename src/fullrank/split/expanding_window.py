"""ExpandingWindow: several folds along the timeline, each trained on all that came before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters.amounts import check_count
from fullrank.split._base import Split, Strategy
from fullrank.split._build import build
from fullrank.split._times import global_times, parts_between, ties_at
from fullrank.split._windows import Length, Timeline, check_alike, check_length


@dataclass(frozen=True)
class ExpandingWindow(Strategy):
    """Test windows of one length follow each other up to the end of the data.

    The fold of a window trains on everything before it (less its validation window). Later rows
    are left out. Rows tied at a cut belong to the later side in every fold.

    Attributes:
        folds: number of windows.
        test: length of a test window: a share of all rows, or a duration such as ``"7d"``.
        valid: length of the validation window right before it, in the same kind; 0 for none.
    """

    timed: ClassVar[bool] = True

    folds: int = 3
    test: Length = 0.1
    valid: Length = 0.0

    def __post_init__(self) -> None:
        check_count("ExpandingWindow", "folds", self.folds, least=1)
        check_length("ExpandingWindow", "test", self.test)
        check_length("ExpandingWindow", "valid", self.valid, zero=True)
        check_alike("ExpandingWindow", {"test": self.test, "valid": self.valid})

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        times = global_times(self, data)
        timeline = Timeline("ExpandingWindow", data, times)
        out = []
        for fold, w in enumerate(timeline.windows(self.folds, self.test, self.valid, None)):
            part = parts_between(times, w.test, valid=w.valid, end=w.end)
            ties = ties_at(times, part)
            extra = {"fold": fold}
            wants = self.valid != 0
            out.append(build(self, data, part, wants_valid=wants, ties=ties, extra=extra))
        return out
