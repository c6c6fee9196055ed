"""Codes of 64-bit ids by a hash table with open addressing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit


@jit()
def _shift(table: NDArray[np.int32]) -> Any:
    """How far to shift 64 bits, so that as many are left as number the slots."""
    shift = 64
    while 1 << (64 - shift) < len(table):
        shift -= 1
    return np.uint64(shift)


@jit()
def _slot(key: Any, shift: Any) -> Any:
    """Where the search for a key begins: the upper bits of a product (Knuth 1973, section 6.4)."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)


@jit()
def fill_table(ids: NDArray[np.int64], table: NDArray[np.int32]) -> None:
    """Enter the place of each id.

    Args:
        ids: int64 ``[n]``, distinct.
        table: int32 ``[2**b]``, at least twice as long, of -1; filled.
    """
    mask, shift = len(table) - 1, _shift(table)
    for code in range(len(ids)):
        slot = _slot(ids[code], shift)
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = code


@jit()
def find_codes(
    values: NDArray[np.int64],
    ids: NDArray[np.int64],
    table: NDArray[np.int32],
    out: NDArray[np.int32],
) -> None:
    """Write the place of each value among the ids, -1 for unknown ones.

    Args:
        values: int64 ``[m]``.
        ids: int64 ``[n]``.
        table: int32 ``[2**b]``, from ``fill_table``.
        out: int32 ``[m]``, filled.
    """
    mask, shift = len(table) - 1, _shift(table)
    for i in range(len(values)):
        slot = _slot(values[i], shift)
        code = table[slot]
        while code >= 0 and ids[code] != values[i]:
            slot = (slot + 1) & mask
            code = table[slot]
        out[i] = code
