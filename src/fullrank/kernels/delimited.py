"""Check the quoting and the field counts of delimited text, and rewrite it in one plain dialect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

OK, FIELDS, STRAY, OPEN = 0, 1, 2, 3
"""Outcomes of ``scan``: fine; a record of another length; a stray quote; a quote never closed."""

_LF, _CR, _TAB, _SPACE = 10, 13, 9, 32
_NONE = -1


@jit()
def _quoted(
    data: NDArray[np.uint8], i: int, quote: int, escape: int, out: NDArray[np.uint8], w: int
) -> tuple[int, int, int, int]:
    """Copy the quoted field at ``i``, quotes in it doubled: (next, written, line ends, status)."""
    n, lines = len(data), 0
    out[w] = quote
    i, w = i + 1, w + 1
    while i < n:
        c = data[i]
        if c == escape and i + 1 < n:
            i += 1
            c = data[i]
            if c == quote:
                out[w] = quote
                w += 1
        elif c == quote:
            if i + 1 >= n or data[i + 1] != quote:
                out[w] = quote
                return i + 1, w + 1, lines, OK
            out[w] = quote
            w += 1
            i += 1
        lines += c == _LF
        out[w] = c
        i, w = i + 1, w + 1
    return i, w, lines, OPEN


@jit()
def _separator_at(data: NDArray[np.uint8], i: int, sep: NDArray[np.uint8], runs: bool) -> int:
    """Length of the separator at ``i``, 0 if there is none; a run of blanks if ``runs``."""
    n = len(data)
    if runs:
        start = i
        while i < n and (data[i] == _SPACE or data[i] == _TAB):
            i += 1
        return i - start
    for j in range(len(sep)):
        if i + j >= n or data[i + j] != sep[j]:
            return 0
    return len(sep)


@jit()
def _at_end(data: NDArray[np.uint8], i: int) -> bool:
    """True at the end of the text or of a line."""
    n = len(data)
    if i >= n or data[i] == _LF:
        return True
    return data[i] == _CR and (i + 1 >= n or data[i + 1] == _LF)


@jit()
def _plain(
    data: NDArray[np.uint8],
    i: int,
    sep: NDArray[np.uint8],
    runs: bool,
    quote: int,
    special: NDArray[np.bool_],
    out: NDArray[np.uint8],
    w: int,
) -> tuple[int, int, int]:
    """Copy the field without quotes at ``i``: (next, written, status)."""
    n = len(data)
    while i < n:
        c = data[i]
        # One look-up settles nearly all bytes; the calls below are for the few that may end it.
        if special[c]:
            if _at_end(data, i) or _separator_at(data, i, sep, runs) > 0:
                return i, w, OK
            if c == quote:
                return i, w, STRAY
        out[w] = c
        i, w = i + 1, w + 1
    return i, w, OK


@jit()
def _record(
    data: NDArray[np.uint8],
    i: int,
    sep: NDArray[np.uint8],
    runs: bool,
    quote: int,
    escape: int,
    special: NDArray[np.bool_],
    out: NDArray[np.uint8],
    w: int,
    to: int,
) -> tuple[int, int, int, int, int]:
    """Copy one record: (next, written, fields, line ends inside, status)."""
    fields, lines = 0, 0
    while True:
        if i < len(data) and data[i] == quote:
            i, w, inside, status = _quoted(data, i, quote, escape, out, w)
            lines += inside
        else:
            i, w, status = _plain(data, i, sep, runs, quote, special, out, w)
        fields += 1
        if status != OK:
            return i, w, fields, lines, status
        width = _separator_at(data, i, sep, runs)
        if _at_end(data, i + width) and (width == 0 or runs):
            return i + width, w, fields, lines, OK
        if width == 0:
            return i, w, fields, lines, STRAY
        out[w] = to
        i, w = i + width, w + 1


@jit()
def scan(
    data: NDArray[np.uint8],
    sep: NDArray[np.uint8],
    runs: bool,
    quote: int,
    escape: int,
    to: int,
    out: NDArray[np.uint8],
) -> tuple[int, int, int, int, int, int]:
    """Check a delimited text and write it with one-byte separators, line feeds, doubled quotes.

    Blank lines are skipped. An escape sign counts inside quotes only.

    Args:
        data: uint8 ``[n]``, the text in UTF-8.
        sep: uint8 ``[1]`` or ``[2]``, the separator.
        runs: the separator is any run of blanks and tabs.
        quote: byte of the quote sign, -1 for none.
        escape: byte of the escape sign, -1 for none.
        to: byte to write for a separator.
        out: uint8 ``[n + 1]``, filled.

    Returns:
        (status, line of the fault from 1, fields found there, fields expected, bytes written,
        lines that are not exactly one record: blank ones and those inside quotes).
    """
    special = np.zeros(256, dtype=np.bool_)
    special[sep[0]] = True
    for c in (_LF, _CR, _TAB, _SPACE):
        special[c] = True
    if quote >= 0:
        special[quote] = True
    i, w, line, expected, odd = 0, 0, 1, _NONE, 0
    while i < len(data):
        if runs:
            i += _separator_at(data, i, sep, runs)
        if _at_end(data, i):
            odd += i < len(data)
        else:
            i, w, fields, inside, status = _record(
                data, i, sep, runs, quote, escape, special, out, w, to
            )
            if expected == _NONE:
                expected = fields
            if status != OK or fields != expected:
                at = line + inside if status == STRAY else line
                return max(status, FIELDS), at, fields, expected, w, odd
            out[w] = _LF
            w += 1
            line += inside
            odd += inside
        if i < len(data) and data[i] == _CR:
            i += 1
        i, line = i + 1, line + 1
    return OK, line, 0, expected, w, odd
