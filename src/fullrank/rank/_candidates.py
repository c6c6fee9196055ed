"""Ranking among candidates: each query draws its own, and only those are scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError, SpecError
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr, rows_of, take_ragged
from fullrank.core.random import derive, hash_elements, mix, uniform_elements
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.sample import Sample
from fullrank.core.text import quoted
from fullrank.models._base import Recommender
from fullrank.negatives import Negatives, Pool
from fullrank.rank._adaptive import Adaptive, Lists
from fullrank.rank._catalogue import Catalogue
from fullrank.rank._job import run_blocks
from fullrank.rank._pairs import PairScores

LEAST, BLOCK = 256, 4096
"""Queries that are prepared and written together: what isn't in kernels takes turns, by block."""

PAIRS = 1 << 21
"""Pairs a call of a model, at most (but for one query with more)."""

CACHED = 1 << 17
"""Pairs that are drawn and counted at a time from factors: they stay in the cache."""

_LARGEST = np.iinfo(np.int32).max


Candidates = Negatives | Adaptive


@dataclass(frozen=True, eq=False)
class _Work:
    """One ranking among candidates in flight: inputs, and arrays that workers fill."""

    scores: PairScores
    queries: Queries
    negatives: Negatives
    design: Candidates
    lists: Lists | None
    pool: Pool
    limits: NDArray[np.int64]
    in_catalogue: NDArray[np.bool_]
    query_keys: NDArray[np.uint64]
    item_keys: NDArray[np.uint64]
    coin_seed: int
    best: NDArray[np.int32]
    worst: NDArray[np.int32]
    sample: Sample
    scored: list[int] = field(default_factory=list)


