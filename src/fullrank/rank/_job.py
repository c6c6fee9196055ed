"""One ranking in flight: its inputs, and the arrays that the workers fill at their own places."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, TooLargeError
from fullrank.core.queries import Queries
from fullrank.core.ragged import rows_of, take_ragged
from fullrank.core.random import hash_elements, mix
from fullrank.core.ranked import UNRANKED, TargetRanks, TopK
from fullrank.models._base import Recommender
from fullrank.rank._catalogue import Catalogue

if TYPE_CHECKING:
    from fullrank.kernels.shortlist import Product, Shortlists
    from fullrank.kernels.targets import Targets

Rows = tuple[NDArray[np.int64], NDArray[np.int32]]

_SURE = 3.3
"""Standard deviations by which a guessed threshold is kept on the safe side: 1 in 2,000 fails."""


@dataclass(frozen=True)
class Ranking:
    """What one pass leaves behind.

    Attributes:
        targets: ranks of the held-out items.
        top: the k best items of each query, or None if k was 0.
    """

    targets: TargetRanks
    top: TopK | None


@dataclass(frozen=True, eq=False)
class Job:
    """Inputs and outputs of a ranking; ``k`` is at most the size of the catalogue."""

    model: Recommender
    queries: Queries
    catalogue: Catalogue
    k: int
    query_keys: NDArray[np.uint64]
    item_keys: NDArray[np.uint64]
    best: NDArray[np.int32]
    worst: NDArray[np.int32]
    n_candidates: NDArray[np.int32]
    top_items: NDArray[np.int32]
    top_scores: NDArray[np.float32]
    eligible: Rows
    """CSR of the items each query may get; an empty ``indptr`` for no restriction."""
    hidden: Rows
    """CSR of the items that are left out: the history and what the catalogue excludes beside it."""

    @classmethod
    def of(
        cls, model: Recommender, queries: Queries, k: int, catalogue: Catalogue, seed: int
    ) -> Job:
        """Lay out the outputs, and draw the keys that order ties in lists."""
        q, t = len(queries), len(queries.target_items)
        for what, way in (("eligible", "restricted"), ("excluded", "without")):
            indptr = getattr(catalogue, f"{what}_indptr")
            made_for = getattr(catalogue, f"{what}_users")
            if len(indptr) and not (
                len(indptr) == q + 1 and np.array_equal(made_for, queries.users)
            ):
                raise DataError(
                    f"the catalogue's {what} items were made for other queries; call "
                    f"catalogue.{way}(queries, …) with these"
                )
        users = queries.user_vocab.hashes[queries.users]
        k = min(k, catalogue.size)
        return cls(
            model=model,
            queries=queries,
            catalogue=catalogue,
            k=k,
            query_keys=hash_elements(seed, users, queries.query_ids),
            item_keys=mix(queries.item_vocab.hashes),
            best=np.empty(t, np.int32),
            worst=np.empty(t, np.int32),
            n_candidates=np.empty(q, np.int32),
            top_items=np.empty((q, k), np.int32),
            top_scores=np.empty((q, k), np.float32),
            eligible=(catalogue.eligible_indptr, catalogue.eligible_items),
            hidden=_hidden(queries, catalogue),
        )

    def part(self, rows: slice | NDArray[np.int64]) -> Job:
        """Some of the queries: a slice shares the outputs, row numbers get new ones."""
        queries = self.queries[rows]
        if isinstance(rows, slice):
            indptr = self.queries.target_indptr
            t = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
            best, worst = self.best[t], self.worst[t]
        else:
            best, worst = (np.empty(len(queries.target_items), np.int32) for _ in range(2))
        return Job(
            self.model,
            queries,
            self.catalogue,
            self.k,
            self.query_keys[rows],
            self.item_keys,
            best,
            worst,
            self.n_candidates[rows],
            self.top_items[rows],
            self.top_scores[rows],
            self._eligible(rows),
            self._masked(rows, queries),
        )

    def _masked(self, rows: slice | NDArray[np.int64], queries: Queries) -> Rows:
        """What is left out of some of the queries."""
        if not len(self.catalogue.excluded_indptr):
            return _hidden(queries, self.catalogue)
        if isinstance(rows, slice):
            rows = np.arange(len(self.queries))[rows]
        indptr, take = take_ragged(self.hidden[0], rows)
        return _settled(indptr, self.hidden[1][take])

    def _eligible(self, rows: slice | NDArray[np.int64]) -> Rows:
        indptr, items = self.eligible
        if not len(indptr):
            return self.eligible
        if isinstance(rows, slice):
            return indptr[rows.start : rows.stop + 1], items
        indptr, take = take_ragged(indptr, rows)
        return indptr, items[take]

    def take(self, rows: NDArray[np.int64], part: Job) -> None:
        """Take over the results of a part that was made from row numbers."""
        _, targets = take_ragged(self.queries.target_indptr, rows)
        self.best[targets], self.worst[targets] = part.best, part.worst
        self.n_candidates[rows] = part.n_candidates
        self.top_items[rows], self.top_scores[rows] = part.top_items, part.top_scores

    def masked(self) -> Rows:
        """Items to leave out (CSR): of histories, none of them where repeats are evaluated."""
        return self.hidden

    def targets(self) -> Targets:
        """Empty counts for the targets."""
        from fullrank.kernels.targets import Targets

        q, t = len(self.queries), len(self.queries.target_items)
        ints, floats = np.empty((5, t), np.int32), np.empty((4, t), np.float32)
        return Targets(
            self.queries.target_indptr,
            np.empty(q, np.int64),
            order=ints[0],
            places=ints[1],
            scores=floats[0],
            hi=floats[1],
            lo=floats[2],
            over=floats[3],
            reach=ints[2],
            above=ints[3],
            level=ints[4],
        )

    def lists(self, places: NDArray[np.int32], scores: NDArray[np.float32]) -> Shortlists:
        """Empty lists in the given buffers ``[q, capacity]``."""
        from fullrank.kernels.shortlist import Shortlists

        q = len(self.queries)
        return Shortlists(
            self.k,
            places,
            scores,
            np.zeros(q, np.int32),
            np.full(q, -np.inf, np.float32),
            np.full(q, -1, np.int32),
            self.query_keys,
            self.item_keys,
        )

    def finish(self, targets: Targets, lists: Shortlists, product: Product) -> NDArray[np.int64]:
        """Write ranks and lists; the queries whose guessed threshold failed."""
        from fullrank.kernels.rank import finish_block

        failed = np.empty(len(self.queries), dtype=bool)
        finish_block(
            targets,
            lists,
            product,
            self.best,
            self.worst,
            self.top_items,
            self.top_scores,
            failed,
        )
        return np.flatnonzero(failed)

    def result(self) -> Ranking:
        """The outputs with what they mean."""
        q = self.queries
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
                "unranked_targets": int(np.count_nonzero(self.best == UNRANKED)),
                "queries_without_targets": int(np.count_nonzero(q.target_counts == 0)),
            },
        )
        if not self.k:
            return Ranking(targets, None)
        top = TopK(
            self.top_items, self.top_scores, q.users, q.query_ids, q.user_vocab, q.item_vocab
        )
        return Ranking(targets, top)


def _hidden(queries: Queries, catalogue: Catalogue) -> Rows:
    """Histories, unless repeats are evaluated, with what the catalogue excludes beside them."""
    own = queries.history_indptr, queries.history_items
    if queries.repeats != "drop":
        own = _settled(np.zeros(len(queries) + 1, np.int64), np.zeros(0, np.int32))
    if not len(catalogue.excluded_indptr):
        return own
    more = catalogue.excluded_indptr, catalogue.excluded_items
    rows = np.concatenate([rows_of(own[0]), rows_of(more[0])])
    items = np.concatenate([own[1], more[1]])[np.argsort(rows, kind="stable")]
    return _settled(own[0] + more[0], items)


def _settled(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> Rows:
    """Read-only, as columns of queries are: kernels are compiled for these."""
    indptr.flags.writeable = items.flags.writeable = False
    return indptr, items


def capacity_of(k: int, n_items: int) -> int:
    """Slots of a list's buffer, in whole vectors: room to collect before it is tidied."""
    if k == 0:
        return 0
    slots = min(4 * k + 128, max(n_items, k) + 64)
    return (slots + 15) // 16 * 16


