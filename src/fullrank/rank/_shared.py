"""Ranking where all queries share one row of scores, as popularity does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.rank._blocks import check_scores
from fullrank.rank._job import Job, run_blocks

if TYPE_CHECKING:
    from fullrank.kernels.rank_shared import SharedRow

BLOCK = 2048
"""Queries a block."""


@dataclass(frozen=True, eq=False)
class SharedBlocks:
    """Ranks queries by one row of scores.

    Attributes:
        row: the catalogue by score.
    """

    row: SharedRow

    @classmethod
    def of(cls, scores: NDArray[np.float32], catalogue: NDArray[np.bool_]) -> SharedBlocks:
        """Sort the scores ``[n_items]`` of a catalogue; none of them NaN or +inf."""
        from fullrank.kernels.rank_shared import SharedRow, group_row

        known = np.flatnonzero(catalogue)
        known = known[scores[known] > -np.inf]
        order = known[np.argsort(-scores[known], kind="stable")].astype(np.int32)
        first, size = (np.zeros(len(scores), np.int32) for _ in range(2))
        row = SharedRow(order, scores[order], first, size)
        group_row(row)
        return cls(row)

    def run(self, job: Job) -> None:
        """Rank a part."""
        from fullrank.kernels.masks import Allowed
        from fullrank.kernels.rank_shared import rank_shared

        rank_shared(
            self.row,
            Allowed(job.catalogue.items, job.catalogue.size, *job.masked(), *job.eligible),
            job.queries.target_indptr,
            job.queries.target_items,
            job.query_keys,
            job.item_keys,
            job.best,
            job.worst,
            job.n_candidates,
            job.top_items,
            job.top_scores,
        )


def rank_shared_row(job: Job, workers: int) -> bool:
    """Rank by ``shared_scores``; False, with nothing done, if the model has none to trust."""
    scores = job.model.shared_scores()
    if scores is None:
        return False
    check_scores(job.model, scores, (job.queries.n_items,), "shared_scores")
    if not bool((scores[job.catalogue.items] < np.inf).all()):
        return False  # NaN or +inf: refused if it is a candidate of some query
    blocks = SharedBlocks.of(scores, job.catalogue.items)

    def task(start: int) -> None:
        blocks.run(job.part(slice(start, min(start + BLOCK, len(job.queries)))))

    run_blocks(task, range(0, len(job.queries), BLOCK), workers)
    return True
