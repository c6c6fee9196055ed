"""Folds of a timeline: test windows that follow each other and end at the end of the data."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, SplitError
from fullrank.core.interactions import UNITS_PER_DAY, Interactions
from fullrank.data.filters.amounts import check_share, rounded_share
from fullrank.split._times import cut_by_rows

Length = float | str
"""A share of all rows, or a duration: ``"45s"``, ``"30m"``, ``"12h"``, ``"7d"``, ``"2w"``."""

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True)
class Window:
    """Cuts of one fold: ``[start, valid) [valid, test) [test, end)``, None where there is none."""

    start: int | None
    valid: int | None
    test: int
    end: int


def check_length(where: str, name: str, value: Length, *, zero: bool = False) -> None:
    """Refuse what is neither a share nor a duration."""
    if isinstance(value, str):
        _seconds(where, name, value)
    else:
        check_share(where, name, value, zero=zero)


def check_alike(where: str, lengths: dict[str, Length]) -> None:
    """Refuse shares beside durations: one ruler for all."""
    kinds = {isinstance(value, str) for value in lengths.values() if value != 0}
    if len(kinds) > 1:
        raise SpecError(f"{where}: give all lengths as shares or all as durations, got {lengths}")


class Timeline:
    """Measures back from the end of the data, by rows or by time."""

    def __init__(self, where: str, data: Interactions, times: NDArray[np.int64]) -> None:
        self.where, self.unit = where, data.time_unit
        self.ordered = np.sort(times)
        self.first, self.end = int(self.ordered[0]), int(self.ordered[-1]) + 1

    def back(self, *steps: tuple[int, Length]) -> int:
        """The moment that lies so many lengths before the end.

        Args:
            steps: (how many times, length), all shares or all durations.
        """
        steps = tuple((n, length) for n, length in steps if length != 0)
        if any(isinstance(length, str) for _, length in steps):
            units = UNITS_PER_DAY[self.unit]
            seconds = sum(n * _seconds(self.where, "length", str(x)) for n, x in steps)
            return self.end - seconds * units // 86_400
        n_after = sum(n * rounded_share(len(self.ordered), float(x)) for n, x in steps)
        if n_after > len(self.ordered):
            return self.first - 1
        return cut_by_rows(self.ordered, n_after)

    def windows(
        self, folds: int, test: Length, valid: Length, train: Length | None
    ) -> list[Window]:
        """Cuts of each fold, earliest first.

        Args:
            folds: how many.
            test: length of a test window.
            valid: length of the validation window before it; 0 for none.
            train: length of the training window before that; None for everything earlier.

        Raises:
            SplitError: the folds reach back beyond the first row.
        """
        out = []
        for left in range(folds, 0, -1):
            end, cut = self.back((left - 1, test)), self.back((left, test))
            before = self.back((left, test), (1, valid))
            start = self.back((left, test), (1, valid), (1, train)) if train is not None else None
            if before <= self.first or (start is not None and start < self.first):
                raise SplitError(
                    f"{self.where}: {folds} folds with test = {test!r}, valid = {valid!r}"
                    f"{'' if train is None else f', train = {train!r}'} reach back beyond the "
                    f"first of {len(self.ordered):,} rows; take fewer folds or shorter windows"
                )
            out.append(Window(start, before if valid != 0 else None, cut, end))
        return out


def _seconds(where: str, name: str, text: str) -> int:
    match = re.fullmatch(r"([1-9][0-9]*)([smhdw])", text.strip())
    if match is None:
        raise SpecError(
            f"{where}: {name} must be a share or a duration such as '7d' (s, m, h, d, w), "
            f"got {text!r}"
        )
    return int(match[1]) * _SECONDS[match[2]]
