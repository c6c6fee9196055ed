"""Lists, truth and training rows as integer codes, to ``TargetRanks``; every policy is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.distinct import distinct_items, first_of_item, shared_items
from fullrank.core.errors import DataError
from fullrank.core.ragged import as_indptr, rows_of, run_ragged
from fullrank.core.random import hash_of_rows
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.threads import run_chunks
from fullrank.core.vocabulary import Vocabulary
from fullrank.rank._keys import UNUSED_SCORES, ListKeys

Codes = tuple[NDArray[np.int32], NDArray[np.int32]]
Starts = NDArray[np.int64] | None
Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Ragged items: int64 ``[u + 1]`` and int32 codes."""

_ROWS = 1 << 20  # rows of a task
_TASKS = 16  # in which lists are matched: each has room for the whole catalogue
_NO_KEYS = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class CodedLists:
    """Recommendation lists and what they are held against, over common codes.

    Attributes:
        where: how messages call the lists.
        users: who is evaluated; a code is the number of a query.
        items: all items.
        recs: user codes (-1 for users who aren't evaluated) and item codes of the lists.
        truth: the same of held-out items.
        train: the same of what users had before, or None.
        keys: what orders the lists.
        gains: float64 ``[rows of the truth]``, or None for 1 each.
        design: where grades come from, for ``TargetRanks.design``.
        counts: policies applied so far, by name.
        strangers: users with a list and without truth.
        starts: where the rows of each user begin in lists and truth, as ``list_starts`` finds it;
            None where they are in no order, or nobody has looked.
    """

    where: str
    users: Vocabulary
    items: Vocabulary
    recs: Codes
    truth: Codes
    train: Codes | None
    keys: ListKeys
    gains: NDArray[np.float64] | None
    design: Mapping[str, Any]
    counts: Mapping[str, int] = field(default_factory=dict)
    strangers: int = 0
    starts: tuple[Starts, Starts] = (None, None)

    def ranks(self, depth: int | None, keep_seen: bool) -> TargetRanks:
        """Ranks of the targets, with the policies that applied in ``counts``."""
        (t_indptr, targets), gains, counts = self._targets(keep_seen)
        found = self._match((t_indptr, targets), gains, depth, keep_seen)
        counts = {**self.counts, **counts, **self._counts(found.counts, depth), **self.keys.counts}
        counts["unranked_targets"] = int(np.count_nonzero(found.best == UNRANKED))
        unknown = self._unknown()
        complete = unknown is None and depth is None
        n_candidates = np.zeros(len(self.users), np.int32)
        if complete:
            n_candidates[:] = found.lengths + self._never(t_indptr, targets)
        return TargetRanks(
            users=np.arange(len(self.users), dtype=np.int32),
            query_ids=np.zeros(len(self.users), np.int64),
            indptr=t_indptr,
            best=found.best,
            worst=found.worst,
            gains=found.gains,
            items=found.items,
            n_candidates=n_candidates,
            user_vocab=self.users,
            item_vocab=self.items,
            depth=depth,
            design={
                "candidates": "lists",
                "order": self.keys.order,
                "removed": self._removed(keep_seen),
                **self.design,
                "unknown": unknown,
            },
            counts=counts,
        )

    @property
    def _scored(self) -> bool:
        return self.keys.order == "score column"

    def _targets(self, keep_seen: bool) -> tuple[Rows, NDArray[np.float64], dict[str, int]]:
        """Targets of each user, each item once with its highest grade."""
        users, items = self.truth
        n, n_users, starts = len(users), len(self.users), self.starts[1]
        if self.gains is None:
            indptr, items, _ = grouped(users, items, _NO_KEYS, n_users, starts)
            gains = np.ones(n)
        else:
            rows = np.arange(n, dtype=np.int32)
            indptr, rows, _ = grouped(users, rows, _NO_KEYS, n_users, starts)
            items, gains = items[rows], self.gains[rows]
        again = ~first_of_item(indptr, items, len(self.items))
        counts = {"duplicate_targets": int(np.count_nonzero(again))}
        if counts["duplicate_targets"]:
            order = np.lexsort((-gains, items, rows_of(indptr)))
            items, gains = items[order], gains[order]
            again = ~first_of_item(indptr, items, len(self.items))
            indptr, items, gains = _without(again, indptr, items, gains)
        if self.train is not None and not keep_seen:
            had = shared_items(*self._had, indptr, items, len(self.items))
            counts["repeated_targets"] = int(had.sum())
            indptr, items, gains = _without(had, indptr, items, gains)
        counts["queries_without_targets"] = int(np.count_nonzero(np.diff(indptr) == 0))
        return (indptr, items), gains, counts

    @cached_property
    def _lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
        """The lists in order: indptr, items and keys."""
        return grouped(
            self.keys.users, self.recs[1], self.keys.keys, len(self.users), self.starts[0]
        )

    @cached_property
    def _had(self) -> Rows:
        """Items that each evaluated user had before, ascending and each once."""
        assert self.train is not None
        users, items = self.train
        indptr, items, _ = grouped(users, items, _NO_KEYS, len(self.users))
        return distinct_items(indptr, items, len(self.items))[:2]

    def _match(
        self, targets: Rows, gains: NDArray[np.float64], depth: int | None, keep_seen: bool
    ) -> _Found:
        """Find every target in its user's list."""
        from fullrank.kernels import lists as kernel

        n_users, n_items = len(self.users), len(self.items)
        if self.train is None and not self._scored:
            return self._match_plain(targets, gains, depth)
        seen = self._seen(keep_seen)
        known = np.zeros(0 if self.train is None else n_items, dtype=bool)
        if self.train is not None:
            known[self.truth[1]] = known[self.train[1]] = True
        found = _Found.empty(targets[1], gains, n_users)
        lists, scored = self._lists, self._scored

        def match(first: int, last: int) -> NDArray[np.int64]:
            counts = np.zeros(kernel.N_COUNTS, np.int64)
            (kernel.match_scores if scored else kernel.match_ranks)(
                *lists, *targets, *seen, known, n_items, depth or 0, first, last,
                found.best, found.worst, found.lengths, counts,
            )  # fmt: skip
            return counts

        self._add(found, run_chunks(match, n_users, max(-(-n_users // _TASKS), 1)))
        return found

    def _match_plain(self, targets: Rows, gains: NDArray[np.float64], depth: int | None) -> _Found:
        """The same where nothing is removed and nothing ties; targets come in their order."""
        from fullrank.kernels.lists import N_COUNTS
        from fullrank.kernels.matches import match_plain

        n_users, n = len(self.users), len(targets[1])
        graded = np.zeros(0) if self.gains is None else gains
        worths = gains if self.gains is None else np.empty(n)
        best, items = np.empty(n, np.int32), np.empty(n, np.int32)
        found = _Found(best, best, items, worths, np.zeros(n_users, np.int32))
        lists = self._lists

        def match(first: int, last: int) -> NDArray[np.int64]:
            counts = np.zeros(N_COUNTS, np.int64)
            match_plain(
                *lists, *targets, graded, len(self.items), depth or 0, first, last,
                best, items, worths, found.lengths, counts,
            )  # fmt: skip
            return counts

        self._add(found, run_chunks(match, n_users, max(-(-n_users // _TASKS), 1)))
        return replace(found, worst=best.copy())

    def _add(self, found: _Found, parts: list[NDArray[np.int64]]) -> None:
        """Add the counts of some tasks.

        Raises:
            DataError: a list with one rank twice.
        """
        from fullrank.kernels.lists import BAD_USER

        bad = [int(counts[BAD_USER]) for counts in parts if counts[BAD_USER] >= 0]
        if bad:
            raise DataError(
                f"{self.where}: two items of user {self.users.label(min(bad))} have the same rank; "
                "ranks must differ within a list (for ties, give scores and no rank column)"
            )
        found.add(parts)

    def _seen(self, keep_seen: bool) -> Rows:
        """Items to remove from each user's list."""
        if self.train is None or keep_seen:
            return np.zeros(len(self.users) + 1, np.int64), np.zeros(0, np.int32)
        return self._had

    def _removed(self, keep_seen: bool) -> str | None:
        """Hash of what the evaluated users had before, by outside ids; None if nothing is removed.

        Free of the order of rows, of repeated rows, and of the rows of anybody else.
        """
        if self.train is None or keep_seen:
            return None
        indptr, items = self._had
        return hash_of_rows(self.users.hashes[rows_of(indptr)], self.items.hashes[items])

    def _unknown(self) -> str | None:
        """Why the lists don't tell how many candidates a user had; None if they do.

        Lists of all candidates differ in length or hold the same items, except where each lacks
        what its user had before.
        """
        if not self._scored:
            if self.keys.order == UNUSED_SCORES:
                return "the lists go by their rank column (leave it out to go by scores)"
            return "the lists hold no scores"
        indptr, items = self._served()
        lengths = np.diff(indptr)
        served, longest = lengths > 0, int(lengths.max(initial=0))
        if (lengths[served] < longest).any():
            return None
        met = np.zeros(len(self.items), dtype=bool)
        met[items] = True
        total = np.count_nonzero(met)
        if total <= longest:
            return None
        if self.train is not None:
            had_indptr, had = self._had
            beyond = ~shared_items(indptr, items, had_indptr, had, len(self.items))
            lengths += np.bincount(rows_of(had_indptr)[beyond], minlength=len(self.users))
            met[had[beyond]] = True
            if lengths[served].min() >= np.count_nonzero(met):
                return None
        return (
            f"every list has {longest:,} items and together they hold {total:,}, so that they were "
            "cut there"
        )

    def _served(self) -> Rows:
        """The lists with what is never recommended, in no order."""
        if self.keys.never is None:
            return self._lists[:2]
        return grouped(*self.recs, _NO_KEYS, len(self.users))[:2]

    def _never(self, t_indptr: NDArray[np.int64], targets: NDArray[np.int32]) -> NDArray[np.int64]:
        """Items scored -inf that are no targets, for each user: candidates below the ranked."""
        if self.keys.never is None:
            return np.zeros(len(self.users), np.int64)
        users, items = (codes[self.keys.never] for codes in self.recs)
        pairs = np.unique(users.astype(np.int64) * len(self.items) + items)
        others = pairs[~np.isin(pairs, rows_of(t_indptr) * len(self.items) + targets)]
        return np.bincount(others // len(self.items), minlength=len(self.users))

    def _counts(self, found: NDArray[np.int64], depth: int | None) -> dict[str, int]:
        """The policies that applied, by name."""
        from fullrank.kernels import lists as kernel

        out = {
            "users_without_recommendations": int(found[kernel.WITHOUT_LIST]),
            "users_without_truth": self.strangers,
            "repeated_recommendations": int(found[kernel.REPEATED]),
            "longest_list": int(found[kernel.LONGEST]),
            "shortest_list": int(min(found[kernel.SHORTEST], found[kernel.LONGEST])),
        }
        if depth is not None:
            out["short_lists"] = int(found[kernel.SHORT])
            out["beyond_depth"] = int(found[kernel.BEYOND_DEPTH])
        if self.train is not None:
            out["removed_seen"] = int(found[kernel.REMOVED_SEEN])
            out["unknown_items"] = int(found[kernel.UNKNOWN_ITEMS])
        return out


def _no_counts() -> NDArray[np.int64]:
    from fullrank.kernels.lists import N_COUNTS, SHORTEST

    counts = np.zeros(N_COUNTS, np.int64)
    counts[SHORTEST] = np.iinfo(np.int64).max
    return counts


@dataclass(frozen=True, eq=False)
class _Found:
    """What a kernel fills: ranks of the targets, places of each list, counts of policies."""

    best: NDArray[np.int32]
    worst: NDArray[np.int32]
    items: NDArray[np.int32]
    gains: NDArray[np.float64]
    lengths: NDArray[np.int32]
    counts: NDArray[np.int64] = field(default_factory=_no_counts)

    @classmethod
    def empty(cls, items: NDArray[np.int32], gains: NDArray[np.float64], n_users: int) -> _Found:
        """Nothing found yet."""
        best = np.full(len(items), UNRANKED, np.int32)
        return cls(best, best.copy(), items, gains, np.zeros(n_users, np.int32))

    def add(self, parts: list[NDArray[np.int64]]) -> None:
        """Add the counts of some tasks."""
        from fullrank.kernels.lists import BAD_USER, LONGEST, SHORTEST

        for part in parts:
            shortest = min(self.counts[SHORTEST], part[SHORTEST])
            longest = max(self.counts[LONGEST], part[LONGEST])
            self.counts[:] += part
            self.counts[SHORTEST], self.counts[LONGEST] = shortest, longest
            self.counts[BAD_USER] = -1


def list_starts(users: NDArray[np.int32], keys: NDArray[Any], n_users: int) -> Starts:
    """Where the rows of each user begin: int64 ``[n_users + 1]``, if the rows are in order.

    None if they are not, or if a user is not in ``[0, n_users)``. ``keys`` as for ``grouped``.
    """
    from fullrank.kernels import grouping as kernel

    indptr = np.zeros(n_users + 1, dtype=np.int64)
    found = run_chunks(
        lambda first, last: kernel.mark_lists(users, keys, first, last, indptr), len(users), _ROWS
    )
    return None if kernel.SHUFFLED in found else indptr


def grouped(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    keys: NDArray[Any],
    n_users: int,
    starts: Starts = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Bring rows into the order of users and, within a user, of ascending keys; stable.

    Rows of unknown users (-1) are left out. Rows that are in order already are recognised in one
    pass and returned as they are; others are counted into place, and each list is sorted if it
    has to be.

    Args:
        users: int32 ``[n]``.
        items: int32 ``[n]``, or whatever goes with the rows.
        keys: ``[n]``, or ``[0]`` to keep the order of the rows within a user.
        n_users: number of users.
        starts: ``list_starts`` of the rows, if they are known.

    Returns:
        indptr int64 ``[n_users + 1]``, items and keys in order.
    """
    from fullrank.kernels import grouping as kernel

    starts = list_starts(users, keys, n_users) if starts is None else starts
    if starts is not None:
        return starts, items, keys
    counts = np.zeros(n_users, dtype=np.int64)
    kernel.count_lists(users, counts)
    indptr = as_indptr(counts)
    out_items = np.empty(indptr[-1], dtype=items.dtype)
    out_keys = np.empty(indptr[-1] if len(keys) else 0, dtype=keys.dtype)
    kernel.gather_lists(users, items, keys, indptr[:-1].copy(), out_items, out_keys)
    if len(keys):
        run_ragged(
            lambda first, last: kernel.sort_lists(indptr, out_items, out_keys, first, last),
            indptr,
            _ROWS,
        )
    return indptr, out_items, out_keys


def _without(
    gone: NDArray[np.bool_],
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    gains: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Ragged items and gains without some."""
    if not gone.any():
        return indptr, items, gains
    running = np.append(0, np.cumsum(~gone))
    return running[indptr], items[~gone], gains[~gone]
