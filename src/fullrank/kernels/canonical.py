"""Canonical order of interactions: a check in one pass, and a sort user by user."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

# Up to this many rows insertion is faster than merging.
_SMALL = 24


@jit()
def unordered(
    users: NDArray[np.int32],
    times: NDArray[np.int64],
    items: NDArray[np.int32],
    values: NDArray[np.float64],
    start: int,
    stop: int,
) -> int:
    """Count rows that are equal to the next in all columns, or -1 if one is greater than the next.

    Args:
        users: int32 ``[n]``.
        times: int64 ``[n]``, or ``[0]`` for none.
        items: int32 ``[n]``.
        values: float64 ``[n]`` without NaN, or ``[0]`` for none.
        start: first row to compare with its next.
        stop: one after the last such row, at most ``n - 1``.
    """
    ties = 0
    for i in range(start, stop):
        if users[i] != users[i + 1]:
            if users[i] > users[i + 1]:
                return -1
        elif len(times) > 0 and times[i] != times[i + 1]:
            if times[i] > times[i + 1]:
                return -1
        elif items[i] != items[i + 1]:
            if items[i] > items[i + 1]:
                return -1
        elif len(values) > 0 and values[i] != values[i + 1]:
            if values[i] > values[i + 1]:
                return -1
        else:
            ties += 1
    return ties


@jit()
def count_codes(codes: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Add the number of rows of each code to ``counts``."""
    for i in range(len(codes)):
        counts[codes[i]] += 1


@jit()
def rows_by_user(
    users: NDArray[np.int32],
    indptr: NDArray[np.int64],
    first: int,
    last: int,
    out: NDArray[np.int64],
) -> None:
    """Row numbers grouped by user, in their order within a user, for users ``[first, last)``.

    Args:
        users: int32 ``[n]``.
        indptr: int64 ``[n_users + 1]``.
        first: first user.
        last: one after the last user.
        out: int64 ``[n]``, filled from ``indptr[first]`` to ``indptr[last]``.
    """
    at = indptr[first:last].copy()
    for i in range(len(users)):
        u = users[i]
        if first <= u < last:
            out[at[u - first]] = i
            at[u - first] += 1


@jit()
def _merge(
    keys: NDArray[np.int64],
    rows: NDArray[np.int64],
    keys_out: NDArray[np.int64],
    rows_out: NDArray[np.int64],
    left: int,
    middle: int,
    right: int,
) -> None:
    """Merge two sorted runs, the left one first among equals."""
    i, j = left, middle
    for w in range(left, right):
        if i < middle and (j >= right or keys[i] <= keys[j]):
            keys_out[w], rows_out[w] = keys[i], rows[i]
            i += 1
        else:
            keys_out[w], rows_out[w] = keys[j], rows[j]
            j += 1


@jit()
def _insertion(keys: NDArray[np.int64], rows: NDArray[np.int64], start: int, stop: int) -> None:
    for i in range(start + 1, stop):
        key, row, j = keys[i], rows[i], i
        while j > start and keys[j - 1] > key:
            keys[j], rows[j] = keys[j - 1], rows[j - 1]
            j -= 1
        keys[j], rows[j] = key, row


@jit()
def _sort(
    keys: NDArray[np.int64],
    rows: NDArray[np.int64],
    spare_keys: NDArray[np.int64],
    spare_rows: NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """Sort ``keys[start:stop]`` with their ``rows``; equal keys keep their order."""
    ascending = True
    for i in range(start, stop - 1):
        ascending = ascending and keys[i] <= keys[i + 1]
    if ascending:
        return
    for left in range(start, stop, _SMALL):
        _insertion(keys, rows, left, min(left + _SMALL, stop))
    width, here = _SMALL, True
    while width < stop - start:
        for left in range(start, stop, 2 * width):
            middle, right = min(left + width, stop), min(left + 2 * width, stop)
            if here:
                _merge(keys, rows, spare_keys, spare_rows, left, middle, right)
            else:
                _merge(spare_keys, spare_rows, keys, rows, left, middle, right)
        width, here = 2 * width, not here
    if not here:
        keys[start:stop] = spare_keys[start:stop]
        rows[start:stop] = spare_rows[start:stop]


@jit()
def _key(
    level: int,
    row: int,
    times: NDArray[np.int64],
    items: NDArray[np.int32],
    bits: NDArray[np.int64],
) -> Any:
    if level == 0:
        return np.int64(times[row])
    if level == 1:
        return np.int64(items[row])
    # Doubles compare as their bits do, if those below the sign are turned round for negative ones.
    b = bits[row]
    if b == np.iinfo(np.int64).min:  # -0.0 is 0.0
        return np.int64(0)
    return np.int64(b ^ ((b >> 63) & np.iinfo(np.int64).max))


@jit()
def _refine(
    level: int,
    own: NDArray[np.int64],
    joined: NDArray[np.bool_],
    keys: NDArray[np.int64],
    spare_keys: NDArray[np.int64],
    spare_rows: NDArray[np.int64],
    times: NDArray[np.int64],
    items: NDArray[np.int32],
    bits: NDArray[np.int64],
) -> bool:
    """Sort by one more column where all before are equal; True if some rows are equal still.

    ``joined[i]`` says that row ``i`` is equal to the one before in all columns so far.
    """
    start, n, tied = 0, len(own), False
    while start < n:
        stop = start + 1
        while stop < n and joined[stop]:
            stop += 1
        if stop - start > 1:
            for i in range(start, stop):
                keys[i] = _key(level, own[i], times, items, bits)
            _sort(keys, own, spare_keys, spare_rows, start, stop)
            for i in range(start + 1, stop):
                joined[i] = keys[i] == keys[i - 1]
                tied = tied or joined[i]
        start = stop
    return tied


@jit()
def sort_users(
    rows: NDArray[np.int64],
    indptr: NDArray[np.int64],
    first: int,
    last: int,
    times: NDArray[np.int64],
    items: NDArray[np.int32],
    bits: NDArray[np.int64],
) -> None:
    """Put the row numbers of each user in order of (time, item, value); equal ones keep theirs.

    Args:
        rows: int64 ``[n]``, grouped by user; changed within users ``[first, last)``.
        indptr: int64 ``[n_users + 1]``.
        first: first user.
        last: one after the last user.
        times: int64 ``[n]``, or ``[0]`` for none.
        items: int32 ``[n]``.
        bits: int64 ``[n]``, bits of the values (no NaN), or ``[0]`` for none.
    """
    most = 0
    for u in range(first, last):
        most = max(most, indptr[u + 1] - indptr[u])
    keys, spare_keys = np.empty(most, np.int64), np.empty(most, np.int64)
    spare_rows, joined = np.empty(most, np.int64), np.empty(most, np.bool_)
    for u in range(first, last):
        own = rows[indptr[u] : indptr[u + 1]]
        n = len(own)
        joined[:n] = True
        for level in range(3):
            if (level == 0 and len(times) == 0) or (level == 2 and len(bits) == 0):
                continue
            if not _refine(
                level, own, joined[:n], keys, spare_keys, spare_rows, times, items, bits
            ):
                break
