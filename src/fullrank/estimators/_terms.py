"""A metric as a sum over targets, each a function of the one rank that isn't known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.ragged import as_indptr, rows_of
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.vocabulary import Vocabulary
from fullrank.metrics import RankMetric

_MOST = 30_000_000
"""Targets of made-up queries that one metric may be evaluated on."""

_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class Shapes:
    """Kinds of targets: how many of its query's precede it, and the gains of all of them.

    With ``o`` targets ahead, a target that has rank ``R`` among the items that are no targets
    stands at ``R + o``. Every rank metric is then a sum of one term a target, a function of that
    ``R`` alone: what the metric gains when this target is ranked after those ahead of it.

    Attributes:
        member: int64 ``[t]``, kind of each target; -1 if it is not ranked.
        ahead: int64 ``[s]``, ``o`` of each kind.
        pattern: int64 ``[s]``, row of ``gains`` of each kind.
        gains: gains of the targets of a query in the order of their ranks, by pattern.
        query_pattern: int64 ``[q]``; -1 for a query without targets.
    """

    member: NDArray[np.int64]
    ahead: NDArray[np.int64]
    pattern: NDArray[np.int64]
    gains: list[NDArray[np.float64]]
    query_pattern: NDArray[np.int64]

    @classmethod
    def of(cls, ranked: TargetRanks) -> Shapes:
        """Look at the targets of ranks among sampled candidates."""
        assert ranked.sample is not None
        rows, counts = rows_of(ranked.indptr), np.diff(ranked.indptr)
        missing = ranked.sample.ranks == 0
        order = np.lexsort((-ranked.gains, ranked.sample.others, missing, rows))
        gains: list[NDArray[np.float64]] = []
        query_pattern = np.full(len(ranked), -1, np.int64)
        for size in np.unique(counts[counts > 0]):
            some = np.flatnonzero(counts == size)
            table = ranked.gains[order][ranked.indptr[some][:, None] + np.arange(size)]
            distinct, inverse = np.unique(table, axis=0, return_inverse=True)
            query_pattern[some] = len(gains) + inverse.reshape(-1)
            gains.extend(distinct)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - ranked.indptr[:-1][rows[order]]
        width = int(counts.max(initial=0)) + 1
        key = query_pattern[rows] * width + place
        key[missing] = -1
        kinds, member = np.unique(key, return_inverse=True)
        if len(kinds) and kinds[0] == -1:
            kinds, member = kinds[1:], member - 1
        return cls(member.reshape(-1), kinds % width, kinds // width, gains, query_pattern)

    def __len__(self) -> int:
        return len(self.ahead)

    def terms(
        self, metric: RankMetric, kind: int, ranks: NDArray[np.int64], catalog: int
    ) -> NDArray[np.float64]:
        """What a target of a kind adds to the metric of its query, at each rank: ``[p]``.

        Args:
            metric: any rank metric.
            kind: of target.
            ranks: int64 ``[p]`` ranks among the items that are no targets, and itself.
            catalog: such items, and the target.
        """
        ahead, gains = int(self.ahead[kind]), self.gains[self.pattern[kind]]
        with_it = _made(gains, ahead, ranks, catalog)
        without = _made(gains, ahead, np.zeros(1, np.int64), catalog)
        return np.asarray(metric.per_query(with_it) - metric.per_query(without))

    def empty(self, metric: RankMetric, catalog: int) -> NDArray[np.float64]:
        """Value of each query if none of its targets were ranked: ``[q]``, NaN if undefined."""
        none = np.zeros(1, np.int64)
        made = [
            metric.per_query(_made(g, 0, none, catalog))[0] if len(g) else np.nan
            for g in self.gains
        ]
        return np.append(np.array(made, dtype=np.float64), np.nan)[self.query_pattern]

    def check(self, metrics: Sequence[RankMetric], points: int) -> None:
        """Refuse metrics that are no sums over targets here, or of too many kinds of targets.

        Raises:
            SpecError: says what would help.
        """
        for metric in metrics:
            if metric.name == "AUC" and any(len(g) > 1 and g.min() <= 0 for g in self.gains):
                raise SpecError(
                    "AUC of queries that have targets of grade 0 depends on how these stand to "
                    "the others, which sampled ranks don't tell; evaluate without a grade column"
                )
        cost = sum(len(self.gains[p]) for p in self.pattern) * points
        if cost > _MOST:
            raise SpecError(
                f"{metrics[0]} of queries with many targets of different grades has "
                f"{len(self):,} kinds of targets, more than can be estimated apart; evaluate "
                "without a grade column, or with fewer targets a query"
            )


def _made(
    gains: NDArray[np.float64], ahead: int, ranks: NDArray[np.int64], catalog: int
) -> TargetRanks:
    """Queries in which ``ahead`` targets lead, and the next has each rank (0: none)."""
    p, size = len(ranks), len(gains)
    best = np.full((p, size), UNRANKED, np.int32)
    best[:, :ahead] = np.arange(1, ahead + 1)
    best[:, ahead] = np.where(ranks > 0, np.minimum(ranks + ahead, UNRANKED - 1), UNRANKED)
    found = (best != UNRANKED).sum(axis=1)
    ids = Vocabulary(np.arange(max(p, size), dtype=np.int64), "made up")
    return TargetRanks(
        users=np.arange(p, dtype=np.int32),
        query_ids=np.zeros(p, np.int64),
        indptr=as_indptr(np.full(p, size)),
        best=best.reshape(-1),
        worst=best.reshape(-1).copy(),
        gains=np.tile(gains, p),
        items=np.tile(np.arange(size, dtype=np.int32), p),
        n_candidates=(catalog - 1 + found).astype(np.int32),
        user_vocab=ids,
        item_vocab=ids,
    )
