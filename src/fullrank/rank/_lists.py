"""Recommendation lists and held-out items to ``TargetRanks``; every policy is counted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, IdTypeError, SpecError
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.text import quoted
from fullrank.data._cells import SPLIT_FIRST, list_example
from fullrank.rank._coded import CodedLists
from fullrank.rank._codes import codes_of
from fullrank.rank._keys import list_keys
from fullrank.rank._tables import Parts, gains_of, id_examples, read_parts, vocabulary_of

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
    lists = _coded(parts, {name: said(name, source) for name, source in sources.items()})
    del parts  # of the columns only the codes are needed
    return lists.ranks(depth, keep_seen)


def _coded(parts: Parts, names: Mapping[str, str]) -> CodedLists:
    """Give the ids of all tables common codes; ``names`` is how messages call the tables."""
    frames = parts.frames
    _refuse_list_cells(frames, names)
    for column in ("user_id", "item_id"):
        check_kinds(frames, column, names)
    recs, truth = frames["recs"], frames["truth"]
    if len(truth) == 0:
        raise DataError(
            f"{names['truth']} has no rows; nobody can be evaluated: name the held-out items"
        )
    users = vocabulary_of([truth["user_id"]], "user")
    items = vocabulary_of([frame["item_id"] for frame in frames.values()], "item")
    codes = {
        name: (codes_of(frame["user_id"], users), codes_of(frame["item_id"], items))
        for name, frame in frames.items()
    }
    strangers = codes["recs"][0] < 0
    if len(recs) and strangers.all():
        raise DataError(
            f"no user of {names['recs']} is in {names['truth']} ({id_examples(recs, truth)}); "
            "check that both sides use the same ids"
        )
    gains, counts = gains_of(parts, names["truth"])
    return CodedLists(
        where=names["recs"],
        users=users,
        items=items,
        recs=codes["recs"],
        truth=codes["truth"],
        train=codes.get("train"),
        keys=list_keys(recs, codes["recs"][0], users, names["recs"]),
        gains=gains,
        design={
            "grade": parts.grade,
            "gain": parts.gain,
            "ungraded": parts.ungraded and parts.ungraded[0],
        },
        counts=counts,
        strangers=recs["user_id"].filter(_mask(strangers)).n_unique() if strangers.any() else 0,
    )


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
