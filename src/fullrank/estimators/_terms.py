"""A metric as a sum over targets, each a function of the one rank that isn't known.

With ``o`` targets of its query and ``h`` items of a list ahead, a target that has rank ``R`` among
the items that are no targets and not listed stands at ``R + h + o``. Every rank metric is then a
sum of one term a target, a function of that ``R`` alone: what the metric gains when the target is
ranked after those ahead of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.ragged import as_indptr, rows_of, take_ragged
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.vocabulary import Vocabulary
from fullrank.metrics import RankMetric, per_query_many

SEPARABLE = (
    "AUC", "DCG", "F1", "HitRate", "MAP", "MRR", "NDCG", "Precision", "RBP", "Recall"
)  # fmt: skip
"""Metrics whose terms of the same ``o`` and ``h`` are multiples of each other, by grades and the
number of targets: one function serves them all. Of others each kind has its own."""

_MOST = 30_000_000
"""Targets of made-up queries that one metric without that may be evaluated on."""

_CHUNK = 1 << 20


class Terms(NamedTuple):
    """Terms of one metric: a target of kind ``i`` has ``scale[i] * shape[member[i]](R)``.

    Attributes:
        member: int64 ``[kinds]``.
        scale: float64 ``[kinds]``; 0 where the metric is undefined.
        shapes: kinds whose terms are the shapes.
    """

    member: NDArray[np.int64]
    scale: NDArray[np.float64]
    shapes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Kinds:
    """Targets that have the same terms: by what is ahead of them, and the gains of their query.

    Attributes:
        member: int64 ``[t]``, kind of each target; -1 if it is not ranked, or surely beyond the
            deepest cut-off.
        ahead: int64 ``[s]``, ``o`` of each kind.
        listed: int64 ``[s]``, ``h`` of each kind.
        pattern: int64 ``[s]``, row of ``gains`` of each kind.
        indptr: int64 ``[p + 1]`` into ``gains``.
        gains: float64, gains of the targets of a query in the order of their ranks, by pattern.
        query_pattern: int64 ``[q]``; -1 for a query without targets.
    """

    member: NDArray[np.int64]
    ahead: NDArray[np.int64]
    listed: NDArray[np.int64]
    pattern: NDArray[np.int64]
    indptr: NDArray[np.int64]
    gains: NDArray[np.float64]
    query_pattern: NDArray[np.int64]

    @classmethod
    def of(cls, ranked: TargetRanks) -> Kinds:
        """Look at the targets of ranks among sampled candidates."""
        sample = ranked.sample
        assert sample is not None
        rows, counts = rows_of(ranked.indptr), np.diff(ranked.indptr)
        missing = sample.ranks == 0
        if counts.max(initial=0) > 1:
            order = np.lexsort((-ranked.gains, sample.others, missing, rows))
        else:
            order = np.arange(len(rows))
        patterns, query_pattern = _patterns(ranked.gains[order], ranked.indptr)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - ranked.indptr[:-1][rows[order]]
        width, most = int(counts.max(initial=0)) + 1, int(sample.listed.max(initial=0)) + 1
        key = (query_pattern[rows] * width + place) * most + sample.listed
        key[missing | sample.settled] = -1
        kinds, member = np.unique(key, return_inverse=True)
        member = member.reshape(-1)
        if len(kinds) and kinds[0] == -1:
            kinds, member = kinds[1:], member - 1
        return cls(
            member,
            kinds // most % width,
            kinds % most,
            kinds // most // width,
            as_indptr([len(p) for p in patterns]),
            np.concatenate([np.zeros(0), *patterns]),
            query_pattern,
        )

    def __len__(self) -> int:
        return len(self.ahead)

    def terms(
        self, metrics: Sequence[RankMetric], kinds: NDArray[np.int64], catalog: int
    ) -> list[Terms]:
        """Terms of each metric for targets of some kinds.

        Args:
            metrics: any rank metrics.
            kinds: int64 ``[n]``.
            catalog: items that are no targets and not listed, and the target.

        Raises:
            SpecError: so many kinds that their terms can't be made.
        """
        none = np.zeros(0, np.int64)
        if not len(kinds):
            return [Terms(none, np.zeros(0), none) for _ in metrics]
        first = np.nan_to_num(self.values(metrics, kinds, np.ones(len(kinds), np.int64), catalog))
        return [self._terms(m, kinds, first[:, j], catalog) for j, m in enumerate(metrics)]

    def _terms(
        self, metric: RankMetric, kinds: NDArray[np.int64], first: NDArray[np.float64], catalog: int
    ) -> Terms:
        """Terms of a metric, from what each kind adds at rank 1."""
        if metric.name not in SEPARABLE or metric.dialect is not None:
            self._check_cost(metric, kinds, catalog)
            return Terms(np.arange(len(kinds)), (first != 0) * 1.0, kinds)
        both = self.ahead[kinds] * (int(self.listed.max()) + 1) + self.listed[kinds]
        offsets, member = np.unique(both, return_inverse=True)
        member = member.reshape(-1)
        largest = np.zeros(len(offsets))
        np.maximum.at(largest, member, np.abs(first))
        shapes = np.empty(len(offsets), np.int64)
        leads = np.flatnonzero(np.abs(first) == largest[member])
        shapes[member[leads][::-1]] = kinds[leads][::-1]
        scale = first / np.where(largest > 0, largest, 1.0)[member]
        return Terms(member, np.abs(scale), shapes)

    def function(
        self, metrics: Sequence[RankMetric], kind: int, catalog: int
    ) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
        """The terms of a kind as functions of the rank: ``[n, metrics]`` for ranks ``[n]``.

        0 beyond the deepest cut-off, without a look.
        """
        ahead = int(self.ahead[kind] + self.listed[kind])
        cuts = [metric.k for metric in metrics if metric.k is not None]
        deepest = max(cuts) if len(cuts) == len(metrics) else None

        def term(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
            out = np.zeros((len(ranks), len(metrics)))
            seen = np.arange(len(ranks))
            if deepest is not None:
                seen = np.flatnonzero(ranks + ahead <= deepest)
            inside = np.minimum(ranks[seen], catalog)  # AUC takes catalogues for ones of mean size
            if len(seen):
                found = self.values(metrics, np.full(len(seen), kind), inside, catalog)
                out[seen] = np.nan_to_num(found)
            return out

        return term

    def values(
        self,
        metrics: Sequence[RankMetric],
        kinds: NDArray[np.int64],
        ranks: NDArray[np.int64],
        catalog: int,
    ) -> NDArray[np.float64]:
        """What a target of each kind adds to the metrics of its query at a rank: ``[n, j]``."""
        out = np.empty((len(kinds), len(metrics)))
        size = np.diff(self.indptr)[self.pattern[kinds]]
        step = max(1, int(_CHUNK / max(1.0, size.mean())))
        for at in range(0, len(kinds), step):
            part = slice(at, at + step)
            ahead, pattern = self.ahead[kinds[part]], self.pattern[kinds[part]]
            listed = self.listed[kinds[part]]
            items = catalog + int(listed.max(initial=0))
            placed = ranks[part] + listed
            with_it = _evaluated(metrics, self._made(pattern, ahead, placed, items))
            without = _evaluated(metrics, self._made(pattern, ahead, np.zeros_like(placed), items))
            out[part] = with_it - without
        return out

    def empty(self, metrics: Sequence[RankMetric], catalog: int) -> NDArray[np.float64]:
        """Values of the queries of each pattern if none of their targets were ranked.

        Returns:
            float64 ``[p + 1, metrics]``, NaN where undefined; the last row is that of a query
            without targets, whose pattern is -1.
        """
        every = np.arange(len(self.indptr) - 1)
        none = np.zeros(len(every), np.int64)
        found = _evaluated(metrics, self._made(every, none, none, catalog))
        return np.concatenate([found, np.full((1, len(metrics)), np.nan)])

    def check(self, metrics: Sequence[RankMetric]) -> None:
        """Refuse metrics that are no sums over targets here.

        Raises:
            SpecError: says what would help.
        """
        sizes = np.diff(self.indptr)
        several = np.repeat(sizes > 1, sizes)
        for metric in metrics:
            least = np.nextafter(0.0, 1.0) if metric.rel is None else metric.rel
            if metric.name == "AUC" and bool((several & (self.gains < least)).any()):
                what = "of grade 0" if metric.rel is None else f"of grades below {metric.rel:g}"
                raise SpecError(
                    f"AUC of queries that have targets {what} depends on how these stand to the "
                    "others, which sampled ranks don't tell; evaluate without a grade column"
                )

    def _check_cost(self, metric: RankMetric, kinds: NDArray[np.int64], catalog: int) -> None:
        points = min(catalog, 2000) if metric.k is None else metric.k
        cost = float(np.diff(self.indptr)[self.pattern[kinds]].sum()) * points
        if cost > _MOST:
            raise SpecError(
                f"{metric} of queries with several targets has {len(kinds):,} kinds of targets "
                "here, too many to estimate apart; take a metric such as ndcg@10 or recall@10, or "
                "one target a query"
            )

    def _made(
        self,
        patterns: NDArray[np.int64],
        ahead: NDArray[np.int64],
        ranks: NDArray[np.int64],
        catalog: int,
    ) -> TargetRanks:
        """Queries in which ``ahead`` targets lead, and the next has a rank (0: none)."""
        indptr, take = take_ragged(self.indptr, patterns)
        n, sizes = len(patterns), np.diff(indptr)
        place = np.arange(indptr[-1]) - np.repeat(indptr[:-1], sizes)
        best = np.where(place < np.repeat(ahead, sizes), place + 1, UNRANKED)
        placed = np.flatnonzero((ranks > 0) & (sizes > ahead))
        at = (indptr[:-1] + ahead)[placed]
        best[at] = np.minimum(ranks[placed] + ahead[placed], UNRANKED - 1)
        found = np.add.reduceat(np.append(best != UNRANKED, 0), indptr[:-1]) if n else sizes
        found = np.where(sizes > 0, found, 0)
        ids = Vocabulary(np.arange(max(n, int(sizes.max(initial=1))), dtype=np.int64), "made up")
        best = best.astype(np.int32)
        return TargetRanks(
            users=np.arange(n, dtype=np.int32),
            query_ids=np.zeros(n, np.int64),
            indptr=indptr,
            best=best,
            worst=best.copy(),
            gains=self.gains[take],
            items=place.astype(np.int32),
            n_candidates=(catalog - 1 + found).astype(np.int32),
            user_vocab=ids,
            item_vocab=ids,
        )


def _evaluated(metrics: Sequence[RankMetric], ranks: TargetRanks) -> NDArray[np.float64]:
    """Values ``[q, metrics]`` of made-up queries."""
    found = per_query_many(ranks, metrics)
    return np.stack([found[metric] for metric in metrics], axis=1)


def _patterns(
    gains: NDArray[np.float64], indptr: NDArray[np.int64]
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """Distinct rows of gains, and the row of each query; -1 without targets."""
    counts = np.diff(indptr)
    patterns: list[NDArray[np.float64]] = []
    member = np.full(len(counts), -1, np.int64)
    for size in np.unique(counts[counts > 0]):
        some = np.flatnonzero(counts == size)
        table = gains[indptr[some][:, None] + np.arange(size)]
        distinct, inverse = np.unique(table, axis=0, return_inverse=True)
        member[some] = len(patterns) + inverse.reshape(-1)
        patterns.extend(distinct)
    return patterns, member
