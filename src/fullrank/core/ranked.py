"""TargetRanks, TopK and Predictions: what ranking leaves behind, and all that metrics need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.errors import ScoreError
from fullrank.core.ragged import as_indptr, is_indptr, rows_of, run_ragged, take_ragged
from fullrank.core.sample import Sample
from fullrank.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

UNRANKED = np.iinfo(np.int32).max
"""``best`` and ``worst`` of a target that is not among the ranked items."""

_BAD_RANK, _UNORDERED = 1, 2  # as in kernels.places
_TARGETS = 1 << 17  # targets that one task looks through


@dataclass(frozen=True, eq=False)
class TargetRanks:
    """For every held-out item the ranks that ties allow; every rank metric comes from this.

    Targets of a query are kept in the order of ``best``, then gain descending, then item, and
    two targets of a query with the same ``best`` lie in one block of equal scores.

    Attributes:
        users: int32 ``[q]`` user codes: the unit of resampling.
        query_ids: int64 ``[q]``, number of the case within its user.
        indptr: int64 ``[q + 1]`` into the arrays of targets.
        best: int32 ``[t]``, 1-based: 1 + candidates that score higher. ``UNRANKED`` for a target
            outside the catalogue, scored -inf, or missing from a list.
        worst: int32 ``[t]``: candidates that score at least as high, the target included.
        gains: float64 ``[t]`` grades.
        items: int32 ``[t]`` item codes.
        n_candidates: int32 ``[q]`` items that the ranked targets stand among, themselves included
            and unranked targets not; 0 where it isn't known (lists without scores of the whole
            catalogue).
        user_vocab: outside user ids.
        item_vocab: outside item ids.
        others: ``"counted"`` if the other targets of a query were among the candidates (full
            ranking, lists), ``"excluded"`` if not (sampled ranking).
        depth: declared depth of the lists, or None for a complete ranking.
        design: how candidates were drawn (``{"candidates": "full"}`` …).
        counts: policies applied while ranking, by name (unranked targets, short lists, …).
        sample: of ranks among drawn candidates: what tells of the rank in the whole catalogue.
    """

    users: NDArray[np.int32]
    query_ids: NDArray[np.int64]
    indptr: NDArray[np.int64]
    best: NDArray[np.int32]
    worst: NDArray[np.int32]
    gains: NDArray[np.float64]
    items: NDArray[np.int32]
    n_candidates: NDArray[np.int32]
    user_vocab: Vocabulary
    item_vocab: Vocabulary
    others: Literal["counted", "excluded"] = "counted"
    depth: int | None = None
    design: dict[str, Any] = field(default_factory=lambda: {"candidates": "full"})
    counts: dict[str, int] = field(default_factory=dict)
    sample: Sample | None = None

    def __post_init__(self) -> None:
        t = len(self.best)
        if self.sample is not None and len(self.sample) != t:
            raise ScoreError(f"the sample speaks of {len(self.sample)} targets, expected {t}")
        for name in ("worst", "gains", "items"):
            if getattr(self, name).shape != (t,):
                raise ScoreError(
                    f"{name} has shape {getattr(self, name).shape}, expected ({t},) like best"
                )
        if not is_indptr(self.indptr, len(self), t):
            raise ScoreError(
                f"indptr must have shape ({len(self) + 1},), start at 0, never fall and end at "
                f"{t}, as there are {len(self)} users and {t} ranks; got shape {self.indptr.shape}"
            )
        for name in ("indptr", "best", "worst", "gains", "items"):
            # Kernels are compiled for arrays that can be written to, lie in order and are native.
            object.__setattr__(self, name, np.require(getattr(self, name), requirements=["C", "W"]))
        found = self._look()
        if found == _BAD_RANK:
            raise ScoreError("ranks are 1-based with best <= worst")
        if found == _UNORDERED:
            self._sort()

    def _look(self) -> int:
        """Whether the targets are fine, out of order, or have ranks that are none."""
        from fullrank.kernels.places import check_targets

        found = [0]
        columns = (self.indptr, self.best, self.worst, self.gains, self.items)
        run_ragged(
            lambda first, last: found.append(check_targets(*columns, first, last)),
            self.indptr,
            _TARGETS,
        )
        return _BAD_RANK if _BAD_RANK in found else max(found)

    def _sort(self) -> None:
        """Bring the targets of each query into their order."""
        if self.sample is not None:
            return self._sort_all()
        from fullrank.kernels.places import sort_targets

        best, worst = self.best.copy(), self.worst.copy()
        gains, items = self.gains.copy(), self.items.copy()
        left = np.zeros(len(self), dtype=bool)
        run_ragged(
            lambda first, last: sort_targets(
                self.indptr, best, worst, gains, items, first, last, left
            ),
            self.indptr,
            _TARGETS,
        )
        made: dict[str, NDArray[Any]] = {
            "best": best, "worst": worst, "gains": gains, "items": items
        }  # fmt: skip
        for q in np.flatnonzero(left):
            row = slice(self.indptr[q], self.indptr[q + 1])
            order = np.lexsort((items[row], -gains[row], best[row]))
            for column in made.values():
                column[row] = column[row][order]
        for name, column in made.items():
            object.__setattr__(self, name, column)
        return None

    def _sort_all(self) -> None:
        """The same by one sort of all targets, which takes the sample along."""
        assert self.sample is not None
        order = np.lexsort((self.items, -self.gains, self.best, rows_of(self.indptr)))
        for name in ("best", "worst", "gains", "items"):
            object.__setattr__(self, name, getattr(self, name)[order])
        object.__setattr__(self, "sample", self.sample.take(order))

    @classmethod
    def of(
        cls,
        ranks: Sequence[Sequence[int | None]],
        gains: Sequence[Sequence[float]] | None = None,
        *,
        worst: Sequence[Sequence[int | None]] | None = None,
        n_candidates: Sequence[int] | None = None,
        users: Sequence[int] | None = None,
        depth: int | None = None,
        others: Literal["counted", "excluded"] = "counted",
    ) -> TargetRanks:
        """Build ranks from lists, one list a query; for examples and tests.

        Args:
            ranks: rank of each target, or None for one that is not ranked.
            gains: grade of each target; 1.0 without.
            worst: last rank of each target's block of equal scores; as ``ranks`` without.
            n_candidates: ``[q]``; 0, not known, without.
            users: ``[q]`` user codes; each query is a user of its own without.
            depth: declared depth of the lists.
            others: whether targets were candidates of each other.
        """
        lengths = [len(row) for row in ranks]
        flat = [UNRANKED if rank is None else rank for row in ranks for rank in row]
        last = [UNRANKED if rank is None else rank for row in worst or ranks for rank in row]
        grades = [1.0] * len(flat) if gains is None else [g for row in gains for g in row]
        codes = np.arange(len(ranks)) if users is None else np.asarray(users)
        n_users, n_items = int(codes.max(initial=-1)) + 1, max(lengths, default=0)
        return cls(
            users=codes.astype(np.int32),
            query_ids=np.arange(len(ranks), dtype=np.int64),
            indptr=as_indptr(lengths),
            best=np.array(flat, dtype=np.int32),
            worst=np.array(last, dtype=np.int32),
            gains=np.array(grades, dtype=np.float64),
            items=np.array([i for n in lengths for i in range(n)], dtype=np.int32),
            n_candidates=np.array(n_candidates or [0] * len(ranks), dtype=np.int32),
            user_vocab=Vocabulary(np.arange(n_users, dtype=np.int64), "user"),
            item_vocab=Vocabulary(np.arange(n_items, dtype=np.int64), "item"),
            depth=depth,
            others=others,
        )

    @classmethod
    def from_lists(cls, recs: Any, truth: Any, **options: Any) -> TargetRanks:
        """Find held-out items in recommendation lists; see ``fullrank.ranks_from_lists``."""
        from fullrank.rank._lists import ranks_from_lists

        return ranks_from_lists(recs, truth, **options)

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        missed = int(np.count_nonzero(~self.ranked))
        users = count(len(np.unique(self.users)), "user")
        return brief(
            self,
            f"{count(len(self), 'query', 'queries')} of {users}",
            count(len(self.best), "target") + (f", {missed:,} unranked" if missed else ""),
            f"candidates {self.design.get('candidates', 'given')}",
            None if self.depth is None else f"depth {self.depth}",
        )

    @property
    def user_ids(self) -> NDArray[Any]:
        """Outside id of each query's user ``[q]``."""
        return self.user_vocab.decode(self.users)

    @property
    def ranked(self) -> NDArray[np.bool_]:
        """Bool ``[t]``: the target has a rank."""
        return np.asarray(self.best != UNRANKED)

    def __getitem__(self, rows: NDArray[Any]) -> TargetRanks:
        """Some of the queries, by mask or row numbers."""
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        indptr, flat = take_ragged(self.indptr, rows)
        return replace(
            self,
            users=self.users[rows],
            query_ids=self.query_ids[rows],
            n_candidates=self.n_candidates[rows],
            indptr=indptr,
            sample=None if self.sample is None else self.sample.take(flat),
            **{name: getattr(self, name)[flat] for name in ("best", "worst", "gains", "items")},
        )

    def part(self, first: int, last: int) -> TargetRanks:
        """The queries ``[first, last)``, as views of this one's arrays."""
        made = object.__new__(TargetRanks)  # checked and in order already
        cut = slice(self.indptr[first], self.indptr[last])
        for field_ in fields(self):
            value = getattr(self, field_.name)
            if field_.name == "indptr":
                value = value[first : last + 1] - value[first]
            elif field_.name in ("best", "worst", "gains", "items"):
                value = value[cut]
            elif field_.name in ("users", "query_ids", "n_candidates"):
                value = value[first:last]
            elif field_.name == "sample" and value is not None:
                value = value.take(cut)
            object.__setattr__(made, field_.name, value)
        return made

    def optimistic(self) -> TargetRanks:
        """The targets of a block of equal scores fill its first places, gains descending."""
        place = self._place_in_block()
        return self._fixed(self.best + place)

    def pessimistic(self) -> TargetRanks:
        """The targets of a block of equal scores fill its last places, gains ascending."""
        place = self._place_in_block()
        return self._fixed(self.worst - place)

    def _fixed(self, rank: NDArray[np.int32]) -> TargetRanks:
        rank = np.where(self.ranked, rank, UNRANKED).astype(np.int32)
        return replace(self, best=rank, worst=rank.copy())

    def _place_in_block(self) -> NDArray[np.int32]:
        """Place of each target within its block (0-based), gains descending."""
        if self.others == "excluded" or len(self.best) == 0:
            return np.zeros(len(self.best), dtype=np.int32)
        rows = rows_of(self.indptr)
        new = np.append(True, (rows[1:] != rows[:-1]) | (self.best[1:] != self.best[:-1]))
        start = np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))
        return (np.arange(len(new)) - start).astype(np.int32)


