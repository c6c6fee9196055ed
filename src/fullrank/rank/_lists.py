"""Recommendation lists and held-out items to ``TargetRanks``; every policy is counted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, IdTypeError, SpecError
from fullrank.core.ragged import as_indptr, rows_of
from fullrank.core.random import hash_of_rows
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.text import quoted
from fullrank.core.vocabulary import Vocabulary
from fullrank.data._cells import SPLIT_FIRST, list_example
from fullrank.rank._keys import ListKeys, list_keys
from fullrank.rank._tables import (
    Parts,
    encode_against,
    gains_of,
    id_examples,
    read_parts,
    vocabulary_of,
)

if TYPE_CHECKING:
    import polars as pl


def ranks_from_lists(
    recs: Any,
    truth: Any,
    *,
    train: Any = None,
    keep_seen: bool = False,
    grade: str | None = None,
    depth: int | None = None,
    columns: Mapping[str, str] | None = None,
    read: Mapping[str, Any] | None = None,
) -> TargetRanks:
    """Find the held-out items in lists that some system made.

    Lists are ordered by ``rank`` (1 is best, or 0 in all lists; a gap is a missing place), else by
    ``score`` (equal scores tie; an item scored -inf is never recommended and leaves its list, and
    is counted), else by the order of their rows. The truth says who is evaluated: a user without a
    list counts with every target missed, a list without truth is left out; both are counted. An
    item that comes twice in a list keeps both places and is a hit at most once.

    Args:
        recs: path, frame, or mapping of user to list of items, best first.
        truth: path or frame with ``user_id, item_id``; or a mapping of user to items.
        train: what the users had before, likewise: removed from the lists, which close up, and
            from the targets.
        keep_seen: evaluate repeat consumption: ``train`` only tells which items are known.
        grade: column of ``truth`` with the gain of an item; 1.0 without. TREC qrels are graded
            by definition: their relevance is the gain, and 0 or below is not relevant.
        depth: declared depth of the lists; without it lists are taken as complete.
        columns: names in the files by role, such as ``{"user_id": "uid"}``.
        read: reading options of all files of text, such as ``{"encoding": "latin-1"}``.

    Returns:
        Ranks with one query per user of the truth, by outside id.

    Raises:
        DataError: files or columns that can't be used; no user in common; a rank used twice.
        IdTypeError: text ids on one side and integers on the other.
    """
    if depth is not None and (isinstance(depth, bool) or not 1 <= depth < UNRANKED):
        raise SpecError(f"depth must be 1 or more and below {UNRANKED:,}, got {depth!r}")
    sources = {"recs": recs, "truth": truth, **({} if train is None else {"train": train})}
    parts = read_parts(sources, columns or {}, grade, read)
    job = _Lists.of(parts, {name: said(name, source) for name, source in sources.items()})
    return job.ranks(depth, keep_seen)


@dataclass(frozen=True, eq=False)
class _Found:
    """What the kernel fills: ranks of the targets, places of each list, counts of policies."""

    best: NDArray[np.int32]
    worst: NDArray[np.int32]
    lengths: NDArray[np.int32]
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Lists:
    """Lists, truth and training rows over common codes; ``names`` is how messages call them."""

    names: Mapping[str, str]
    parts: Parts
    users: Vocabulary
    items: Vocabulary
    codes: Mapping[str, tuple[NDArray[np.int32], NDArray[np.int32]]]

    @classmethod
    def of(cls, parts: Parts, names: Mapping[str, str]) -> _Lists:
        frames = parts.frames
        _refuse_list_cells(frames, names)
        for column in ("user_id", "item_id"):
            check_kinds(frames, column, names)
        truth = frames["truth"]
        if len(truth) == 0:
            raise DataError(
                f"{names['truth']} has no rows; nobody can be evaluated: name the held-out items"
            )
        users = vocabulary_of([truth["user_id"]], "user")
        items = vocabulary_of([frame["item_id"] for frame in frames.values()], "item")
        codes = {
            name: (encode_against(frame["user_id"], users), encode_against(frame["item_id"], items))
            for name, frame in frames.items()
        }
        if len(frames["recs"]) and not (codes["recs"][0] >= 0).any():
            raise DataError(
                f"no user of {names['recs']} is in {names['truth']} "
                f"({id_examples(frames['recs'], truth)}); "
                "check that both sides use the same ids"
            )
        return cls(names, parts, users, items, codes)

    @property
    def frames(self) -> Mapping[str, pl.DataFrame]:
        """The tables by part."""
        return self.parts.frames

    @property
    def where(self) -> str:
        """How messages call the lists."""
        return self.names["recs"]

    def ranks(self, depth: int | None, keep_seen: bool) -> TargetRanks:
        """Ranks of the targets, with the policies that applied in ``counts``."""
        t_indptr, targets, gains, counts = self._targets(keep_seen)
        keys = list_keys(self.frames["recs"], self.codes["recs"][0], self.users, self.where)
        found = self._match(t_indptr, targets, keys, depth, keep_seen)
        counts |= self._counts(found.counts, depth) | keys.counts
        counts["unranked_targets"] = int(np.count_nonzero(found.best == UNRANKED))
        unknown = self._unknown()
        complete = unknown is None and depth is None
        candidates = found.lengths + self._never(keys, t_indptr, targets)
        return TargetRanks(
            users=np.arange(len(self.users), dtype=np.int32),
            query_ids=np.zeros(len(self.users), np.int64),
            indptr=t_indptr,
            best=found.best,
            worst=found.worst,
            gains=gains,
            items=targets,
            n_candidates=np.where(complete, candidates, 0).astype(np.int32),
            user_vocab=self.users,
            item_vocab=self.items,
            depth=depth,
            design={
                "candidates": "lists",
                "order": keys.order,
                "removed": self._removed(keep_seen),
                "grade": self.parts.grade,
                "gain": self.parts.gain,
                "ungraded": self.parts.ungraded and self.parts.ungraded[0],
                "unknown": unknown,
            },
            counts=counts,
        )

    def _unknown(self) -> str | None:
        """Why the lists don't tell how many candidates a user had; None if they do.

        Lists of all candidates differ in length or hold the same items, except where each lacks
        what its user had before.
        """
        if "score" not in self.frames["recs"].columns:
            return "the lists hold no scores"
        users, items = (codes[self.codes["recs"][0] >= 0] for codes in self.codes["recs"])
        lengths = np.bincount(users, minlength=len(self.users))
        served = lengths > 0
        longest = int(lengths.max(initial=0))
        if (lengths[served] < longest).any():
            return None
        total = np.count_nonzero(np.bincount(items))
        if total <= longest:
            return None
        if "train" in self.codes:
            pairs = users.astype(np.int64) * len(self.items) + items
            had = self._had[~np.isin(self._had, pairs)]
            lengths += np.bincount(had // len(self.items), minlength=len(self.users))
            if lengths[served].min() >= len(np.union1d(items, had % len(self.items))):
                return None
        return (
            f"every list has {longest:,} items and together they hold {total:,}, so that they were "
            "cut there"
        )

    def _match(
        self,
        t_indptr: NDArray[np.int64],
        targets: NDArray[np.int32],
        keys: ListKeys,
        depth: int | None,
        keep_seen: bool,
    ) -> _Found:
        """Find every target in its user's list."""
        from fullrank.kernels import lists as kernel

        items, by_rank = self.codes["recs"][1], keys.order == "rank column"
        indptr, items, key = kernel.group_by_user(keys.users, items, keys.keys, len(self.users))
        known = np.zeros(len(self.items), dtype=bool)
        for name in ("truth", "train"):
            if name in self.codes:
                known[self.codes[name][1]] = True
        found = _Found(
            best=np.empty(len(targets), np.int32),
            worst=np.empty(len(targets), np.int32),
            lengths=np.zeros(len(self.users), np.int32),
            counts=np.zeros(kernel.N_COUNTS, np.int64),
        )
        kernel.match_lists(
            indptr, items, key, t_indptr, targets, *self._seen(keep_seen), known, by_rank,
            depth or 0, found.best, found.worst, found.lengths, found.counts,
        )  # fmt: skip
        if found.counts[kernel.BAD_USER] >= 0:
            user = self.users.label(found.counts[kernel.BAD_USER])
            raise DataError(
                f"{self.where}: two items of user {user} have the same rank; ranks must differ "
                "within a list (for ties, give scores and no rank column)"
            )
        return found

    def _targets(
        self, keep_seen: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], dict[str, int]]:
        """Targets of each user, each item once with its highest grade."""
        users, items = self.codes["truth"]
        gains, counts = gains_of(self.parts, self.names["truth"])
        pairs = users.astype(np.int64) * len(self.items) + items
        order = np.lexsort((-gains, pairs))
        pairs, gains = pairs[order], gains[order]
        first = np.append(True, pairs[1:] != pairs[:-1])
        counts |= {"duplicate_targets": int(len(pairs) - first.sum())}
        pairs, gains = pairs[first], gains[first]
        if "train" in self.codes and not keep_seen:
            had = np.isin(pairs, self._had)
            counts["repeated_targets"] = int(had.sum())
            pairs, gains = pairs[~had], gains[~had]
        per_user = np.bincount(pairs // len(self.items), minlength=len(self.users))
        counts["queries_without_targets"] = int(np.count_nonzero(per_user == 0))
        return as_indptr(per_user), (pairs % len(self.items)).astype(np.int32), gains, counts

    @cached_property
    def _had(self) -> NDArray[np.int64]:
        """Pairs of an evaluated user and an item of the training rows, each once."""
        users, items = self.codes["train"]
        known = users >= 0
        return np.unique(users[known].astype(np.int64) * len(self.items) + items[known])

    def _seen(self, keep_seen: bool) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Items to remove from each user's list."""
        if "train" not in self.codes or keep_seen:
            return np.zeros(len(self.users) + 1, np.int64), np.zeros(0, np.int32)
        pairs = self._had
        per_user = np.bincount(pairs // len(self.items), minlength=len(self.users))
        return as_indptr(per_user), (pairs % len(self.items)).astype(np.int32)

    def _removed(self, keep_seen: bool) -> str | None:
        """Hash of what the evaluated users had before, by outside ids; None if nothing is removed.

        Free of the order of rows, of repeated rows, and of the rows of anybody else.
        """
        if "train" not in self.codes or keep_seen:
            return None
        users, items = np.divmod(self._had, len(self.items))
        return hash_of_rows(self.users.hashes[users], self.items.hashes[items])

    def _never(
        self, keys: ListKeys, t_indptr: NDArray[np.int64], targets: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Items scored -inf that are no targets, for each user: candidates below the ranked."""
        if keys.never is None:
            return np.zeros(len(self.users), np.int64)
        users, items = (codes[keys.never] for codes in self.codes["recs"])
        pairs = np.unique(users.astype(np.int64) * len(self.items) + items)
        others = pairs[~np.isin(pairs, rows_of(t_indptr) * len(self.items) + targets)]
        return np.bincount(others // len(self.items), minlength=len(self.users))

    def _counts(self, found: NDArray[np.int64], depth: int | None) -> dict[str, int]:
        """The policies that applied, by name."""
        from fullrank.kernels import lists as kernel

        recs = self.frames["recs"]
        strangers = recs["user_id"].filter(_mask(self.codes["recs"][0] < 0)).n_unique()
        out = {
            "users_without_recommendations": int(found[kernel.WITHOUT_LIST]),
            "users_without_truth": int(strangers),
            "repeated_recommendations": int(found[kernel.REPEATED]),
            "longest_list": int(found[kernel.LONGEST]),
            "shortest_list": int(min(found[kernel.SHORTEST], found[kernel.LONGEST])),
        }
        if depth is not None:
            out["short_lists"] = int(found[kernel.SHORT])
            out["beyond_depth"] = int(found[kernel.BEYOND_DEPTH])
        if "train" in self.codes:
            out["removed_seen"] = int(found[kernel.REMOVED_SEEN])
            out["unknown_items"] = int(found[kernel.UNKNOWN_ITEMS])
        return out


def said(name: str, source: Any) -> str:
    """How messages call a table: its file if it has one."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return {"recs": "the lists", "truth": "the truth", "train": "the training rows"}[name]


def _refuse_list_cells(frames: Mapping[str, pl.DataFrame], names: Mapping[str, str]) -> None:
    """Refuse items that are text of whole lists, unless the other side has the same."""
    for name, other in (("recs", "truth"), ("truth", "recs")):
        items, others = frames[name]["item_id"], frames[other]["item_id"]
        example = list_example(items)
        if example is not None and not (others.dtype == items.dtype and items.is_in(others).any()):
            raise DataError(
                f"{names[name]}: items are text that looks like whole lists (such as "
                f"{quoted(example)}); {SPLIT_FIRST}, or write list cells (Parquet, JSON lines)"
            )


def check_kinds(frames: Mapping[str, pl.DataFrame], column: str, names: Mapping[str, str]) -> None:
    """Refuse text ids beside integer ids, which would match nothing without a word."""
    kinds = {n: "integers" if f[column].dtype.is_integer() else "text" for n, f in frames.items()}
    examples = {n: quoted(f[column][0]) for n, f in frames.items() if len(f)}
    for name, kind in kinds.items():
        if kind != kinds["truth"] and len(frames[name]) and len(frames["truth"]):
            raise IdTypeError(
                f"{column} is {kind} in {names[name]} (such as {examples[name]}) and "
                f"{kinds['truth']} in {names['truth']} (such as {examples['truth']}): "
                "nothing would match; convert one side"
            )


def _mask(values: NDArray[np.bool_]) -> pl.Series:
    import polars as pl

    return pl.Series(values)
