"""Outside ids to dense codes, without a Python object a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.core.errors import IdTypeError, TooLargeError
from fullrank.core.vocabulary import Vocabulary

_BLOCK = 1 << 20
_MOST_IDS = 2**31 - 1


def encode_columns(
    frame: pl.DataFrame, user: str = "user_id", item: str = "item_id"
) -> tuple[NDArray[np.int32], Vocabulary, NDArray[np.int32], Vocabulary]:
    """Encode the user and the item column.

    Args:
        frame: has both columns, integers or text without missing values.
        user: name of the user column.
        item: name of the item column.

    Returns:
        (user codes int32 ``[n]``, user vocabulary, item codes int32 ``[n]``, item vocabulary).
    """
    users, user_vocab = encode_column(frame[user], "user")
    items, item_vocab = encode_column(frame[item], "item")
    return users, user_vocab, items, item_vocab


def encode_column(column: pl.Series, name: str) -> tuple[NDArray[np.int32], Vocabulary]:
    """Encode one id column: codes follow the sorted ids.

    Args:
        column: ``[n]`` integers or text, none missing.
        name: what the ids are of, for messages.

    Returns:
        (codes int32 ``[n]``, vocabulary).

    Raises:
        IdTypeError: neither integers nor text.
        TooLargeError: more distinct ids than int32 can tell apart.
    """
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        column = column.cast(pl.String)
    if column.dtype != pl.String and not column.dtype.is_integer():
        raise IdTypeError(f"{name} ids must be integers or text, got {column.dtype}")
    distinct = column.unique().sort()
    if len(distinct) > _MOST_IDS:
        raise TooLargeError(f"{len(distinct):,} distinct {name} ids; at most {_MOST_IDS:,} fit")
    if column.dtype == pl.String:
        # Polars sorts text by UTF-8 bytes, which is the order of code points, as Python's is.
        ids = np.array(distinct.to_list(), dtype=object)
        codes = column.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int32)
        return codes, Vocabulary(ids, name)
    wide = np.uint64 if column.dtype == pl.UInt64 else np.int64
    ids = distinct.to_numpy().astype(wide)
    return _place(column, ids), Vocabulary(ids, name)


def _place(column: pl.Series, ids: NDArray[Any]) -> NDArray[np.int32]:
    """Places of integers among sorted ids, block by block to spare memory."""
    values = column.to_numpy()
    out = np.empty(len(values), dtype=np.int32)
    span = int(ids[-1]) - int(ids[0]) + 1 if len(ids) else 0
    if 0 < span <= 4 * len(values):
        lookup = np.zeros(span, dtype=np.int32)
        lookup[(ids - ids[0]).astype(np.int64)] = np.arange(len(ids), dtype=np.int32)
        for start in range(0, len(values), _BLOCK):
            block = values[start : start + _BLOCK].astype(ids.dtype)
            out[start : start + _BLOCK] = lookup[(block - ids[0]).astype(np.int64)]
        return out
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK].astype(ids.dtype)
        out[start : start + _BLOCK] = np.searchsorted(ids, block)
    return out
