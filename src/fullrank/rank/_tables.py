"""Read the tables that lists are made of, and code their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.core.vocabulary import Vocabulary
from fullrank.data._options import ReadOptions
from fullrank.data._tables import load_table, shape

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["interactions", "recommendations"]
ROLES: dict[str, tuple[str, ...]] = {
    "recs": ("user_id", "item_id", "rank", "score"),
    "truth": ("user_id", "item_id", "rating", "timestamp"),
    "train": ("user_id", "item_id", "rating", "timestamp"),
}


def lists_of(source: Any) -> Any:
    """Turn a mapping of user to items into a frame; pass other sources through."""
    import polars as pl

    if not isinstance(source, Mapping) or {"user_id", "item_id"} <= set(source):
        return source
    for user, items in source.items():
        if isinstance(items, str) or not isinstance(items, Sequence | set | frozenset | np.ndarray):
            raise DataError(f"user {user!r} has {items!r}, expected a list of items, best first")
    users = [user for user, items in source.items() for _ in items]
    flat = [item for items in source.values() for item in items]
    try:
        return pl.DataFrame({"user_id": _column(users), "item_id": _column(flat)}, strict=True)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise DataError(f"ids of one kind must be all text or all integers: {error}") from error


def _column(ids: list[Any]) -> pl.Series:
    import polars as pl

    plain = [x.item() if isinstance(x, np.generic) else x for x in ids]
    return pl.Series(plain, dtype=None if plain else pl.String, strict=True)


def read_parts(
    sources: Mapping[str, Any], columns: Mapping[str, str], grade: str | None
) -> dict[str, pl.DataFrame]:
    """Read lists, truth and training rows, each file once, with canonical column names.

    An entry of ``columns`` is used by each table that has such a role and such a column; a grade
    column of the truth becomes its ``rating``.

    Raises:
        SpecError: a role that no table has, or a column that none has.
    """
    known = {role for roles in ROLES.values() for role in roles}
    for role in columns:
        if role not in known:
            raise SpecError(f"--columns has no role {role!r}{suggest(role, known)}")
    raw = {}
    for name, source in sources.items():
        own = {role: column for role, column in columns.items() if role in ROLES[name]}
        raw[name] = load_table(lists_of(source), ReadOptions(own, kind=_kind(name)))
    heads = {name: table.frame.columns for name, table in raw.items()}
    chosen = _pick(heads, columns)
    if grade is not None:
        if grade not in (*heads["truth"], "rating"):
            raise SpecError(
                f"{raw['truth'].where} has no grade column {grade!r}"
                f"{suggest(grade, heads['truth'])}"
            )
        if grade in heads["truth"]:
            chosen["truth"]["rating"] = grade
    return {
        name: shape(table, ReadOptions(chosen[name], kind=_kind(name))).table.frame
        for name, table in raw.items()
    }


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


def gains_of(truth: pl.DataFrame, grade: str | None, where: str) -> NDArray[np.float64]:
    """Gains of the truth: its ``rating`` as float64 if a grade column was named, else ones.

    Raises:
        DataError: it holds no numbers, or a negative or missing grade; names the row's ids.
    """
    if grade is None:
        return np.ones(len(truth))
    if "rating" not in truth.columns or not truth["rating"].dtype.is_numeric():
        raise DataError(
            f"{where}: the grade column {grade!r} must hold numbers; mend it, or name another one"
        )
    gains = truth["rating"].to_numpy().astype(np.float64)
    bad = np.flatnonzero(~(gains >= 0) | ~np.isfinite(gains))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{where}: the grade column {grade!r} holds {gains[row]} (user "
            f"{truth['user_id'][row]!r}, item {truth['item_id'][row]!r}); grades must be finite "
            "and not negative: shift or drop such rows"
        )
    return gains


def vocabulary_of(columns: Sequence[pl.Series], name: str) -> Vocabulary:
    """The vocabulary of all ids in some columns of one kind."""
    import polars as pl

    distinct = [column.unique() for column in columns if len(column)]
    if distinct[0].dtype == pl.String:
        ids = pl.concat([c.rename("id") for c in distinct]).unique().sort()
        return Vocabulary(np.array(ids.to_list(), dtype=object), name)
    return Vocabulary.union([Vocabulary(c.sort().to_numpy(), name) for c in distinct])


def encode_against(column: pl.Series, vocab: Vocabulary) -> NDArray[np.int32]:
    """Codes of a column in a vocabulary, -1 for unknown ids; no Python object per row."""
    import polars as pl

    if len(column) == 0:
        return np.zeros(0, np.int32)
    if vocab.kind == "integer":
        return vocab.encode(column.to_numpy())
    labels = pl.Enum(pl.Series(vocab.ids, dtype=pl.String))
    codes = column.cast(labels, strict=False).to_physical().cast(pl.Int64).fill_null(-1)
    return codes.to_numpy().astype(np.int32)


def id_examples(recs: pl.DataFrame, truth: pl.DataFrame) -> str:
    """One user id of each side, for a message."""
    return f"{recs['user_id'][0]!r} there, {truth['user_id'][0]!r} here"
