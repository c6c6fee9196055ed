"""Distinct (user, item) pairs of the rows: what n-filter and core count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.core.distinct import first_of_item
from fullrank.core.interactions import Interactions


class Pairs(NamedTuple):
    """One row for each distinct pair, and how many pairs users and items have.

    Attributes:
        counted: bool ``[n]``, the first row of each pair.
        of_user: int64 ``[n_users]``, distinct items of each user.
        of_item: int64 ``[n_items]``, distinct users of each item.
    """

    counted: NDArray[np.bool_]
    of_user: NDArray[np.int64]
    of_item: NDArray[np.int64]


def distinct_pairs(data: Interactions) -> Pairs:
    """Find the distinct pairs of the rows."""
    from fullrank.kernels.distinct import degrees

    counted = first_of_item(data.user_indptr, data.items, data.n_items)
    of_user, of_item = np.zeros(data.n_users, np.int64), np.zeros(data.n_items, np.int64)
    degrees(data.users, data.items, counted, of_user, of_item)
    return Pairs(counted, of_user, of_item)
