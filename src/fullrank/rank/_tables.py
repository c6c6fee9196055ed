"""Read the tables that lists are made of, and code their ids."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.core.ranked import TargetRanks, TopK
from fullrank.core.text import quoted
from fullrank.core.vocabulary import Vocabulary
from fullrank.data._columns import assign_roles, plain
from fullrank.data._options import ReadOptions, Table, check_read
from fullrank.data._tables import Shaped, is_binary, load_table, shape
from fullrank.rank._codes import distinct_ids
from fullrank.rank._job import Ranking

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["interactions", "recommendations"]
ROLES: dict[str, tuple[str, ...]] = {
    "recs": ("user_id", "item_id", "rank", "score"),
    "truth": ("user_id", "item_id", "rating", "timestamp"),
    "train": ("user_id", "item_id", "rating", "timestamp"),
}
QRELS_GRADE = "relevance"
"""What trec_eval calls the fourth column of qrels."""
_GRADES = ("relevance", "rel", "label", "labels", "grade", "grades", "gain", "click", "clicked")


@dataclass(frozen=True, eq=False)
class Parts:
    """Lists, truth and training rows with canonical column names.

    Attributes:
        frames: the tables by part.
        grade: column of the truth with grades, which is its ``rating`` here; None if gains are 1.
        qrels: the truth is qrels of TREC, which are graded by definition.
        ungraded: column that looks like grades, though none was named, and how many of its rows
            are 0 or below.
    """

    frames: Mapping[str, pl.DataFrame]
    grade: str | None
    qrels: bool = False
    ungraded: tuple[str, int] | None = None

    @property
    def gain(self) -> str:
        """Where the gain of a target comes from, in words."""
        if self.qrels:
            return f"{QRELS_GRADE} column of the qrels"
        return "1 for every target" if self.grade is None else f"column {self.grade!r}"


def lists_of(source: Any) -> Any:
    """Turn a mapping of user to items into a frame; pass other sources through.

    Raises:
        DataError: what a ranking leaves behind, with what to do with it.
    """
    import polars as pl

    _refuse_results(source)
    if not isinstance(source, Mapping) or {"user_id", "item_id"} <= set(source):
        return source
    for user, items in source.items():
        if isinstance(items, str) or not isinstance(items, Sequence | set | frozenset | np.ndarray):
            raise DataError(
                f"user {quoted(user)} has {quoted(items)}, expected a list of items, best first"
            )
    users = [user for user, items in source.items() for _ in items]
    flat = [item for items in source.values() for item in items]
    try:
        return pl.DataFrame({"user_id": _column(users), "item_id": _column(flat)}, strict=True)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise DataError(f"ids of one kind must be all text or all integers: {error}") from error


def _refuse_results(source: Any) -> None:
    """Refuse rankings, which hold more than the lists that could be made of them."""
    name = type(source).__name__
    if isinstance(source, TopK):
        raise DataError(
            f"expected lists as a frame, a path or a mapping of user to items, got {name}; give "
            "its frame: .to_frame().drop('rank') lets equal scores tie, .to_frame() counts the "
            "order as it is"
        )
    if isinstance(source, Ranking | TargetRanks):
        ranks = "its .targets" if isinstance(source, Ranking) else "it"
        raise DataError(
            f"expected lists as a frame, a path or a mapping of user to items, got {name}, which "
            f"is ranked already: give {ranks} to a metric, as in (fr.NDCG @ 10).per_query(...)"
        )


def _column(ids: list[Any]) -> pl.Series:
    import polars as pl

    plain = [x.item() if isinstance(x, np.generic) else x for x in ids]
    return pl.Series(plain, dtype=None if plain else pl.String, strict=True)


def read_parts(
    sources: Mapping[str, Any],
    columns: Mapping[str, str],
    grade: str | None,
    read: Mapping[str, Any] | None = None,
) -> Parts:
    """Read lists, truth and training rows, each file once, with canonical column names.

    An entry of ``columns`` is used by each table that has such a role and such a column; a grade
    column of the truth becomes its ``rating``. ``read`` is for all files of text.

    Raises:
        SpecError: a role that no table has, a column that none has, an unknown reading option.
    """
    known = {role for roles in ROLES.values() for role in roles}
    for role in columns:
        if role not in known:
            raise SpecError(f"--columns has no role {role!r}{suggest(role, known)}")
    raw = {}
    for name, source in sources.items():
        own = {role: column for role, column in columns.items() if role in ROLES[name]}
        options = reading(source, read or {})
        raw[name] = load_table(lists_of(source), ReadOptions(own, **options, kind=_kind(name)))
    heads = {name: table.frame.columns for name, table in raw.items()}
    chosen = _pick(heads, columns)
    qrels = raw["truth"].format == "trec-qrels"
    if grade is not None and not (qrels and grade == QRELS_GRADE):
        _check_grade(grade, raw["truth"], qrels)
        if grade in heads["truth"]:
            chosen["truth"]["rating"] = grade
    shaped = {name: _shaped(raw.pop(name), name, chosen[name]) for name in list(raw)}
    grade = QRELS_GRADE if qrels else grade
    ungraded = _ungraded(shaped["truth"]) if grade is None else None
    return Parts({name: s.table.frame for name, s in shaped.items()}, grade, qrels, ungraded)


def _shaped(table: Table, name: str, columns: dict[str, str]) -> Shaped:
    """``shape``, with whole ranks kept as they are instead of as floats."""
    import polars as pl

    kind = _kind(name)
    ranks = None
    if kind == "recommendations" and table.typed:
        roles = assign_roles(table.frame.columns, columns, kind, table.where)
        held = table.frame[roles["rank"]] if "rank" in roles else None
        if held is not None and held.dtype.is_integer() and not held.null_count():
            ranks = held.alias("rank")
            left = [c for c in table.frame if c.name not in (roles["rank"], "rank")]
            table = replace(table, frame=pl.DataFrame(left))
            columns = {role: column for role, column in columns.items() if role != "rank"}
    found = shape(table, ReadOptions(columns, kind=kind))
    if ranks is None:
        return found
    frame = pl.DataFrame([*found.table.frame, ranks])
    return replace(found, table=replace(found.table, frame=frame))


def reading(source: Any, read: Mapping[str, Any]) -> dict[str, Any]:
    """Reading options as they concern a source: none of frames and binary files.

    Raises:
        SpecError: an option that there is not.
    """
    check_read(read)
    text = isinstance(source, str | os.PathLike) and not is_binary(source)
    return dict(read) if text else {}


def _check_grade(grade: str, truth: Table, qrels: bool) -> None:
    known = [QRELS_GRADE] if qrels else truth.frame.columns
    if grade not in (*known, "rating"):
        raise SpecError(f"{truth.where} has no grade column {grade!r}{suggest(grade, known)}")


def _ungraded(truth: Shaped) -> tuple[str, int] | None:
    """A column of the truth that looks like grades, with its rows of 0 and below, if any."""
    frame = truth.table.frame
    for name in frame.columns:
        if (name == "rating" or plain(name) in _GRADES) and frame[name].dtype.is_numeric():
            count = int((frame[name] <= 0).sum())
            if count:
                return truth.roles.get(name, name), count
    return None


def _kind(name: str) -> Kind:
    return "recommendations" if name == "recs" else "interactions"


def _pick(
    heads: Mapping[str, Sequence[str]], columns: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Which of the renamed columns belong to which table."""
    out: dict[str, dict[str, str]] = {name: {} for name in heads}
    for role, column in columns.items():
        users = [name for name in heads if role in ROLES[name] and column in heads[name]]
        if not users:
            have = sorted({head for names in heads.values() for head in names})
            raise SpecError(f"no file has the column {column!r}{suggest(column, have)}")
        for name in users:
            out[name][role] = column
    return out


