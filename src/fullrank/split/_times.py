"""Cuts in time. Rows of one time are never torn apart: all of them lie after the cut.

A cut at time ``c`` is half-open: a row before ``c`` is before, a row at ``c`` or later is after.
Where a share of rows is asked for, ``c`` is the time of the first row that the share reaches, so
rows tied with it move to the later part, which may become larger than asked for, never smaller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SplitError
from fullrank.core.interactions import Interactions
from fullrank.split._base import LEFT_OUT, TEST, TRAIN, VALID, Strategy
from fullrank.split._build import require_rows


def global_times(strategy: Strategy, data: Interactions) -> NDArray[np.int64]:
    """Return a time for every row, comparable among users: int64 ``[n]``.

    Raises:
        DataError: times are missing.
        SplitError: the times are places in a sequence, which say nothing across users.
    """
    require_rows(strategy, data)
    times = data.require_times(f"split {type(strategy).__name__}")
    if data.time_unit == "order":
        raise SplitError(
            f"split {type(strategy).__name__} cuts all users at one moment, and the times of these "
            "data are places in each user's own sequence; take LeaveLast or UserTime"
        )
    return times


def cut_by_rows(ordered: NDArray[np.int64], n_after: int) -> int:
    """Time of the first of the last ``n_after`` rows: the cut that puts at least those after it.

    Args:
        ordered: int64 ``[n]`` times, ascending.
        n_after: 0 gives a cut beyond the last row.
    """
    if n_after <= 0:
        return int(ordered[-1]) + 1
    return int(ordered[max(len(ordered) - n_after, 0)])


def parts_between(
    times: NDArray[np.int64],
    test: int,
    *,
    valid: int | None = None,
    start: int | None = None,
    end: int | None = None,
) -> NDArray[np.int8]:
    """Codes of the rows in ``[start, valid) [valid, test) [test, end)``; others are left out."""
    part = np.full(len(times), TRAIN, dtype=np.int8)
    if valid is not None:
        part[times >= valid] = VALID
    part[times >= test] = TEST
    if start is not None:
        part[times < start] = LEFT_OUT
    if end is not None:
        part[times >= end] = LEFT_OUT
    return part


def ties_at(times: NDArray[np.int64], part: NDArray[np.int8]) -> dict[str, int]:
    """By later part, how many rows share the time of its first row; 0 if that row is alone.

    None of these rows is on the other side; the count tells how far the tie could have moved the
    cut.
    """
    ties = {}
    for name, code in (("valid", VALID), ("test", TEST)):
        inside = times[part == code]
        if len(inside):
            n = int(np.count_nonzero(times == inside.min()))
            ties[name] = n if n > 1 else 0
    return ties
