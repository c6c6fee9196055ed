"""Arithmetic of ragged arrays: a flat array and the ``indptr`` that cuts it into rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.core.threads import run_chunks


def as_indptr(counts: ArrayLike) -> NDArray[np.int64]:
    """Turn row lengths ``[q]`` into an indptr ``[q + 1]``."""
    counts = np.asarray(counts, dtype=np.int64)
    out = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def is_indptr(indptr: NDArray[Any], rows: int, n: int) -> bool:
    """True if ``indptr`` cuts ``n`` elements into ``rows`` rows: kernels trust it blindly."""
    return bool(
        indptr.shape == (rows + 1,)
        and indptr[0] == 0
        and indptr[-1] == n
        and (indptr[1:] >= indptr[:-1]).all()
    )


def rows_of(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row number of each flat element."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=np.int64), np.diff(indptr))


def take_ragged(
    indptr: NDArray[np.int64], rows: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Select rows: the indptr of the selection, and the places of its flat elements."""
    starts = indptr[rows]
    counts = indptr[rows + 1] - starts
    out = as_indptr(counts)
    flat = np.arange(out[-1], dtype=np.int64) + np.repeat(starts - out[:-1], counts)
    return out, flat


def run_ragged(task: Callable[[int, int], None], indptr: NDArray[np.int64], size: int) -> None:
    """Call ``task(first, last)`` for ranges of rows with about ``size`` elements, in threads.

    A row is never cut, so a range may be larger; each row is in one range.
    """
    starts = np.arange(0, indptr[-1], size)
    inner = np.searchsorted(indptr, starts[1:])
    edges = np.unique(np.concatenate([[0], inner, [len(indptr) - 1]]))
    run_chunks(lambda at, _: task(int(edges[at]), int(edges[at + 1])), len(edges) - 1, 1)