def entries_wanted(k: int, share: float) -> int:
    """Entries to keep from a share of the catalogue, so that the k best overall are among them.

    Of the k best, a random share holds a Poisson number; conversely the rank overall of the r-th
    best of a share is about ``(r ± sqrt(r)) / share``. The least r with
    ``r - _SURE * sqrt(r) >= k * share``.
    """
    root = (_SURE + math.sqrt(_SURE**2 + 4.0 * k * share)) / 2.0
    return math.ceil(root**2)


def plan_blocks(
    what: str, block: int, row: int, memory: int, workers: int, fixed: int = 0
) -> tuple[int, int]:
    """Queries a block and workers within a budget; fewer workers before smaller blocks.

    Args:
        what: one query's part of a block takes, for the message.
        block: queries at most.
        row: bytes of a query.
        memory: the budget in bytes.
        workers: at most.
        fixed: bytes of a worker, whatever its block.

    Raises:
        TooLargeError: one worker with one query does not fit.
    """
    if fixed + row > memory:
        raise TooLargeError(
            f"{what} needs up to {(fixed + row) / 2**20:,.2f} MiB and the budget is "
            f"{memory / 2**20:,.2f} MiB; raise memory="
        )
    while fixed + block * row > memory:
        block //= 2
    return block, max(1, min(workers, memory // (fixed + block * row)))


def run_blocks(task: Callable[[int], object], starts: Iterable[int], workers: int) -> None:
    """Call ``task`` for each start, in threads; stops at the first error and raises it."""
    if workers == 1:
        for start in starts:
            task(start)
        return
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(task, start) for start in starts]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
