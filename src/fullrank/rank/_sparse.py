"""Ranking from a product of sparse matrices: work and memory go by what a query's row reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fullrank.core.errors import ScoreError
from fullrank.models._sparse import triple
from fullrank.rank._blocks import bad_score
from fullrank.rank._job import Job, capacity_of, plan_blocks, run_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCK = 1024
"""Queries a block: enough that the scratch of a block, one row of items, costs little."""


_BYTES_PER_QUERY = 4096
"""Its row of the left matrix, targets and mask, as among factors."""

BYTES_PER_ITEM = 32
"""Scratch of a worker: a float64 sum, two int64 marks, an int32 code and a float32 score."""


def rank_sparse_product(job: Job, memory: int, workers: int) -> bool:
    """Rank by ``sparse_product``; False, with nothing done, if the model has none."""
    first = job.part(slice(0, min(1, len(job.queries))))
    if job.model.sparse_product(first.queries.without_targets()) is None:
        return False
    blocks, n_items = _SparseBlocks(), job.queries.n_items
    block, workers = plan_blocks(
        "one query's list and a row of sums",
        BLOCK,
        8 * capacity_of(job.k, n_items) + _BYTES_PER_QUERY,
        memory,
        workers,
        fixed=BYTES_PER_ITEM * n_items,
    )

    def task(start: int) -> None:
        blocks.run(job.part(slice(start, min(start + block, len(job.queries)))))

    run_blocks(task, range(0, len(job.queries), block), workers)
    return True


class _SparseBlocks:
    """Ranks blocks of queries; remembers the right matrix, which is nearly always the same."""

    def __init__(self) -> None:
        self._seen: tuple[object, csr_matrix] = (None, None)

    def run(self, job: Job) -> None:
        """Rank a part."""
        from fullrank.kernels.masks import Allowed
        from fullrank.kernels.rank_sparse import OK, Outputs, SparseProduct, rank_sparse

        b, n_items = len(job.queries), job.queries.n_items
        left, right = self._product(job)
        capacity = capacity_of(job.k, n_items)
        status, row, item = rank_sparse(
            SparseProduct(*triple(left, _float_of(left)), *triple(right, _float_of(right))),
            Allowed(job.catalogue.items, job.catalogue.size, *job.masked(), *job.eligible),
            job.targets(),
            job.queries.target_items,
            job.lists(np.empty((b, capacity), np.int32), np.empty((b, capacity), np.float32)),
            Outputs(job.best, job.worst, job.n_candidates, job.top_items, job.top_scores),
        )
        if status != OK:
            raise bad_score(job, "NaN or +inf", row, item)

    def _product(self, job: Job) -> tuple[csr_matrix, csr_matrix]:
        left, given = _checked(job, job.model.sparse_product(job.queries.without_targets()))
        known, right = self._seen
        if given is not known:
            right = _csr(job, given)
            self._seen = (given, right)
        return _csr(job, left), right


def _float_of(matrix: csr_matrix) -> type:
    """Float32 as it is, everything else as float64: sums run in float64 either way."""
    return np.float32 if matrix.dtype == np.float32 else np.float64


def _csr(job: Job, matrix: csr_matrix) -> csr_matrix:
    """As CSR whose indices lie within it."""
    out = matrix.tocsr()
    try:
        out.check_format(full_check=True)
    except ValueError as error:
        raise ScoreError(
            f"{type(job.model).__name__}.sparse_product gave a broken matrix: {error}"
        ) from error
    return out


def _checked(job: Job, both: object) -> tuple[csr_matrix, csr_matrix]:
    """The two matrices as CSR; refuses what is no pair of sparse matrices that fit."""
    from scipy.sparse import issparse

    name, b, n_items = type(job.model).__name__, len(job.queries), job.queries.n_items
    if not (isinstance(both, tuple) and len(both) == 2 and all(issparse(one) for one in both)):
        parts = both if isinstance(both, tuple) else (both,)
        found = ", ".join(type(one).__name__ for one in parts)
        raise ScoreError(
            f"{name}.sparse_product gave {found}, expected two sparse matrices, ({b}, m) and "
            f"(m, {n_items})"
        )
    left, right = both
    if left.shape[0] != b or left.shape[1] != right.shape[0] or right.shape[1] != n_items:
        raise ScoreError(
            f"{name}.sparse_product gave {left.shape} and {right.shape}, expected ({b}, m) and "
            f"(m, {n_items})"
        )
    return left, right
