"""Pool: for each query the items that may be drawn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr
from fullrank.core.random import hash_elements
from fullrank.core.threads import run_chunks

Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Rows of item codes: int64 ``[q + 1]`` and int32 ``[n]``."""

_ROWS = 2048


@dataclass(frozen=True, eq=False)
class Pool:
    """What each query may draw: a base of items without those that it must not get.

    Attributes:
        items: int32 ``[c]`` the base: item codes, ascending.
        starts: int64 ``[q]`` where the excluded places of each row begin in ``excluded``.
        n_excluded: int64 ``[q]``.
        excluded: int32 places of the base, ascending and each once within a row.
        keys: uint64 ``[q]`` of each row's stream of draws; from the outside ids, so that draws
            depend neither on the order of queries nor on the other queries.
        n_items: items of the vocabulary.
        own_indptr: int64 ``[q + 1]`` where each row has a base of its own, else empty.
        own_items: int32 item codes, ascending within a row.
    """

    items: NDArray[np.int32]
    starts: NDArray[np.int64]
    n_excluded: NDArray[np.int64]
    excluded: NDArray[np.int32]
    keys: NDArray[np.uint64]
    n_items: int
    own_indptr: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    own_items: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    @classmethod
    def of(
        cls,
        queries: Queries,
        catalogue: NDArray[np.bool_],
        seed: int,
        own: Rows | None = None,
        listed: Rows | None = None,
    ) -> Pool:
        """Candidates of queries: the catalogue without history and targets.

        Where repeats are evaluated, the history stays in.

        Args:
            queries: ``[q]``.
            catalogue: bool ``[n_items]``.
            seed: of the draws.
            own: CSR of the items each query is eligible for, if they are restricted.
            listed: CSR of items that each query must not draw either.
        """
        from fullrank.kernels.draws import excluded_places

        items = np.flatnonzero(catalogue).astype(np.int32)
        place_of = np.full(len(catalogue), -1, np.int32)
        place_of[items] = np.arange(len(items), dtype=np.int32)
        own_indptr, own_items = _eligible(own, catalogue)
        indptr, left_out = _left_out(queries, listed)
        counts = np.empty(len(queries), np.int64)

        def task(start: int, stop: int) -> None:
            rows = own_indptr[start : stop + 1] if len(own_indptr) else own_indptr
            part = indptr[start : stop + 1]
            excluded_places(place_of, rows, own_items, part, left_out, counts[start:stop])

        run_chunks(task, len(queries), _ROWS)
        users = queries.user_vocab.hashes[queries.users]
        return cls(
            items=items,
            starts=indptr[:-1],
            n_excluded=counts,
            excluded=left_out,
            keys=hash_elements(seed, users, queries.query_ids),
            n_items=len(catalogue),
            own_indptr=own_indptr,
            own_items=own_items,
        )

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def bases(self) -> NDArray[np.int64]:
        """int64 ``[q]``: items of each row's base."""
        if len(self.own_indptr):
            return np.diff(self.own_indptr)
        return np.full(len(self), len(self.items), np.int64)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """int64 ``[q]``: items that can be drawn."""
        return np.asarray(self.bases - self.n_excluded, dtype=np.int64)

    def __getitem__(self, rows: NDArray[np.int64] | slice) -> Pool:
        """Some of the rows; the arrays of items are shared."""
        if len(self.own_indptr):
            rows = np.arange(len(self))[rows]
            counts = np.diff(self.own_indptr)[rows]
            own_indptr = as_indptr(counts)
            take = np.repeat(self.own_indptr[rows] - own_indptr[:-1], counts)
            own_items = self.own_items[np.arange(int(counts.sum())) + take]
            made = replace(self, own_indptr=own_indptr, own_items=own_items)
        else:
            made = self
        return replace(
            made,
            starts=self.starts[rows],
            n_excluded=self.n_excluded[rows],
            keys=self.keys[rows],
        )

    def allowed(self, row: int) -> NDArray[np.int32]:
        """Item codes of one row's pool, ascending."""
        base = self.items
        if len(self.own_indptr):
            base = self.own_items[self.own_indptr[row] : self.own_indptr[row + 1]]
        start = self.starts[row]
        return np.delete(base, self.excluded[start : start + self.n_excluded[row]])

    def decode(self, indptr: NDArray[np.int64], places: NDArray[np.int32]) -> NDArray[np.int32]:
        """Item codes of places of each row's base."""
        if len(self.own_indptr):
            offsets = np.repeat(self.own_indptr[:-1], np.diff(indptr))
            return np.asarray(self.own_items[places + offsets])
        return self.items[places]


def _left_out(queries: Queries, listed: Rows | None) -> Rows:
    """History (unless repeats are evaluated), targets and list of each query, in a new array."""
    parts = [(queries.target_indptr, queries.target_items)]
    if queries.repeats == "drop":
        parts.append((queries.history_indptr, queries.history_items))
    if listed is not None:
        parts.append(listed)
    indptr = np.sum([rows for rows, _ in parts], axis=0)
    out, begin = np.empty(int(indptr[-1]), np.int32), indptr[:-1].copy()
    for rows, items in parts:
        counts = np.diff(rows)
        out[np.arange(len(items)) + np.repeat(begin - rows[:-1], counts)] = items
        begin += counts
    return indptr, out


def _eligible(own: Rows | None, catalogue: NDArray[np.bool_]) -> Rows:
    """The eligible items that lie in the catalogue; empty arrays without a restriction."""
    if own is None or not len(own[0]):
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    indptr, items = own
    inside = catalogue[items]
    running = np.concatenate([[0], np.cumsum(inside)])
    return running[indptr], items[inside]
