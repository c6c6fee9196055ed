"""Queries: one row per evaluation case, with what a model may use and what is held out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.distinct import distinct_items, shared_items
from fullrank.core.errors import SplitError
from fullrank.core.frozen import frozen
from fullrank.core.ragged import as_indptr, is_indptr, rows_of, take_ragged
from fullrank.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Repeats = Literal["drop", "keep"]


@dataclass(frozen=True, eq=False)
class Queries:
    """Evaluation cases in CSR layout; a user may have several.

    Row ``i`` has the history ``history_items[history_indptr[i]:history_indptr[i + 1]]``, oldest
    first, and the targets ``target_items[target_indptr[i]:target_indptr[i + 1]]``, each item once:
    a target met twice would count as two relevant items. Splits and ``from_lists`` merge such rows;
    arrays that hold an item twice are refused, and targets out of order are sorted.

    Attributes:
        users: int32 ``[q]`` user codes.
        history_indptr: int64 ``[q + 1]``.
        history_items: int32 ``[h]``.
        target_indptr: int64 ``[q + 1]``.
        target_items: int32 ``[t]``, ascending within a query.
        target_gains: float64 ``[t]`` grades, 1.0 unless a grade column was named.
        user_vocab: outside ids of users.
        item_vocab: outside ids of items.
        history_values: float64 ``[h]`` or None.
        history_times: int64 ``[h]`` or None.
        times: int64 ``[q]``, the moment of the case (its first target), or None.
        query_ids: int64 ``[q]``: number of the case within its user (0 for the only one).
        repeats: ``"drop"``: no target is in the history of its query; ``"keep"``: repeat
            consumption is evaluated and the history is not masked.
        counts: what was dropped while the queries were made, by name.

    Raises:
        SplitError: arrays that don't fit each other or the vocabularies; a target twice in a
            query, or in its history.
    """

    users: NDArray[np.int32]
    history_indptr: NDArray[np.int64]
    history_items: NDArray[np.int32]
    target_indptr: NDArray[np.int64]
    target_items: NDArray[np.int32]
    target_gains: NDArray[np.float64]
    user_vocab: Vocabulary
    item_vocab: Vocabulary
    history_values: NDArray[np.float64] | None = None
    history_times: NDArray[np.int64] | None = None
    times: NDArray[np.int64] | None = None
    query_ids: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    repeats: Repeats = "drop"
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.repeats not in get_args(Repeats):
            raise SplitError(f"repeats must be 'drop' or 'keep', got {self.repeats!r}")
        if not len(self.query_ids):
            object.__setattr__(self, "query_ids", np.zeros(len(self), np.int64))
        self._check_shapes()
        if np.any(self.target_gains < 0) or not bool(np.isfinite(self.target_gains).all()):
            bad = self.target_gains[~(self.target_gains >= 0) | ~np.isfinite(self.target_gains)][0]
            raise SplitError(f"gains must be finite and >= 0, got {bad}; name another grade column")
        self._settle_targets()
        if self.repeats == "drop":
            self._check_disjoint()
        self._freeze()

    def _check_shapes(self) -> None:
        """Refuse arrays that don't fit each other or the vocabularies."""
        _check_codes("users", self.users, self.n_users)
        for name in ("history", "target"):
            indptr, items = getattr(self, f"{name}_indptr"), getattr(self, f"{name}_items")
            if not is_indptr(indptr, len(self), len(items)):
                raise SplitError(
                    f"{name}_indptr must have shape ({len(self) + 1},), start at 0, never fall and "
                    f"end at {len(items)}, as there are {len(self)} users and {len(items)} "
                    f"{name}_items; got shape {indptr.shape}: make it with np.cumsum of the lengths"
                )
            _check_codes(f"{name}_items", items, self.n_items)
        for name, like in (
            ("target_gains", "target_items"), ("history_values", "history_items"),
            ("history_times", "history_items"), ("times", "users"), ("query_ids", "users"),
        ):  # fmt: skip
            given, wanted = getattr(self, name), len(getattr(self, like))
            if given is not None and given.shape != (wanted,):
                raise SplitError(
                    f"{name} has shape {given.shape}, expected ({wanted},): one for each of {like}"
                )

    def _settle_targets(self) -> None:
        """Bring the targets of each query into ascending order; refuse an item met twice."""
        items, starts = self.target_items, np.zeros(len(self.target_items) + 1, dtype=bool)
        starts[self.target_indptr] = True
        if (starts[1:-1] | (items[1:] > items[:-1])).all():
            return
        rows = rows_of(self.target_indptr)
        order = np.lexsort((items, rows))
        items = items[order]
        twice = np.flatnonzero(~starts[1:-1] & (items[1:] == items[:-1]))
        if len(twice):
            at = int(twice[0])
            raise SplitError(
                f"targets hold an item more than once for {len(np.unique(rows[twice]))} queries "
                f"(first: user {self.user_vocab.label(self.users[rows[at]])}, item "
                f"{self.item_vocab.label(items[at])}), which would count as several relevant items;"
                " give each once, with its highest gain"
            )
        object.__setattr__(self, "target_items", items)
        object.__setattr__(self, "target_gains", self.target_gains[order])

    def _check_disjoint(self) -> None:
        both = shared_items(
            self.history_indptr,
            self.history_items,
            self.target_indptr,
            self.target_items,
            self.n_items,
        )
        if both.any():
            rows = rows_of(self.target_indptr)[both]
            row, item = int(rows[0]), int(self.target_items[both][0])
            raise SplitError(
                f"history and targets overlap for {len(np.unique(rows))} queries (first: user "
                f"{self.user_vocab.label(self.users[row])}, item "
                f"{self.item_vocab.label(item)}); fix the split, or say repeats='keep' if repeat "
                "consumption is what you evaluate"
            )

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        users = count(len(np.unique(self.users)), "user")
        return brief(
            self,
            f"{count(len(self), 'query', 'queries')} of {users}",
            f"{len(self.history_items):,} items of history",
            count(len(self.target_items), "target"),
            f"catalogue of {count(self.n_items, 'item')}",
            f"repeats {self.repeats!r}",
        )

    @property
    def n_items(self) -> int:
        """Size of the item vocabulary."""
        return len(self.item_vocab)

    @property
    def n_users(self) -> int:
        """Size of the user vocabulary."""
        return len(self.user_vocab)

    @property
    def user_ids(self) -> NDArray[Any]:
        """Outside id of each query's user ``[q]``."""
        return self.user_vocab.decode(self.users)

    @property
    def history_counts(self) -> NDArray[np.int64]:
        """int64 ``[q]``: length of each history."""
        return np.diff(self.history_indptr)

    @property
    def target_counts(self) -> NDArray[np.int64]:
        """int64 ``[q]``: number of targets of each query."""
        return np.diff(self.target_indptr)

    def history(self, row: int) -> NDArray[np.int32]:
        """Items of one history, oldest first."""
        return self.history_items[self.history_indptr[row] : self.history_indptr[row + 1]]

    def targets(self, row: int) -> NDArray[np.int32]:
        """Target items of one query."""
        return self.target_items[self.target_indptr[row] : self.target_indptr[row + 1]]

    def __getitem__(self, rows: slice | NDArray[Any]) -> Queries:
        """Some of the queries, by slice, mask or row numbers (views where a slice allows it)."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return self._slice(start, max(stop, start))
            rows = np.arange(start, stop, step)
        elif rows.dtype == bool:
            rows = np.flatnonzero(rows)
        h_indptr, h_take = take_ragged(self.history_indptr, rows)
        t_indptr, t_take = take_ragged(self.target_indptr, rows)
        return self._part(rows, h_indptr, h_take, t_indptr, t_take)

    def _slice(self, start: int, stop: int) -> Queries:
        h0, h1 = int(self.history_indptr[start]), int(self.history_indptr[stop])
        t0, t1 = int(self.target_indptr[start]), int(self.target_indptr[stop])
        return self._part(
            slice(start, stop),
            self.history_indptr[start : stop + 1] - h0,
            slice(h0, h1),
            self.target_indptr[start : stop + 1] - t0,
            slice(t0, t1),
        )

    def _part(self, rows: Any, h_indptr: Any, h: Any, t_indptr: Any, t: Any) -> Queries:
        return self._with(
            users=self.users[rows],
            query_ids=self.query_ids[rows],
            times=None if self.times is None else self.times[rows],
            history_indptr=h_indptr,
            history_items=self.history_items[h],
            history_values=None if self.history_values is None else self.history_values[h],
            history_times=None if self.history_times is None else self.history_times[h],
            target_indptr=t_indptr,
            target_items=self.target_items[t],
            target_gains=self.target_gains[t],
            counts=dict(self.counts),
        )

    def _with(self, **changed: Any) -> Queries:
        # A part of checked queries needs no check: built without __post_init__.
        out = object.__new__(Queries)
        for name in self.__dataclass_fields__:
            object.__setattr__(out, name, changed.get(name, getattr(self, name)))
        out._freeze()
        return out

    def _freeze(self) -> None:
        """Make the arrays read-only: every model of a benchmark is handed the same ones."""
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, frozen(value))

    def history_csr(self) -> csr_matrix:
        """Histories as a binary float32 CSR ``[q, n_items]``: items ascending, each once."""
        from scipy.sparse import csr_matrix

        indptr, items, _ = distinct_items(self.history_indptr, self.history_items, self.n_items)
        out = csr_matrix(
            (np.ones(len(items), np.float32), items, indptr.astype(np.int32)),
            shape=(len(self), self.n_items),
        )
        out.has_sorted_indices = True
        out.has_canonical_format = True
        return out

    def without_targets(self) -> Queries:
        """The same queries with nothing held out: what a model may see."""
        return self._with(
            target_indptr=np.zeros(len(self) + 1, np.int64),
            target_items=np.zeros(0, np.int32),
            target_gains=np.zeros(0, np.float64),
            counts={},
        )

    @classmethod
    def from_lists(
        cls,
        users: NDArray[np.int32],
        histories: list[list[int]],
        targets: list[list[int]],
        *,
        user_vocab: Vocabulary,
        item_vocab: Vocabulary,
        repeats: Repeats = "drop",
    ) -> Queries:
        """Build queries from lists of item codes; for tests and small examples."""
        targets = [sorted(set(t)) for t in targets]
        return cls(
            users=np.asarray(users, dtype=np.int32),
            history_indptr=as_indptr([len(h) for h in histories]),
            history_items=np.array([i for h in histories for i in h], dtype=np.int32),
            target_indptr=as_indptr([len(t) for t in targets]),
            target_items=np.array([i for t in targets for i in t], dtype=np.int32),
            target_gains=np.ones(sum(len(t) for t in targets)),
            user_vocab=user_vocab,
            item_vocab=item_vocab,
            repeats=repeats,
        )


def _check_codes(name: str, codes: NDArray[np.int32], size: int) -> None:
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < size:
        raise SplitError(
            f"{name} must lie in [0, {size}), the codes of the vocabulary, got "
            f"{codes.min()}…{codes.max()}"
        )
