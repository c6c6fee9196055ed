"""Distinct items of the rows of a ragged array, without sorting."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.ragged import as_indptr, run_ragged

Keep = Literal["last", "count", "most"]

_ELEMENTS = 1 << 17
"""Least elements of a task; a task has room for the whole catalogue, so large ones take more."""


def distinct_items(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    n_items: int,
    keep: Keep = "count",
    values: NDArray[np.float64] | None = None,
    dtype: Any = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Items of each row, ascending and each once.

    Args:
        indptr: int64 ``[q + 1]``.
        items: int32 ``[n]`` in ``[0, n_items)``.
        n_items: size of the catalogue.
        keep: what stands for the elements of one item: the value of the ``"last"``, their
            ``"count"`` or the highest (``"most"``) value.
        values: float64 ``[n]`` for ``"last"`` and ``"most"``.
        dtype: float type of what is kept; None if nothing is wanted.

    Returns:
        (indptr int64 ``[q + 1]``, items int32 ``[m]``, what is kept ``[m]`` or ``[0]``).
    """
    from fullrank.kernels import distinct as kernels

    mode = {"last": kernels.LAST, "count": kernels.COUNT, "most": kernels.MOST}[keep]
    out = np.empty(len(items), dtype=np.int32)
    data = np.empty(0 if dtype is None else len(items), dtype=dtype or np.float32)
    lengths = np.empty(len(indptr) - 1, dtype=np.int64)
    given = np.zeros(0) if values is None else values

    def fill(first: int, last: int) -> None:
        kernels.distinct_items(indptr, items, first, last, n_items, mode, given, out, data, lengths)

    run_ragged(fill, indptr, max(n_items, _ELEMENTS))
    found = as_indptr(lengths)
    if found[-1] == len(items):
        return found, out, data
    kernels.squeeze(indptr, lengths, out)
    if dtype is not None:
        kernels.squeeze(indptr, lengths, data)
        data = data[: found[-1]].copy()
    return found, out[: found[-1]].copy(), data


def shared_items(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    other_indptr: NDArray[np.int64],
    others: NDArray[np.int32],
    n_items: int,
) -> NDArray[np.bool_]:
    """Which of ``others`` ``[m]`` are among the ``items`` ``[n]`` of their row: bool ``[m]``."""
    from fullrank.kernels import distinct as kernels

    out = np.empty(len(others), dtype=bool)

    def fill(first: int, last: int) -> None:
        kernels.shared_items(indptr, items, other_indptr, others, first, last, n_items, out)

    run_ragged(fill, indptr + other_indptr, max(n_items, _ELEMENTS))
    return out


def first_of_item(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> NDArray[np.bool_]:
    """Which elements are the first of their item in their row: bool ``[n]``."""
    from fullrank.kernels import distinct as kernels

    return _of_rows(kernels.first_of_item, indptr, items, n_items, bool)


def earlier_of_item(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> NDArray[np.int64]:
    """How many elements of the same item come before each in its row: int64 ``[n]``."""
    from fullrank.kernels import distinct as kernels

    return _of_rows(kernels.earlier_of_item, indptr, items, n_items, np.int64)


def best_of_item(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    n_items: int,
    values: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """The element of each item in its row with the highest value, the first of several."""
    from fullrank.kernels import distinct as kernels

    return _of_rows(kernels.best_of_item, indptr, items, n_items, bool, values)


def _of_rows(
    kernel: Any,
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    n_items: int,
    dtype: Any,
    *more: NDArray[Any],
) -> NDArray[Any]:
    """What a kernel says of each element ``[n]``, by ranges of rows in threads."""
    out = np.empty(len(items), dtype=dtype)
    run_ragged(
        lambda first, last: kernel(indptr, items, first, last, n_items, *more, out),
        indptr,
        max(n_items, _ELEMENTS),
    )
    return out
