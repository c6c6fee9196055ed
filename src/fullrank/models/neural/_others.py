"""Negatives of a batch from its other rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def others(
    users: NDArray[np.int32], items: NDArray[np.int32], matrix: csr_matrix, m: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Items of the ``m`` rows that follow each row, around the end of the batch.

    Args:
        users: int32 ``[b]``.
        items: int32 ``[b]``.
        matrix: users × items of the log.
        m: how many; all other rows where there are fewer.

    Returns:
        Items int32 ``[b, w]`` with ``w = min(m, b - 1)``, and bool ``[b, w]``: False where the
        row's user has the item.
    """
    from scipy.sparse import csr_matrix

    b = len(users)
    w = min(m, b - 1)
    after = (np.arange(b)[:, None] + np.arange(1, w + 1)) % b
    there = np.ones((b, w), dtype=bool)
    ones = np.ones(b, np.float32)
    columns = csr_matrix((ones, (items, np.arange(b))), shape=(matrix.shape[1], b))
    owned = (matrix[users] @ columns).tocoo()  # [b, b]: the row's user has the column's item
    offset = (owned.col - owned.row - 1) % b
    near = offset < w
    there[owned.row[near], offset[near]] = False
    return items[after], there
