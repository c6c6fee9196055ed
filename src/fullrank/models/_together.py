"""What finding neighbours needs of the training rows, where a user weighs the same in all items."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.models._pattern import Pattern, pattern
from fullrank.models._threads import run_chunks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fullrank.kernels.neighbours import Neighbours
    from fullrank.kernels.together import Head

    Task = Callable[[int, int], Neighbours]

# Two items are cheaper to compare as bits than by walking over what their users have where they
# share about one user in 1,400 or more (measured: an update of a sum takes 1.3 ns, 64 users as bits
# 0.1 ns, at 138,493 users), so items that one user in 37 has are.
_ONE_IN = 37
_BITS_BLOCK = 16


def together(
    by_user: csr_matrix,
    by_item: csr_matrix,
    weights: NDArray[np.float64],
    sizes: tuple[NDArray[np.float64], NDArray[np.float64]],
    rule: tuple[int, float, bool],
    *,
    counted: bool,
) -> Task:
    """The task that finds the neighbours of a chunk of items; arguments as of the kernel.

    Args:
        by_user: users × items; only the pattern counts.
        by_item: its transpose.
        weights: ``[n_users]``.
        sizes: scales and norms ``[n_items]``.
        rule: neighbours, shrinkage, whether Jaccard.
        counted: all weights are 1.
    """
    from fullrank.kernels.together import nearest_together

    head, rows, (columns, tail) = split_popular(by_user, by_item, some=counted)
    return lambda start, stop: nearest_together(
        start, stop, rows, columns, tail, weights, head, sizes, rule
    )


def split_popular(
    by_user: csr_matrix, by_item: csr_matrix, *, some: bool = True
) -> tuple[Head, Pattern, tuple[Pattern, Pattern]]:
    """Set apart the items with most users, whose shared users are counted by bits.

    Args:
        by_user: users × items; only the pattern counts.
        by_item: its transpose.
        some: False for none.

    Returns:
        The head (items ``[h]``, place of each item in it or -1, shared users ``[h, h]``); items ×
        users; users × items, whole and without the head.
    """
    from fullrank.kernels.together import without

    rows, columns = pattern(by_item), pattern(by_user)
    items = _popular(rows[0], by_user.shape[0]) if some else np.zeros(0, dtype=np.int32)
    places = np.full(by_item.shape[0], -1, dtype=np.int32)
    places[items] = np.arange(len(items), dtype=np.int32)
    head = (items, places, _shared(items, rows, by_user.shape[0]))
    return head, rows, (columns, without(columns, places) if len(items) else columns)


def _popular(indptr: NDArray[np.int64], n_users: int) -> NDArray[np.int32]:
    """Items that many users have, as many as take two bytes a training row, and eight by pairs."""
    counts, n_rows = np.diff(indptr), int(indptr[-1])
    most = max(min(n_rows * 16 // n_users, isqrt(n_rows)), 1)
    order = np.argsort(-counts, kind="stable")[:most]
    popular = order[counts[order] * _ONE_IN >= n_users]
    return np.sort(popular).astype(np.int32)


def _shared(items: NDArray[np.int32], rows: Pattern, n_users: int) -> NDArray[np.float64]:
    """Users that each two of the items share ``[h, h]``."""
    from fullrank.kernels.together import count_bits, set_bits

    out = np.zeros((len(items), len(items)))
    bits = np.zeros((len(items), -(-n_users // 64)), dtype=np.uint64)
    for kernel in (
        lambda start, stop: set_bits(start, stop, items, rows, bits),
        lambda start, stop: count_bits(start, stop, bits, out),
    ):
        run_chunks(kernel, len(items), _BITS_BLOCK)
    return out
