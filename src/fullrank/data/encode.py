"""Outside ids to dense codes, without a Python object a row."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.core.errors import IdTypeError, TooLargeError
from fullrank.core.vocabulary import Vocabulary

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
        vocab = Vocabulary(np.array(distinct.to_list(), dtype=object), name)
        return _text_codes(column, distinct), vocab
    wide = np.uint64 if column.dtype == pl.UInt64 else np.int64
    vocab = Vocabulary(distinct.to_numpy().astype(wide), name)
    return vocab.encode(column.to_numpy().astype(wide, copy=False)), vocab


def encode_known(column: pl.Series, vocab: Vocabulary) -> NDArray[np.int32]:
    """Codes of ids that a vocabulary of their kind holds; -1 for others."""
    if vocab.kind == "text":
        return _text_codes(column, pl.Series(vocab.ids, dtype=pl.String))
    return vocab.encode(column.to_numpy())


def _text_codes(column: pl.Series, ids: pl.Series) -> NDArray[np.int32]:
    codes = column.cast(pl.Enum(ids), strict=False).to_physical()
    return codes.cast(pl.Int32).fill_null(-1).to_numpy().astype(np.int32, copy=False)
