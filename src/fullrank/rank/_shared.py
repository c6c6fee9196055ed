"""Ranking where all queries share one row of scores, as popularity does."""

from __future__ import annotations

import numpy as np

from fullrank.rank._blocks import check_scores
from fullrank.rank._job import Job, run_blocks
from fullrank.rank._shown import shows

BLOCK = 2048
"""Queries a block."""


def rank_shared_row(job: Job, workers: int) -> bool:
    """Rank by ``shared_scores``; False, with nothing done, if the model has none to trust."""
    from fullrank.kernels.masks import Allowed
    from fullrank.kernels.rank_shared import SharedRow, group_row, rank_shared

    if not shows(job.model, "shared_scores"):
        return False
    scores = job.model.shared_scores()
    if scores is None or len(job.eligible[0]):
        return False
    check_scores(job.model, scores, (job.queries.n_items,), "shared_scores")
    known = np.flatnonzero(job.catalogue.items)
    if not bool((scores[known] < np.inf).all()):
        return False  # NaN or +inf: refused if it is a candidate of some query
    known = known[scores[known] > -np.inf]
    order = known[np.argsort(-scores[known], kind="stable")].astype(np.int32)
    first, size = (np.zeros(job.queries.n_items, np.int32) for _ in range(2))
    row = SharedRow(order, scores[order], first, size)
    group_row(row)

    def task(start: int) -> None:
        part = job.part(slice(start, min(start + BLOCK, len(job.queries))))
        rank_shared(
            row,
            Allowed(job.catalogue.items, job.catalogue.size, *part.masked(), *part.eligible),
            part.queries.target_indptr,
            part.queries.target_items,
            part.query_keys,
            part.item_keys,
            part.best,
            part.worst,
            part.n_candidates,
            part.top_items,
            part.top_scores,
        )

    run_blocks(task, range(0, len(job.queries), BLOCK), workers)
    return True
