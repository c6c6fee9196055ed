"""Full-catalogue ranking: one pass over blocks of scores gives ranks of targets and top lists.

Blocks are cut at fixed places (``BLOCK`` queries, the last one padded), whatever the number of
threads and the memory budget, so a model whose float32 scores depend on the shape of the product
is asked for the same blocks on every machine. Each worker holds one block at a time; nothing of
size users × items is ever made.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError, SpecError, TooLargeError
from fullrank.core.queries import Queries
from fullrank.core.random import hash_elements, mix
from fullrank.core.ranked import UNRANKED, TargetRanks, TopK
from fullrank.models._base import Recommender
from fullrank.rank._catalogue import Catalogue, as_catalogue

BLOCK = 64
"""Queries scored at once: large enough for a fast product, small enough for the cache."""

BYTES_PER_SCORE = 16
"""Upper bound of what a block costs per score: float32 scores, a float64 product, a copy."""


@dataclass(frozen=True)
class Ranking:
    """What one pass leaves behind.

    Attributes:
        targets: ranks of the held-out items.
        top: the k best items of each query, or None if k was 0.
    """

    targets: TargetRanks
    top: TopK | None


def rank(
    model: Recommender,
    queries: Queries,
    *,
    k: int = 0,
    catalogue: Catalogue | str | NDArray[np.bool_] = "fit",
    memory: int = 512 * 2**20,
    threads: int | None = None,
    seed: int = 0,
) -> Ranking:
    """Rank the catalogue for each query; history masked unless repeats are evaluated.

    Args:
        model: a fitted recommender.
        queries: cases with histories and targets.
        k: length of the lists to keep; 0 for ranks alone.
        catalogue: ``"fit"`` (items of the fitted data), ``"all"``, a mask or a Catalogue.
        memory: bound on the extra memory in bytes.
        threads: workers; all cores by default. The result is the same for any number.
        seed: of the hash that orders equal scores in the lists (ranks need none).

    Returns:
        ``Ranking`` with ``TargetRanks`` and ``TopK``.

    Raises:
        ScoreError: a candidate scored NaN or +inf; names model, user and item.
        TooLargeError: one block of scores does not fit into ``memory``.
    """
    model.check(queries)
    if k < 0:
        raise SpecError(f"k must be 0 or more, got {k}")
    chosen = as_catalogue(catalogue, model.known_items_)
    job = _Job.of(model, queries, min(k, chosen.size), chosen, seed)
    block, workers = _plan(queries.n_items, memory, threads, model.thread_safe)
    with _one_blas_thread():
        starts = range(0, len(queries), block)
        if workers == 1 or len(starts) < 2:
            for start in starts:
                job.run(start, block)
        else:
            with ThreadPoolExecutor(workers) as pool:
                for _ in pool.map(lambda start: job.run(start, block), starts):
                    pass
    return job.result()


def recommend(
    model: Recommender,
    queries: Queries,
    k: int = 10,
    *,
    catalogue: Catalogue | str | NDArray[np.bool_] = "fit",
    seed: int = 0,
) -> TopK:
    """Return the k best items of each query, history left out, ties by a seeded hash."""
    if k < 1:
        raise SpecError(f"k must be 1 or more, got {k}")
    top = rank(model, queries.without_targets(), k=k, catalogue=catalogue, seed=seed).top
    assert top is not None
    return top


def _plan(n_items: int, memory: int, threads: int | None, safe: bool) -> tuple[int, int]:
    """Block size and workers within the memory budget; fewer workers before smaller blocks."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    workers = max(1, (threads or cores or 1) if safe else 1)
    row = n_items * BYTES_PER_SCORE
    if row > memory:
        raise TooLargeError(
            f"one row of scores over {n_items:,} items needs up to {row / 2**20:,.0f} MiB and the "
            f"budget is {memory / 2**20:,.0f} MiB; raise memory="
        )
    block = BLOCK
    while block > 1 and block * row > memory:
        block //= 2
    return block, max(1, min(workers, memory // (block * row)))


def _one_blas_thread() -> AbstractContextManager[Any]:
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # pragma: no cover - a core dependency
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


@dataclass(frozen=True, eq=False)
class _Job:
    """One ranking in flight: inputs, and the arrays that the workers fill at their own places."""

    model: Recommender
    queries: Queries
    catalogue: Catalogue
    mask_history: bool
    query_keys: NDArray[np.uint64]
    item_keys: NDArray[np.uint64]
    best: NDArray[np.int32]
    worst: NDArray[np.int32]
    n_candidates: NDArray[np.int32]
    top_items: NDArray[np.int32]
    top_scores: NDArray[np.float32]

    @classmethod
    def of(
        cls, model: Recommender, queries: Queries, k: int, catalogue: Catalogue, seed: int
    ) -> _Job:
        q, t = len(queries), len(queries.target_items)
        users = queries.user_vocab.hashes[queries.users]
        return cls(
            model=model,
            queries=queries,
            catalogue=catalogue,
            mask_history=queries.repeats == "drop",
            query_keys=hash_elements(seed, users, queries.query_ids),
            item_keys=mix(queries.item_vocab.hashes),
            best=np.empty(t, np.int32),
            worst=np.empty(t, np.int32),
            n_candidates=np.empty(q, np.int32),
            top_items=np.empty((q, k), np.int32),
            top_scores=np.empty((q, k), np.float32),
        )

    def run(self, start: int, block: int) -> None:
        """Score and rank the queries from ``start``."""
        from fullrank.kernels.rank import OK, rank_block

        stop = min(start + block, len(self.queries))
        part = self.queries[start:stop]
        scores = self._scores(part, start, block)
        t = slice(int(self.queries.target_indptr[start]), int(self.queries.target_indptr[stop]))
        none = np.zeros(0, np.int32)
        e_indptr = self.catalogue.eligible_indptr
        status, row, item = rank_block(
            scores,
            self.catalogue.items,
            self.catalogue.size,
            part.history_indptr if self.mask_history else np.zeros(stop - start + 1, np.int64),
            part.history_items if self.mask_history else none,
            e_indptr[start : stop + 1] if len(e_indptr) else e_indptr,
            self.catalogue.eligible_items,
            part.target_indptr,
            part.target_items,
            self.query_keys[start:stop],
            self.item_keys,
            self.best[t],
            self.worst[t],
            self.n_candidates[start:stop],
            self.top_items[start:stop],
            self.top_scores[start:stop],
        )
        if status != OK:
            raise ScoreError(
                f"{type(self.model).__name__} scored {scores[row, item]} for user "
                f"{part.user_vocab.label(part.users[row])} and item "
                f"{part.item_vocab.label(item)}; scores must be finite, or -inf for never; check "
                "the model's settings and training data"
            )

    def _scores(self, part: Queries, start: int, block: int) -> NDArray[np.float32]:
        """A writeable block of scores; the last block is padded to the common shape."""
        n = len(part)
        if n < block and start > 0:
            part = self.queries[np.minimum(np.arange(start, start + block), len(self.queries) - 1)]
        scores = self.model.score(part.without_targets())  # not even by mistake
        shape = (len(part), self.queries.n_items)
        if not isinstance(scores, np.ndarray):
            raise ScoreError(
                f"{type(self.model).__name__}.score gave a {type(scores).__name__}, expected a "
                f"float32 array of shape {shape}"
            )
        if scores.dtype != np.float32 or scores.shape != shape:
            raise ScoreError(
                f"{type(self.model).__name__}.score gave {scores.dtype} {scores.shape}, expected "
                f"float32 {shape}"
            )
        return np.array(scores[:n], order="C")  # what the model may still hold must not be masked

    def result(self) -> Ranking:
        q = self.queries
        unranked = int(np.count_nonzero(self.best == UNRANKED))
        targets = TargetRanks(
            users=q.users,
            query_ids=q.query_ids,
            indptr=q.target_indptr,
            best=self.best,
            worst=self.worst,
            gains=q.target_gains,
            items=q.target_items,
            n_candidates=self.n_candidates,
            user_vocab=q.user_vocab,
            item_vocab=q.item_vocab,
            design={"candidates": "full", "catalogue": self.catalogue.name},
            counts={
                **q.counts,
                **self.catalogue.counts,
                "catalogue_items": self.catalogue.size,
                "unranked_targets": unranked,
                "queries_without_targets": int(np.count_nonzero(q.target_counts == 0)),
            },
        )
        if not self.top_items.shape[1]:
            return Ranking(targets, None)
        top = TopK(
            self.top_items, self.top_scores, q.users, q.query_ids, q.user_vocab, q.item_vocab
        )
        return Ranking(targets, top)
