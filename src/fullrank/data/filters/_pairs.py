"""Distinct (user, item) pairs of the rows: what n-filter, core and duplicates count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions


@dataclass(frozen=True)
class Pairs:
    """Distinct pairs in order of (user, item).

    Attributes:
        users: int64 ``[p]`` user code of each pair.
        items: int64 ``[p]`` item code of each pair.
        of_row: int64 ``[n]`` pair of each row.
    """

    users: NDArray[np.int64]
    items: NDArray[np.int64]
    of_row: NDArray[np.int64]


def pair_keys(data: Interactions) -> NDArray[np.int64]:
    """One number for each row's pair, int64 ``[n]``, ascending with (user, item)."""
    return data.users.astype(np.int64) * max(data.n_items, 1) + data.items


def distinct_pairs(data: Interactions) -> Pairs:
    """Find the distinct pairs of the rows."""
    keys, of_row = np.unique(pair_keys(data), return_inverse=True)
    n_items = max(data.n_items, 1)
    return Pairs(keys // n_items, keys % n_items, of_row.astype(np.int64))
