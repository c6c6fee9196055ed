"""Checks of the values that models learn from, and of the scores that functions give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, ScoreError
from fullrank.core.interactions import Interactions

_LARGEST = 1e15
"""Squares of values, and long sums of them, stay within float32, which ends at 3.4e38."""


def check_values(train: Interactions, name: str, largest: float = _LARGEST) -> None:
    """Refuse values so large that the model's sums would overflow.

    Args:
        train: rows, with values or without.
        name: of the model, for messages.
        largest: the farthest that a value may lie from 0.

    Raises:
        DataError: a value is farther than that from 0; the first is named.
    """
    if train.values is None or not len(beyond := np.flatnonzero(np.abs(train.values) > largest)):
        return
    at = int(beyond[0])
    raise DataError(
        f"{name}: values must lie within {largest:g} of 0, got {train.values[at]:g} for user "
        f"{train.user_vocab.label(int(train.users[at]))} and item "
        f"{train.item_vocab.label(int(train.items[at]))} (such rows: {len(beyond):,}); scale them"
    )


def real_numbers(found: Any, expected: str) -> NDArray[np.float64]:
    """What a function gave, as an array of real numbers.

    Args:
        found: its result.
        expected: of it, for messages.

    Raises:
        ScoreError: a masked array, or something that holds other things than real numbers.
    """
    if isinstance(found, np.ma.MaskedArray):
        raise ScoreError(
            "the function gave a masked array, expected plain numbers; give -inf for an item that "
            "must never be recommended: scores.filled(-np.inf)"
        )
    try:
        given = np.asarray(found)
        if given.dtype.kind not in "biufO":
            raise ValueError
        return given.astype(np.float64)
    except (TypeError, ValueError) as error:
        kind = getattr(found, "dtype", None)
        raise ScoreError(
            f"the function gave a {type(found).__name__}{'' if kind is None else f' of {kind}'} "
            f"that holds no real numbers, expected {expected}"
        ) from error
