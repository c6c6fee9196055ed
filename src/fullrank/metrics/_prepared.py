"""Prepared: ranks with what several metrics share (relevance, gains, tables), made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError, SpecError
from fullrank.core.ragged import rows_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.text import quoted
from fullrank.core.threads import run_chunks
from fullrank.core.vocabulary import Vocabulary

_QUERIES = 1 << 15  # of a task

MAX_EXP_GRADE = 50.0
"""2**50 - 1 leaves three bits of a double for the discount: above, small grades vanish."""

Cuts = Sequence[int | None]
Table = tuple[NDArray[np.float64], NDArray[np.float64]]
Weights = Callable[[int], NDArray[np.float64]]


def ones(n: int) -> NDArray[np.float64]:
    """Weight 1 at each rank."""
    return np.ones(n)


def reciprocals(n: int) -> NDArray[np.float64]:
    """Weight ``1 / r`` at rank ``r``."""
    return 1.0 / np.arange(1, n + 1)


def discounts(n: int) -> NDArray[np.float64]:
    """Weight ``1 / log2(r + 1)`` at rank ``r``."""
    from fullrank.kernels.weights import log_discounts

    return log_discounts(n)


def label(vocabulary: Vocabulary, code: int) -> str:
    """An outside id as a message shows it: ``7`` or ``'u7'``, without a NumPy type around it."""
    return quoted(vocabulary.ids[code : code + 1].tolist()[0])


def _check_places(r: TargetRanks) -> None:
    """Each target has a place: blocks of a query are equal or apart, and hold their targets."""
    from fullrank.kernels.places import shared_place

    if r.others == "excluded":
        return
    found = run_chunks(
        lambda first, last: shared_place(r.indptr, r.best, r.worst, first, last), len(r), _QUERIES
    )
    bad = min((target for target in found if target >= 0), default=-1)
    if bad >= 0:
        row = int(np.searchsorted(r.indptr, bad, side="right")) - 1
        raise ScoreError(
            f"two targets of the query of user {label(r.user_vocab, int(r.users[row]))} share a "
            f"place: ranks {r.best[bad - 1]}…{r.worst[bad - 1]} and {r.best[bad]}…{r.worst[bad]}; "
            "equal scores share one block of ranks with room for all of them"
        )


class Prepared:
    """Target ranks and the arrays that metrics derive from them, each computed once.

    Args:
        ranked: what ranking left behind.

    Raises:
        ScoreError: two targets of a query at one place, or in blocks that overlap.
    """

    def __init__(self, ranked: TargetRanks) -> None:
        _check_places(ranked)
        self._begin(ranked, {})

    def _begin(self, ranked: TargetRanks, tables: dict[object, Table]) -> None:
        self.ranked = ranked
        self._tables = tables
        self._relevant: dict[float | None, NDArray[np.bool_]] = {}
        self._n_relevant: dict[float | None, NDArray[np.int64]] = {}
        self._gains: dict[tuple[str, float | None], NDArray[np.float64]] = {}
        self._hits: dict[tuple[float | None, tuple[int | None, ...]], NDArray[np.float64]] = {}

    def part(self, first: int, last: int) -> Prepared:
        """The queries ``[first, last)``, with the tables shared."""
        made = Prepared.__new__(Prepared)
        made._begin(self.ranked.part(first, last), self._tables)
        return made

    def __len__(self) -> int:
        return len(self.ranked)

    @cached_property
    def last(self) -> int:
        """The highest rank of any ranked target; 0 if there is none."""
        return int(np.where(self.ranked.ranked, self.ranked.worst, 0).max(initial=0))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Query of each target ``[t]``."""
        return rows_of(self.ranked.indptr)

    @cached_property
    def _all_one(self) -> bool:
        """Every target has grade 1."""
        return bool((self.ranked.gains == 1.0).all())

    def relevant(self, rel: float | None) -> NDArray[np.bool_]:
        """Bool ``[t]``: grade > 0, or >= ``rel`` where it is given."""
        if rel not in self._relevant:
            gains = self.ranked.gains
            self._relevant[rel] = np.asarray(gains > 0 if rel is None else gains >= rel)
        return self._relevant[rel]

    def n_relevant(self, rel: float | None) -> NDArray[np.int64]:
        """int64 ``[q]``: relevant targets of each query, unranked ones included."""
        if rel not in self._n_relevant:
            every = self._all_one and (rel is None or rel <= 1.0)
            self._n_relevant[rel] = (
                np.diff(self.ranked.indptr) if every else self.sums(self.relevant(rel))
            )
        return self._n_relevant[rel]

    def sums(self, values: NDArray[np.int64] | NDArray[np.bool_]) -> NDArray[np.int64]:
        """Sums of whole numbers (or how many are true) ``[t]`` by query ``[q]``."""
        running = np.zeros(len(values) + 1, dtype=np.int64)
        np.cumsum(values, out=running[1:])
        return np.diff(running[self.ranked.indptr])

    def gains(self, gain: str, rel: float | None) -> NDArray[np.float64]:
        """float64 ``[t]``: ``2^grade - 1``, the grade itself, or 1; 0 where not relevant.

        Raises:
            SpecError: exponential gain of a grade over 50, which is no grade but a count.
        """
        key = (gain, rel)
        if key not in self._gains:
            if self._all_one and (rel is None or rel <= 1.0):
                return self.ranked.gains  # 2^1 - 1, 1 and 1
            relevant = self.relevant(rel)
            grades = np.where(relevant, self.ranked.gains, 0.0)
            if gain == "exp":
                self._check_grades(grades)
                grades = np.exp2(grades) - 1.0
            self._gains[key] = relevant.astype(np.float64) if gain == "binary" else grades
        return self._gains[key]

    def _check_grades(self, grades: NDArray[np.float64]) -> None:
        if len(grades) == 0 or grades.max() <= MAX_EXP_GRADE:
            return
        worst = int(grades.argmax())
        r = self.ranked
        user = label(r.user_vocab, int(r.users[self.rows[worst]]))
        item = label(r.item_vocab, int(r.items[worst]))
        raise SpecError(
            f"exponential gain 2^grade - 1 needs grades up to {MAX_EXP_GRADE:g}, got "
            f"{grades[worst]:g} (user {user}, item {item}); counts are no grades: name another "
            "grade column, or say gain=linear or gain=binary"
        )

    def table(self, weights: Weights, n: int, key: object = None) -> Table:
        """Weights of the ranks 1 to ``n`` or further, and their running sums."""
        from fullrank.kernels.weights import prefix_sums

        key = weights if key is None else key
        found = self._tables.get(key)
        if found is None or len(found[0]) < n:
            made = weights(max(n, 2 * len(found[0])) if found else n)
            # Threads that need a table at once make equal ones.
            found = self._tables[key] = (made, prefix_sums(made))
        return found

    def cuts(self, ks: Cuts) -> NDArray[np.int64]:
        """int64 ``[k]`` cut-offs, at most the highest rank of a target: no table is longer."""
        return np.array([self.last if k is None else min(k, self.last) for k in ks], np.int64)

    def expected(
        self,
        gains: NDArray[np.float64],
        weights: Weights,
        cuts: NDArray[np.int64],
        key: object = None,
    ) -> NDArray[np.float64]:
        """Expectation of ``sum of gain x weight(rank)`` within each cut: ``[q, k]``.

        Args:
            gains: float64 ``[t]``.
            weights: makes the weights of ranks 1 to ``n``.
            cuts: int64 ``[k]``, or ``[q, k]`` where each query has its own.
            key: name of the weights in the cache; the function itself by default.
        """
        from fullrank.kernels.weights import expected_weights

        r = self.ranked
        cuts = np.minimum(cuts if cuts.ndim == 2 else cuts[None, :], self.last)
        table, prefix = self.table(weights, int(cuts.max(initial=0)), key)
        return expected_weights(r.indptr, r.best, r.worst, gains, table, prefix, cuts)

    def hits(self, rel: float | None, ks: Cuts) -> NDArray[np.float64]:
        """Expected number of relevant targets within each cut: ``[q, k]``; not to be written to."""
        key = (rel, tuple(ks))
        if key not in self._hits:
            self._hits[key] = self.expected(self.gains("binary", rel), ones, self.cuts(ks))
        return self._hits[key]

    def ideal(
        self, gains: NDArray[np.float64], weights: Weights, ks: Cuts, key: object = None
    ) -> NDArray[np.float64]:
        """``sum of gain x weight`` of the best order of all targets of a query: ``[q, k]``."""
        from fullrank.kernels.ideal import ideal_sums

        indptr = self.ranked.indptr
        longest = int(np.diff(indptr).max(initial=0))
        cuts = np.array([longest if k is None else min(k, longest) for k in ks], np.int64)
        table, _ = self.table(weights, longest, key)
        return ideal_sums(indptr, gains, table, cuts)
