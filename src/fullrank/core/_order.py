"""Canonical order of rows: user, time, item, value, then the extra columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.core.frozen import frozen
from fullrank.core.ragged import as_indptr, run_ragged
from fullrank.core.random import hash_labels
from fullrank.core.threads import n_threads, run_chunks

_ROWS = 1 << 20
"""Rows of a chunk: enough to hide the start of a task, small beside the columns."""


class Columns(NamedTuple):
    """The columns ``[n]`` of interactions; see there."""

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float64] | None
    times: NDArray[np.int64] | None
    extras: Mapping[str, NDArray[Any]]


def canonical_rows(columns: Columns, n_users: int) -> NDArray[np.int64] | None:
    """Row numbers ``[n]`` in canonical order, or None if the rows are in it already."""
    ties = _ties(columns)
    if ties == 0 or (ties > 0 and _extras_ascend(columns)):
        return None
    rows = _sorted_rows(columns, n_users)
    return _settled(columns, rows) if columns.extras else rows


def gathered(column: NDArray[Any], rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """``column[rows]``, in threads."""
    out = np.empty(len(rows), dtype=column.dtype)

    def fill(start: int, stop: int) -> None:
        out[start:stop] = column[rows[start:stop]]

    run_chunks(fill, len(rows), _ROWS)
    return out


def code_indptr(codes: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """int64 ``[n + 1]``: where the rows of each code lie once they are grouped by it."""
    from fullrank.kernels import canonical

    counts = np.zeros(n, dtype=np.int64)
    canonical.count_codes(frozen(codes), counts)
    return as_indptr(counts)


def _ties(columns: Columns) -> int:
    """Rows equal to the next but for the extra columns, or -1 if some are out of order."""
    from fullrank.kernels import canonical

    users, items, values, times, _ = columns
    times = np.zeros(0, np.int64) if times is None else times
    values = np.zeros(0, np.float64) if values is None else values
    found = run_chunks(
        lambda start, stop: canonical.unordered(users, times, items, values, start, stop),
        max(len(users) - 1, 0),
        _ROWS,
    )
    return -1 if min(found, default=0) < 0 else sum(found)


def _tied(columns: Columns, rows: NDArray[np.int64] | slice) -> NDArray[np.bool_]:
    """Whether each of ``rows`` but the last is equal to the next but for the extra columns."""
    same = np.ones(max(len(columns.users[rows]) - 1, 0), dtype=bool)
    for column in columns[:4]:
        if column is not None:
            ordered = column[rows]
            same &= ordered[1:] == ordered[:-1]
    return same


def _extras_ascend(columns: Columns) -> bool:
    if not columns.extras:
        return True
    left = np.flatnonzero(_tied(columns, slice(None)))
    undecided = np.ones(len(left), dtype=bool)
    for first, second in zip(_extra_keys(columns, left), _extra_keys(columns, left + 1)):
        if bool(np.any(undecided & (first > second))):
            return False
        undecided &= first == second
    return True


def _extra_keys(columns: Columns, rows: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Sort keys of the extra columns for some rows; text by hash."""
    extras = [columns.extras[name][rows] for name in sorted(columns.extras)]
    return [hash_labels(c) if c.dtype.kind in "OT" else c for c in extras]


def _sorted_rows(columns: Columns, n_users: int) -> NDArray[np.int64]:
    """Group by user by counting, then sort within each user."""
    from fullrank.kernels import canonical

    users, items, values, times, _ = columns
    indptr = code_indptr(users, n_users)
    rows = np.empty(len(users), dtype=np.int64)
    # Each task reads all users and writes the rows of its own.
    share = max(-(-len(users) // n_threads()), _ROWS)
    run_ragged(
        lambda first, last: canonical.rows_by_user(users, indptr, first, last, rows), indptr, share
    )
    times = np.zeros(0, np.int64) if times is None else times
    bits = np.zeros(0, np.int64) if values is None else values.view(np.int64)
    run_ragged(
        lambda first, last: canonical.sort_users(rows, indptr, first, last, times, items, bits),
        indptr,
        _ROWS,
    )
    return rows


def _settled(columns: Columns, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order rows that are equal in all but the extra columns by these."""
    same = _tied(columns, rows)
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    group = np.cumsum(np.append(True, ~same))[tied]
    extra = _extra_keys(columns, rows[tied])
    rows[tied] = rows[tied][np.lexsort((*extra[::-1], group))]
    return rows
