"""SlidingWindow: several folds along the timeline, each trained on a window of fixed length."""

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
class SlidingWindow(Strategy):
    """Windows of one length slide along the timeline, the last one up to the end of the data.

    The fold of a test window trains on the window of length ``train`` before it (and before its
    validation window). Earlier and later rows are left out. Rows tied at a cut belong to the later
    side in every fold.

    Attributes:
        folds: number of windows.
        train: length of a training window: a share of all rows, or a duration such as ``"30d"``.
        test: length of a test window, in the same kind.
        valid: length of the validation window between them, in the same kind; 0 for none.
    """

    timed: ClassVar[bool] = True

    folds: int = 3
    train: Length = 0.4
    test: Length = 0.1
    valid: Length = 0.0

    def __post_init__(self) -> None:
        check_count("SlidingWindow", "folds", self.folds, least=1)
        check_length("SlidingWindow", "train", self.train)
        check_length("SlidingWindow", "test", self.test)
        check_length("SlidingWindow", "valid", self.valid, zero=True)
        lengths = {"train": self.train, "test": self.test, "valid": self.valid}
        check_alike("SlidingWindow", lengths)

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        times = global_times(self, data)
        timeline = Timeline("SlidingWindow", data, times)
        out = []
        for fold, w in enumerate(timeline.windows(self.folds, self.test, self.valid, self.train)):
            part = parts_between(times, w.test, valid=w.valid, start=w.start, end=w.end)
            ties = ties_at(times, part)
            extra = {"fold": fold}
            wants = self.valid != 0
            out.append(build(self, data, part, wants_valid=wants, ties=ties, extra=extra))
        return out