@dataclass(frozen=True, eq=False)
class TopK:
    """The k best items of each query.

    Attributes:
        items: int32 ``[q, k]`` item codes, best first; -1 where the query has fewer candidates.
        scores: float32 ``[q, k]``; -inf at empty places.
        users: int32 ``[q]`` user codes.
        query_ids: int64 ``[q]``.
        user_vocab: outside user ids.
        item_vocab: outside item ids.
    """

    items: NDArray[np.int32]
    scores: NDArray[np.float32]
    users: NDArray[np.int32]
    query_ids: NDArray[np.int64]
    user_vocab: Vocabulary
    item_vocab: Vocabulary

    def __len__(self) -> int:
        return len(self.users)

    @property
    def k(self) -> int:
        """Length of the lists."""
        return int(self.items.shape[1])

    def __repr__(self) -> str:
        return brief(self, f"{self.k} items for {count(len(self), 'query', 'queries')}")

    def to_frame(self) -> pl.DataFrame:
        """Polars frame ``user_id, query_id, rank, item_id, score`` with outside ids.

        One row a recommended item, best first within a query; empty places are left out.

        ``fullrank.evaluate`` and ``ranks_from_lists`` go by ``rank`` where there is one, and then
        items of equal scores count in the order of the list: ``to_frame().drop("rank")`` lets them
        tie. Items that tied with the last one and were cut are missed either way, and lists of
        several queries of a user are no list of this user: ``fullrank.rank.rank(...).targets``
        has the ranks and ties of the whole catalogue, query by query.
        """
        import polars as pl

        rows, places = np.nonzero(self.items >= 0)
        return pl.DataFrame(
            {
                "user_id": self.user_vocab.series(self.users[rows]),
                "query_id": self.query_ids[rows],
                "rank": places.astype(np.int32) + 1,
                "item_id": self.item_vocab.series(self.items[rows, places]),
                "score": self.scores[rows, places],
            }
        )


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted and observed values of (query, item) pairs, for RMSE and MAE.

    Attributes:
        users: int32 ``[n]`` user codes: the unit of resampling.
        items: int32 ``[n]`` item codes.
        predicted: float64 ``[n]``.
        observed: float64 ``[n]``.
        user_vocab: outside user ids.
        item_vocab: outside item ids.
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    user_vocab: Vocabulary
    item_vocab: Vocabulary

    def __post_init__(self) -> None:
        bad = np.flatnonzero(~np.isfinite(self.predicted))
        if len(bad):
            row = int(bad[0])
            raise ScoreError(
                f"predictions must be finite, got {self.predicted[row]} for user "
                f"{self.user_vocab.label(self.users[row])} and item "
                f"{self.item_vocab.label(self.items[row])}"
            )

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        users = count(len(np.unique(self.users)), "user")
        return brief(self, f"{count(len(self), 'row')} of {users}")
