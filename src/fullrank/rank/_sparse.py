"""Ranking from a product of sparse matrices: work and memory go by what a query's row reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fullrank.core.errors import ScoreError
from fullrank.models._sparse import triple
from fullrank.rank._blocks import bad_score
from fullrank.rank._job import Job, capacity_of, run_blocks
from fullrank.rank._shown import shows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCK = 1024
"""Queries a block: enough that the scratch of a block, one row of items, costs little."""


def rank_sparse_product(job: Job, workers: int) -> bool:
    """Rank by ``sparse_product``; False, with nothing done, if the model has none."""
    first = job.part(slice(0, min(1, len(job.queries))))
    if len(job.eligible[0]) or not shows(job.model, "sparse_product"):
        return False
    if job.model.sparse_product(first.queries.without_targets()) is None:
        return False

    def task(start: int) -> None:
        _rank_block(job.part(slice(start, min(start + BLOCK, len(job.queries)))))

    run_blocks(task, range(0, len(job.queries), BLOCK), workers)
    return True


def _rank_block(job: Job) -> None:
    from fullrank.kernels.masks import Allowed
    from fullrank.kernels.rank_sparse import OK, Outputs, SparseProduct, rank_sparse

    b, n_items = len(job.queries), job.queries.n_items
    both = job.model.sparse_product(job.queries.without_targets())
    assert both is not None
    left, right = both
    _check_shapes(job, left, right)
    capacity = capacity_of(job.k, n_items)
    status, row, item = rank_sparse(
        SparseProduct(*triple(left, np.float32), *triple(right, np.float32)),
        Allowed(job.catalogue.items, job.catalogue.size, *job.masked(), *job.eligible),
        job.targets(),
        job.queries.target_items,
        job.lists(np.empty((b, capacity), np.int32), np.empty((b, capacity), np.float32)),
        Outputs(job.best, job.worst, job.n_candidates, job.top_items, job.top_scores),
    )
    if status != OK:
        raise bad_score(job, "NaN or +inf", row, item)


def _check_shapes(job: Job, left: csr_matrix, right: csr_matrix) -> None:
    b, n_items = len(job.queries), job.queries.n_items
    if left.shape[0] != b or left.shape[1] != right.shape[0] or right.shape[1] != n_items:
        raise ScoreError(
            f"{type(job.model).__name__}.sparse_product gave {left.shape} and {right.shape}, "
            f"expected ({b}, m) and (m, {n_items})"
        )
