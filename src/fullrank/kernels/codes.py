"""Codes of integer ids: a table over their range where they lie close, else a hash table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

_MIX = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing (Knuth 1998, section 6.4)
_HIGH = np.uint64(32)

EMPTY = -1


@jit()
def mark_ids(ids: NDArray[np.int64], low: int, marks: NDArray[np.bool_]) -> None:
    """Set ``marks[id - low]`` for each id."""
    for i in range(len(ids)):
        marks[ids[i] - low] = True


@jit()
def look_up(
    ids: NDArray[np.int64], low: int, codes: NDArray[np.int32], out: NDArray[np.int32]
) -> None:
    """Write ``codes[id - low]`` for each id, -1 for ids beyond the table.

    Args:
        ids: int64 ``[n]``.
        low: id of the first place of the table.
        codes: int32, code of each id from ``low`` on.
        out: int32 ``[n]``, filled.
    """
    size = len(codes)
    for i in range(len(ids)):
        if ids[i] < low:
            out[i] = -1
            continue
        place = np.uint64(ids[i]) - np.uint64(low)  # the difference may pass 2**63
        out[i] = codes[np.int64(place)] if place < np.uint64(size) else -1


@jit(inline="always")
def _slot(id_: int, mask: int) -> int:
    return int((np.uint64(id_) * _MIX) >> _HIGH) & mask


@jit()
def add_ids(
    ids: NDArray[np.int64],
    start: int,
    places: NDArray[np.int32],
    found: NDArray[np.int64],
    n_found: int,
) -> tuple[int, int]:
    """Add ids that are new to a table of open addressing, until it is half full.

    Args:
        ids: int64 ``[n]``, bits of signed or unsigned ids.
        start: where to begin.
        places: int32 ``[2**b]``, up to 2**31: place of an id in ``found``, or ``EMPTY``.
        found: int64, at least half as long: the distinct ids.
        n_found: how many there are.

    Returns:
        Where it stopped (``n`` if all are in), and how many distinct ids there are now.
    """
    mask = len(places) - 1
    for i in range(start, len(ids)):
        id_ = ids[i]
        if i > start and id_ == ids[i - 1]:
            continue
        at = _slot(id_, mask)
        while places[at] != EMPTY and found[places[at]] != id_:
            at = (at + 1) & mask
        if places[at] == EMPTY:
            if 2 * (n_found + 1) > len(places):
                return i, n_found
            places[at] = n_found
            found[n_found] = id_
            n_found += 1
    return len(ids), n_found


@jit()
def fill_table(ids: NDArray[np.int64], places: NDArray[np.int32]) -> None:
    """Write the place of each of some distinct ids into an empty table (at most half full)."""
    mask = len(places) - 1
    for i in range(len(ids)):
        at = _slot(ids[i], mask)
        while places[at] != EMPTY:
            at = (at + 1) & mask
        places[at] = i


@jit()
def find_ids(
    ids: NDArray[np.int64],
    places: NDArray[np.int32],
    known: NDArray[np.int64],
    out: NDArray[np.int32],
) -> None:
    """Write the place of each id among the ``known`` ones that fill a table, or -1."""
    mask = len(places) - 1
    code = np.int32(-1)
    for i in range(len(ids)):
        id_ = ids[i]
        if i == 0 or id_ != ids[i - 1]:
            at = _slot(id_, mask)
            while places[at] != EMPTY and known[places[at]] != id_:
                at = (at + 1) & mask
            code = places[at]
        out[i] = code


@jit()
def expand(codes: NDArray[np.int32], runs: NDArray[np.uint32], out: NDArray[np.int32]) -> None:
    """Write the code of each row's run.

    Args:
        codes: int32, of each run.
        runs: uint32 ``[n]``, the run of each row.
        out: int32 ``[n]``, filled.
    """
    for i in range(len(runs)):
        out[i] = codes[runs[i]]