def _pools(
    given: tuple[NDArray[np.int64], NDArray[np.int32]] | None, catalogue: Catalogue
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """What each query draws from, where it isn't the catalogue: the lists given, or eligible items.

    Raises:
        SpecError: both, or a catalogue that leaves out items by query.
    """
    if given is not None and len(catalogue.eligible_indptr):
        raise SpecError("candidates given as lists can't be combined with eligible items by query")
    if len(catalogue.excluded_indptr):
        raise SpecError(
            "sampled candidates can't be combined with a catalogue that excludes items by query; "
            "rank the full catalogue (candidates='full')"
        )
    return given if given is not None else (catalogue.eligible_indptr, catalogue.eligible_items)


def rank_candidates(
    model: Recommender,
    queries: Queries,
    design: Candidates,
    catalogue: Catalogue,
    *,
    seed: int,
    workers: int,
) -> TargetRanks:
    """Rank each target among candidates that its query draws.

    The draws depend on the seed, the outside ids of the query and the design alone: all models
    of a run rank among the same candidates.

    Args:
        model: a fitted recommender.
        queries: cases with targets.
        design: how candidates are drawn.
        catalogue: what can be drawn, and ranked.
        seed: of the draws, of the coins and of the order of equal scores.
        workers: threads.

    Raises:
        ScoreError: a candidate or target scored NaN or +inf; names model, user and item.
    """
    negatives = (design if isinstance(design, Negatives) else design.negatives).prepare(
        model.item_counts_
    )
    own = _pools(negatives.own(queries), catalogue)
    lists = None
    if isinstance(design, Adaptive):
        lists = design.lists(queries, catalogue, seed=seed, workers=workers)
    listed = None if lists is None else (lists.indptr, lists.items)
    pool = Pool.of(queries, catalogue.items, derive(seed, "candidates"), own, listed)
    t, users = len(queries.target_items), queries.user_vocab.hashes[queries.users]
    work = _Work(
        scores=PairScores.of(model),
        queries=queries,
        negatives=negatives,
        design=design,
        lists=lists,
        pool=pool,
        limits=negatives.limits(pool),
        in_catalogue=_rankable(queries, catalogue),
        query_keys=hash_elements(seed, users, queries.query_ids),
        item_keys=mix(queries.item_vocab.hashes),
        coin_seed=derive(seed, "coins"),
        best=np.empty(t, np.int32),
        worst=np.empty(t, np.int32),
        sample=_empty(t, negatives, lists),
    )
    n, size = len(queries), BLOCK
    if workers > 1:  # some blocks a thread, so that none waits long for the last
        size = min(BLOCK, max(LEAST, -(-n // (4 * workers))))
    run_blocks(
        lambda start: _rank_block(work, slice(start, min(start + size, n))),
        range(0, n, size),
        workers,
    )
    return _result(work, catalogue)


def whole_seed(seed: object) -> None:
    """Refuse what is no seed.

    Raises:
        SpecError: says what it got.
    """
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise SpecError(f"seed must be a whole number of 0 or more, got {quoted(seed)}")


def _empty(t: int, negatives: Negatives, lists: Lists | None) -> Sample:
    ranks, sizes, catalog_sizes, others, listed = (np.zeros(t, np.int32) for _ in range(5))
    return Sample(
        ranks,
        sizes,
        catalog_sizes,
        others,
        negatives.scheme,
        negatives.replacement,
        listed,
        None if lists is None else lists.k_max,
    )


def _rankable(queries: Queries, catalogue: Catalogue) -> NDArray[np.bool_]:
    """Which targets lie in the catalogue, and among what their query may get: bool ``[t]``."""
    inside = catalogue.items[queries.target_items]
    if len(catalogue.eligible_indptr):
        width = np.int64(queries.n_items)
        allowed = rows_of(catalogue.eligible_indptr) * width + catalogue.eligible_items
        wanted = rows_of(queries.target_indptr) * width + queries.target_items
        inside &= np.isin(wanted, allowed)
    return np.asarray(inside)


def _rank_block(work: _Work, rows: slice) -> None:
    """Draw, score and count for some of the queries, stage after stage."""
    t0, t1 = (int(work.queries.target_indptr[q]) for q in (rows.start, rows.stop))
    block = _Block(work, work.queries[rows], rows, slice(t0, t1))
    block.score_targets()
    if work.lists is not None:
        block.look_at_lists(work.lists)
    wanted = np.minimum(work.negatives.m, block.limits)
    stage = 0
    while True:
        block.extend(wanted)
        stage += 1
        if isinstance(work.design, Negatives) or not block.counting.any():
            break
        wanted = block.next_sizes(work.design, stage)
    block.write()


class _Block:
    """A block of queries on its way through the stages."""

    def __init__(self, work: _Work, queries: Queries, rows: slice, targets: slice) -> None:
        self.work, self.queries, self.rows, self.targets = work, queries, rows, targets
        n = len(queries.target_items)
        self.bound = work.scores.bind(queries)
        self.row_of = rows_of(queries.target_indptr)
        self.pool = work.pool[rows]
        self.limits = work.limits[rows]
        self.drawn = np.zeros(len(queries), np.int64)  # of each query
        self.sizes = np.zeros(n, np.int64)  # draws that each target was compared with
        self.above, self.equal, self.before, self.listed = (np.zeros(n, np.int32) for _ in range(4))
        self.counting = np.ones(n, dtype=bool)

    def score_targets(self) -> None:
        """Score the targets that can be ranked; the others stay at -inf."""
        q = self.queries
        self.scores = np.full(len(q.target_items), -np.inf, np.float32)
        inside = np.flatnonzero(self.work.in_catalogue[self.targets])
        indptr = as_indptr(np.bincount(self.row_of[inside], minlength=len(q)))
        self.scores[inside] = self._scored(np.arange(len(q)), indptr, q.target_items[inside])
        self.counting &= self.scores > -np.inf
        self.others = self._others(self.scores > -np.inf)

    def look_at_lists(self, lists: Lists) -> None:
        """Compare the targets with the lists; those that are beyond the cut-off then stop."""
        rows = np.unique(self.row_of[self.counting])
        indptr, places = take_ragged(lists.indptr[self.rows.start : self.rows.stop + 1], rows)
        for part in _parts(np.diff(indptr), PAIRS):
            some, flat = take_ragged(indptr, np.arange(part.start, part.stop))
            self._count(rows[part], some, lists.items[places[flat]])
        self.listed, self.before = self.before, np.zeros_like(self.before)
        self.counting &= self.listed.astype(np.int64) + self.others < lists.k_max

    def extend(self, wanted: NDArray[np.int64]) -> None:
        """Draw up to ``wanted[q]`` candidates, and count them for the targets that go on."""
        active = np.zeros(len(self.queries), dtype=bool)
        active[self.row_of[self.counting]] = True
        rows = np.flatnonzero(active & (wanted > self.drawn))
        most = PAIRS if self.bound.product is None else CACHED
        for part in _parts((wanted - self.drawn)[rows], most):
            self._extend(rows[part], wanted[rows[part]])
        self.sizes[self.counting] = np.maximum(wanted, self.drawn)[self.row_of[self.counting]]
        self.drawn[rows] = wanted[rows]

    def _extend(self, rows: NDArray[np.int64], wanted: NDArray[np.int64]) -> None:
        indptr, items = self.work.negatives.draw(self.pool[rows], self.drawn[rows], wanted)
        self._count(rows, indptr, items)

    def _count(
        self, rows: NDArray[np.int64], indptr: NDArray[np.int64], items: NDArray[np.int32]
    ) -> None:
        """Count the items that each row gets for its targets that go on."""
        from fullrank.kernels.candidates import count_before, count_before_factors

        work, bound = self.work, self.bound
        against = (
            self.queries.target_indptr,
            self.queries.target_items,
            self.scores,
            self.counting,
            work.query_keys[self.rows],
            work.item_keys,
            self.above,
            self.equal,
            self.before,
        )
        if bound.product is not None:
            mine, error, factors = bound.product
            count_before_factors(indptr, items, rows, mine, error, factors, *against)
            work.scored.append(len(items))
        else:
            count_before(indptr, items, rows, self._scored(rows, indptr, items), *against)

    def next_sizes(self, design: Adaptive, stage: int) -> NDArray[np.int64]:
        """Ask the design how far to go on: int64 ``[q]``; targets that stop are marked."""
        keys = self.work.pool.keys[self.rows][self.row_of]
        coins = uniform_elements(self.work.coin_seed + stage, keys)
        sizes = self.pool.sizes[self.row_of]
        more = design.more(stage, self.sizes, self.before.astype(np.int64), sizes, coins)
        more = np.minimum(more, self.limits[self.row_of])
        self.counting &= more > self.sizes
        wanted = self.drawn.copy()
        np.maximum.at(wanted, self.row_of[self.counting], more[self.counting])
        return wanted

    def _scored(
        self, rows: NDArray[np.int64], indptr: NDArray[np.int64], items: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        from fullrank.kernels.candidates import first_bad

        if not len(items):
            return np.zeros(0, np.float32)
        scores = self.bound(rows, indptr, items)
        self.work.scored.append(len(items))
        bad = first_bad(scores)
        if bad >= 0:
            q, row = self.queries, rows[int(np.searchsorted(indptr, bad, side="right")) - 1]
            raise ScoreError(
                f"{type(self.work.scores.model).__name__} scored {scores[bad]} for user "
                f"{q.user_vocab.label(q.users[row])} and item "
                f"{q.item_vocab.label(items[bad])}; scores must be finite, or -inf for "
                "never; check the model's settings and training data"
            )
        return scores

    def write(self) -> None:
        """Put ranks and sizes at their places."""
        work, mine = self.work, self.targets
        ranked = self.scores > -np.inf
        work.best[mine] = np.where(ranked, self.above + 1, UNRANKED)
        work.worst[mine] = np.where(ranked, self.above + self.equal + 1, UNRANKED)
        sample = work.sample
        sample.ranks[mine] = np.where(ranked, self.before + 1, 0)
        sample.sizes[mine] = np.minimum(self.sizes + 1, _LARGEST)
        sample.catalog_sizes[mine] = self.pool.sizes[self.row_of] + 1
        sample.others[mine] = self.others
        sample.listed[mine] = self.listed

    def _others(self, ranked: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Other targets of the query that precede each target."""
        q, work = self.queries, self.work
        if q.target_counts.max(initial=0) < 2:
            return np.zeros(len(ranked), np.int32)
        keys = work.query_keys[self.rows][self.row_of] ^ work.item_keys[q.target_items]
        order = np.lexsort((q.target_items, mix(keys), -self.scores, self.row_of))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - q.target_indptr[:-1][self.row_of[order]]
        return np.where(ranked, place, 0).astype(np.int32)


def _parts(counts: NDArray[np.int64], most: int) -> list[slice]:
    """Cut rows into runs with at most ``most`` pairs, or one row."""
    ends, out, start = np.cumsum(counts), [], 0
    while start < len(counts):
        before = ends[start] - counts[start]
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        out.append(slice(start, stop))
        start = stop
    return out


def _by_rank(queries: Queries, best: NDArray[np.int32]) -> NDArray[np.int64]:
    """Targets of each query by rank, gain and item."""
    if queries.target_counts.max(initial=0) < 2:
        return np.arange(len(best))
    rows = rows_of(queries.target_indptr)
    return np.lexsort((queries.target_items, -queries.target_gains, best, rows))


def _result(work: _Work, catalogue: Catalogue) -> TargetRanks:
    q, sample = work.queries, work.sample
    order = _by_rank(q, work.best)
    sizes = np.zeros(len(q), np.int32)
    np.maximum.at(sizes, rows_of(q.target_indptr), sample.sizes)
    asked = work.negatives.m + 1
    fixed = isinstance(work.design, Negatives) and sample.scheme != "given"
    short = int(np.count_nonzero((sizes > 0) & (sizes < asked))) if fixed else 0
    design = {"candidates": type(work.design).__name__, **_told(work.design)}
    if work.lists is not None:
        sizes += np.diff(work.lists.indptr).astype(np.int32)
    counts = {
        **q.counts,
        **catalogue.counts,
        "catalogue_items": catalogue.size,
        "unranked_targets": int(np.count_nonzero(work.best == UNRANKED)),
        "queries_without_targets": int(np.count_nonzero(q.target_counts == 0)),
        "queries_with_fewer_candidates": short,
        "scored_pairs": sum(work.scored),
    }
    return TargetRanks(
        users=q.users,
        query_ids=q.query_ids,
        indptr=q.target_indptr,
        best=work.best[order],
        worst=work.worst[order],
        gains=q.target_gains[order],
        items=q.target_items[order],
        n_candidates=sizes,
        user_vocab=q.user_vocab,
        item_vocab=q.item_vocab,
        others="excluded",
        design={**design, "catalogue": catalogue.name},
        counts=counts,
        sample=sample.take(order),
    )


def _told(design: Candidates) -> dict[str, Any]:
    return {name: value for name, value in design.settings().items() if value is not None}
