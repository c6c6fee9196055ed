"""Ranking from blocks of canonical scores, as any model's ``score`` gives them."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError
from fullrank.models._base import Recommender
from fullrank.rank._job import Job, capacity_of, entries_wanted

BLOCK = 64
"""Queries scored at once, cut at fixed places and the last block padded: a model whose float32
scores depend on the shape of a product is asked for the same blocks on every machine."""


@dataclass(eq=False)
class ScoreBlocks:
    """Ranks blocks of queries from rows of scores.

    Attributes:
        block: queries a block.
        k: length of lists.
    """

    block: int
    k: int

    def __post_init__(self) -> None:
        self._local = threading.local()

    def run(self, whole: Job, start: int) -> None:
        """Score and rank the queries from ``start``."""
        job = whole.part(slice(start, min(start + self.block, len(whole.queries))))
        scores = self._scores(whole, job, start)
        failed = self._rank(job, scores, guess=True)
        if len(failed):
            again = job.part(failed)
            self._rank(again, scores[failed], guess=False)
            job.take(failed, again)

    def _scores(self, whole: Job, job: Job, start: int) -> NDArray[np.float32]:
        """A block of scores; the last one is padded to the common shape for the model."""
        queries, n = job.queries, len(job.queries)
        if n < self.block and start > 0:
            rows = np.minimum(np.arange(start, start + self.block), len(whole.queries) - 1)
            queries = whole.queries[rows]
        scores = job.model.score(queries.without_targets())  # not even by mistake
        check_scores(job.model, scores, (len(queries), queries.n_items))
        return np.ascontiguousarray(scores[:n])

    def _rank(self, job: Job, scores: NDArray[np.float32], guess: bool) -> NDArray[np.int64]:
        from fullrank.kernels.masks import Allowed
        from fullrank.kernels.rank import OK, SAMPLE, rank_scores
        from fullrank.kernels.shortlist import Product

        n_items = scores.shape[1]
        none = np.zeros((len(job.queries), 0), np.float32)
        product = Product(none, none, np.zeros(len(none)), np.arange(n_items, dtype=np.int32))
        targets = job.targets()
        lists = job.lists(*self._buffers(len(none), n_items))
        guessed = self.k > 0 and guess and n_items > 2 * SAMPLE
        status, row, item = rank_scores(
            scores,
            Allowed(job.catalogue.items, job.catalogue.size, *job.masked(), *job.eligible),
            entries_wanted(self.k, SAMPLE / n_items) if guessed else 0,
            targets,
            lists,
            product,
            job.queries.target_items,
            job.n_candidates,
        )
        if status != OK:
            raise bad_score(job, scores[row, item], row, item)
        return job.finish(targets, lists, product)

    def _buffers(self, b: int, n_items: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        local = self._local
        if not hasattr(local, "places"):
            shape = (self.block, capacity_of(self.k, n_items))
            local.places, local.scores = np.empty(shape, np.int32), np.empty(shape, np.float32)
        return local.places[:b], local.scores[:b]


def check_scores(
    model: Recommender, scores: object, shape: tuple[int, ...], method: str = "score"
) -> None:
    """Refuse what is no float32 array of this shape."""
    name = f"{type(model).__name__}.{method}"
    if not isinstance(scores, np.ndarray) or isinstance(scores, np.ma.MaskedArray):
        raise ScoreError(
            f"{name} gave a {type(scores).__name__}, expected a float32 array of shape {shape}"
        )
    if scores.dtype != np.float32 or scores.shape != shape:
        raise ScoreError(f"{name} gave {scores.dtype} {scores.shape}, expected float32 {shape}")


def bad_score(job: Job, score: object, row: int, item: int) -> ScoreError:
    """The error that names model, user and item of a NaN or +inf."""
    queries = job.queries
    return ScoreError(
        f"{type(job.model).__name__} scored {score} for user "
        f"{queries.user_vocab.label(queries.users[row])} and item "
        f"{queries.item_vocab.label(item)}; scores must be finite, or -inf for never; "
        f"{_cause(job, item)}"
    )


def _cause(job: Job, item: int) -> str:
    """What to look at: the item's factors, if they are to blame, or the model."""
    name = type(job.model).__name__
    factors = job.model.item_factors() if "item_factors" in job.model.ways() else None
    bad = [] if factors is None else np.flatnonzero(~np.isfinite(factors[item])).tolist()
    if factors is None or not bad:
        return "check the model's settings and training data"
    return (
        f"{name}.item_factors holds {factors[item, bad[0]]} at [{item}, {bad[0]}]: make factors "
        "finite, and leave items that are never recommended out of the catalogue instead"
    )
