"""GlobalCut: everything from a date on tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fullrank.core.errors import SpecError, SplitError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG
from fullrank.data.filters.moments import Moment, as_moment, from_units, to_units
from fullrank.split._base import Split, Strategy
from fullrank.split._build import build
from fullrank.split._times import global_times, parts_between, ties_at


@dataclass(frozen=True)
class GlobalCut(Strategy):
    """Cut all users at given moments: rows at the moment itself belong to the later part.

    Attributes:
        cut: first moment of the test part: an ISO date or time (UTC unless it names a zone), or a
            whole number in the unit of the data's times.
        valid: first moment of the validation part, which ends at ``cut``; None for none.
        end: first moment after the test part, None for no end; later rows are left out.
    """

    timed: ClassVar[bool] = True

    cut: Moment
    valid: Moment | None = None
    end: Moment | None = None

    def __post_init__(self) -> None:
        for name in ("cut", "valid", "end"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, as_moment("GlobalCut", name, value))

    def splits(self, data: Interactions, *, rng: RNG = 0) -> Sequence[Split]:
        """See ``Strategy.splits``."""
        times = global_times(self, data)
        unit = data.time_unit
        cut = to_units("GlobalCut", "cut", self.cut, unit)
        valid, end = (
            None if moment is None else to_units("GlobalCut", name, moment, unit)
            for name, moment in (("valid", self.valid), ("end", self.end))
        )
        if (valid is not None and valid >= cut) or (end is not None and end <= cut):
            raise SpecError(
                f"GlobalCut: needs valid < cut < end, got valid = {self.valid!r}, "
                f"cut = {self.cut!r}, end = {self.end!r}"
            )
        first, last = int(times.min()), int(times.max())
        if not first < cut <= last:
            raise SplitError(
                f"GlobalCut: cut = {self.cut!r} ({cut:,} {unit}) leaves one side empty: the "
                f"{len(times):,} rows lie between {from_units(first, unit)} ({first:,} {unit}) and "
                f"{from_units(last, unit)} ({last:,} {unit}); choose a cut between them, in "
                "their unit"
            )
        part = parts_between(times, cut, valid=valid, end=end)
        ties = ties_at(times, part)
        return [build(self, data, part, wants_valid=valid is not None, ties=ties)]
