"""GlobalTime: the latest rows test, those before them validate, the rest train."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters.amounts import rounded_share
from fullrank.split._base import Split, Strategy
from fullrank.split._build import build, check_shares
from fullrank.split._times import cut_by_rows, global_times, parts_between, ties_at


@dataclass(frozen=True)
class GlobalTime(Strategy):
    """Cut all users at the same moments, placed by shares of the time-ordered rows.

    Nothing that a model learns from lies after anything that it is asked about, as in service.
    Rows of one time stay together in the later part (the shares move a little, and the card says
    how many rows were tied).

    Attributes:
        test: share of all rows that test.
        valid: share of all rows that validate; 0 for none.

    Reference:
        Meng, McCreadie, Macdonald & Ounis 2020, "Exploring Data Splitting Strategies for the
        Evaluation of Recommendation Models", RecSys.
    """

    timed: ClassVar[bool] = True

    test: float = 0.1
    valid: float = 0.1

    def __post_init__(self) -> None:
        check_shares(self, self.test, self.valid)

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        times = global_times(self, data)
        ordered = np.sort(times)
        n_test = rounded_share(len(times), self.test)
        n_valid = rounded_share(len(times), self.valid)
        test = cut_by_rows(ordered, n_test)
        valid = cut_by_rows(ordered, n_test + n_valid) if self.valid else None
        part = parts_between(times, test, valid=valid)
        ties = ties_at(times, part)
        return [build(self, data, part, wants_valid=self.valid > 0, ties=ties)]
