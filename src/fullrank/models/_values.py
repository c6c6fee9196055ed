"""A check of the values that models learn from."""

from __future__ import annotations

import numpy as np

from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions

_LARGEST = 1e15
"""Squares of values, and long sums of them, stay within float32, which ends at 3.4e38."""


def check_values(train: Interactions, name: str) -> None:
    """Refuse values so large that the model's sums would overflow.

    Args:
        train: rows, with values or without.
        name: of the model, for messages.

    Raises:
        DataError: a value is farther than 1e15 from 0; the first is named.
    """
    if train.values is None or not len(beyond := np.flatnonzero(np.abs(train.values) > _LARGEST)):
        return
    at = int(beyond[0])
    raise DataError(
        f"{name}: values must lie within {_LARGEST:g} of 0, got {train.values[at]:g} for user "
        f"{train.user_vocab.label(int(train.users[at]))} and item "
        f"{train.item_vocab.label(int(train.items[at]))} (such rows: {len(beyond):,}); scale them"
    )
