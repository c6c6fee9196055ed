"""Look over delimited text in its plain dialect: is it plain, and what do its columns hold?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit

WHOLE, DECIMAL, TEXT, EMPTY = 1, 2, 4, 8
"""What a column holds: a set of these bits."""

_CR = 13
# Kinds of bytes.
_OTHER, _ZERO, _DIGIT, _MINUS, _POINT, _SEP, _END, _QUOTE, _RETURN = range(9)
# Where in a field the reading is, and the two ends of one.
_START, _SIGN, _NOUGHT, _MINUS_NOUGHT, _INT, _DOT, _FRACTION = range(7)
_WORD, _QUOTED, _CLOSED, _BAD, _FIELD_END, _LINE_END = range(7, 13)
# Whole numbers of so many digits fit 64 bits, whatever they are.
_DIGITS = 18

_NEXT = np.full((_BAD + 1, _RETURN + 1), _WORD, dtype=np.uint8)
_NEXT[_START, [_ZERO, _DIGIT, _MINUS]] = _NOUGHT, _INT, _SIGN
_NEXT[_SIGN, [_ZERO, _DIGIT]] = _MINUS_NOUGHT, _INT
_NEXT[[_NOUGHT, _MINUS_NOUGHT, _INT], _POINT] = _DOT
_NEXT[_INT, [_ZERO, _DIGIT]] = _INT
_NEXT[_DOT : _FRACTION + 1, [_ZERO, _DIGIT]] = _FRACTION
_NEXT[:, _SEP], _NEXT[:, _END] = _FIELD_END, _LINE_END
_NEXT[:, [_QUOTE, _RETURN]] = _BAD
_NEXT[_START, _QUOTE] = _QUOTED
_NEXT[_QUOTED] = _QUOTED
_NEXT[_QUOTED, [_QUOTE, _END]] = _CLOSED, _BAD
_NEXT[_CLOSED, [_OTHER, _ZERO, _DIGIT, _MINUS, _POINT]] = _BAD
_NEXT[_CLOSED, _QUOTE] = _QUOTED
_NEXT[_BAD] = _BAD

# One look-up a byte: state and kind of byte in one number.
_TABLE = np.zeros(256, dtype=np.uint8)
for _state, _row in enumerate(_NEXT):
    _TABLE[16 * _state : 16 * _state + len(_row)] = 16 * _row

_KIND = np.full(_BAD + 1, TEXT, dtype=np.uint8)
_KIND[[_START, _NOUGHT, _INT, _FRACTION]] = EMPTY, WHOLE, WHOLE, DECIMAL


@jit()
def _classes(sep: int, quote: int) -> NDArray[np.uint8]:
    """Kind of each byte."""
    out = np.full(256, _OTHER, dtype=np.uint8)
    out[48] = _ZERO
    out[49:58] = _DIGIT
    out[45], out[46], out[10], out[_CR] = _MINUS, _POINT, _END, _RETURN
    if quote >= 0:
        out[quote] = _QUOTE
    out[sep] = _SEP
    return out


@jit()
def survey(
    data: NDArray[np.uint8],
    start: int,
    stop: int,
    sep: int,
    quote: int,
    skip: int,
    kinds: NDArray[np.uint8],
) -> bool:
    """Collect the kinds of the fields of each column over the lines of ``data[start:stop]``.

    Plain text has one-byte separators, no carriage return, as many fields in each line as there
    are columns, no blank line, and in quoted fields doubled quotes and no line end.

    Args:
        data: uint8 ``[n]``.
        start: where a line starts.
        stop: where another starts, or ``n``.
        sep: the separator.
        quote: the quote sign, -1 for none.
        skip: lines at the start whose kinds don't count.
        kinds: uint8 ``[columns]``, bits added.

    Returns:
        Whether the text is plain.
    """
    classes = _classes(sep, quote)
    column, width, begin = 0, len(kinds), start
    own = kinds.copy()  # no cache line that another thread writes to
    state = np.uint8(16 * _START)
    for i in range(start, stop):
        after = _TABLE[state | classes[data[i]]]
        if after < 16 * _FIELD_END:
            state = after
            continue
        if not _note(state >> 4, i - begin, column, skip, own):
            return False
        ends = after == 16 * _LINE_END
        if ends != (column + 1 == width) or (width == 1 and i == begin):
            return False
        skip -= ends
        column = 0 if ends else column + 1
        state, begin = np.uint8(16 * _START), i + 1
    plain = True
    if begin < stop or column > 0:  # a last line without an end
        plain = column + 1 == width and _note(state >> 4, stop - begin, column, skip, own)
    kinds[:] = own
    return plain


@jit()
def _note(state: Any, length: int, column: int, skip: int, kinds: NDArray[np.uint8]) -> bool:
    """Add the kind of a field that ends; False if it can't end here."""
    if state in (_BAD, _QUOTED):
        return False
    if skip <= 0:
        kind = _KIND[state]
        kinds[column] |= TEXT if kind == WHOLE and length > _DIGITS else kind
    return True