def gains_of(parts: Parts, where: str) -> tuple[NDArray[np.float64] | None, dict[str, int]]:
    """Gains of the truth: its ``rating`` as float64 if it is graded, else None; and counts.

    Negative relevance in qrels means not relevant, as in trec_eval, and is counted.

    Raises:
        DataError: it holds no numbers, or a negative or missing grade; names the row's ids.
    """
    truth, grade = parts.frames["truth"], parts.grade
    if grade is None:
        counts = {} if parts.ungraded is None else {"rows_rated_0_or_below": parts.ungraded[1]}
        return None, counts
    if "rating" not in truth.columns or not truth["rating"].dtype.is_numeric():
        raise DataError(
            f"{where}: the grade column {grade!r} must hold numbers; mend it, or name another one"
        )
    gains = truth["rating"].to_numpy().astype(np.float64)
    if parts.qrels:
        negative = int(np.count_nonzero(gains < 0))
        return np.maximum(gains, 0.0), {"negative_relevance": negative} if negative else {}
    bad = np.flatnonzero(~(gains >= 0) | ~np.isfinite(gains))
    if len(bad):
        row = int(bad[0])
        user, item = quoted(truth["user_id"][row]), quoted(truth["item_id"][row])
        raise DataError(
            f"{where}: the grade column {grade!r} holds {gains[row]} (user {user}, item {item}); "
            "grades must be finite and not negative: shift or drop such rows"
        )
    return gains, {}


def vocabulary_of(columns: Sequence[pl.Series], name: str) -> Vocabulary:
    """The vocabulary of all ids in some columns of one kind."""
    filled = [column for column in columns if len(column)] or [columns[0]]
    return Vocabulary.union([Vocabulary(distinct_ids(column), name) for column in filled])


def id_examples(recs: pl.DataFrame, truth: pl.DataFrame) -> str:
    """One user id of each side, for a message."""
    return f"{quoted(recs['user_id'][0])} there, {quoted(truth['user_id'][0])} here"
