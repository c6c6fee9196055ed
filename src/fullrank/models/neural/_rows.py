"""Histories as bags of items: batches of users, and sums of item vectors over a history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.random import derive, hash_elements
from fullrank.models.neural._task import Batch
from fullrank.models.neural._torch import Tensor, torch

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Bags:
    """The rows of a binary users × items matrix, as PyTorch wants them.

    Attributes:
        indptr: int64 ``[n + 1]``.
        items: int64 ``[nnz]``.
    """

    def __init__(self, matrix: csr_matrix) -> None:
        self.indptr = torch.from_numpy(matrix.indptr.astype(np.int64))
        self.items = torch.from_numpy(matrix.indices.astype(np.int64))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def take(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Items of some rows one after another ``[t]``, and which row each belongs to ``[t]``."""
        starts, counts = self.indptr[rows], self.indptr[rows + 1] - self.indptr[rows]
        row = torch.repeat_interleave(torch.arange(len(rows)), counts)
        ends = torch.cumsum(counts, 0)
        within = torch.arange(len(row)) - (ends - counts)[row]
        return self.items[starts[row] + within], row

    def targets(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Items of some rows one after another ``[t]``, and how many each has ``[len(rows)]``."""
        return self.take(rows)[0], self.indptr[rows + 1] - self.indptr[rows]


class _BagSum(torch.autograd.Function):
    """Bags of items forward, bags of rows back: no vector of a single entry is ever written."""

    @staticmethod
    def forward(
        ctx: Any, table: Tensor, items: Tensor, rows: Tensor, weights: Tensor, n: int
    ) -> Tensor:
        ctx.save_for_backward(items, rows, weights)
        ctx.n_items = len(table)
        return _summed(table, items, rows, weights, n)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        items, rows, weights = ctx.saved_tensors
        order = torch.argsort(items, stable=True)
        given = (rows[order], items[order], weights[order], ctx.n_items)
        return _summed(grads[0].contiguous(), *given), None, None, None, None


def _summed(table: Tensor, items: Tensor, rows: Tensor, weights: Tensor, n: int) -> Tensor:
    """``sum weights * table[items]`` by row, of rows in ascending order."""
    counts = torch.bincount(rows, minlength=n)
    found: Tensor = torch.nn.functional.embedding_bag(
        items, table, torch.cumsum(counts, 0) - counts, mode="sum", per_sample_weights=weights
    )
    return found


def bag_sum(table: Tensor, items: Tensor, rows: Tensor, n: int, weights: Tensor) -> Tensor:
    """``sum weights * table[items]`` by row: ``[n, d]``, with a gradient for the table.

    Args:
        table: ``[n_items, d]``.
        items: int64 ``[t]``.
        rows: int64 ``[t]``, ascending.
        n: rows.
        weights: ``[t]``; entries of weight 0 are left out, and cost nothing.
    """
    kept = weights.nonzero()[:, 0]
    summed: Tensor = _BagSum.apply(table, items[kept], rows[kept], weights[kept], n)
    return summed


def shuffled(
    rows: NDArray[np.int64], hashes: NDArray[np.uint64], size: int, seed: int, epoch: int
) -> Iterator[NDArray[np.int64]]:
    """Rows in the order of hashes of seed, epoch and outside id, ``size`` at a time."""
    order = rows[np.argsort(hash_elements(derive(seed, "order", epoch), hashes), kind="stable")]
    for start in range(0, len(order), size):
        yield order[start : start + size]


def user_batches(
    matrix: csr_matrix, hashes: NDArray[np.uint64], size: int, seed: int, epoch: int
) -> Iterator[Batch]:
    """Batches ``{"users": [b]}`` of the users that have items, in a new order each epoch."""
    rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
    for part in shuffled(rows, hashes[rows], size, seed, epoch):
        yield {"users": torch.from_numpy(part)}
