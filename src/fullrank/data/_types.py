"""Types of columns: ids keep theirs, text columns of files get one, numbers are checked."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from fullrank.core.errors import DataError
from fullrank.core.text import quoted
from fullrank.data._cells import SPLIT_FIRST, is_list_text
from fullrank.data._columns import naming
from fullrank.data._options import Table

_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "\\N"]
# Beyond these, floats no longer tell neighbouring whole numbers apart.
_EXACT = {pl.Float32: 2**24, pl.Float64: 2**53}


def id_column(table: Table, role: str, name: str) -> tuple[pl.Series, str | None]:
    """An id column as Int64, UInt64 or String, with what had to be said about it.

    Text of a file becomes integers only if every id is one in its usual form (no leading zero,
    plus sign or blank), so that ``0001`` stays what it is. Floats become integers only if all
    are whole and below 2**53 (2**24 for 32-bit floats), with a note. Spaces around text ids are
    kept: ``data info`` shows ids that look alike.

    Raises:
        DataError: a missing id, or a column that holds no ids, with row and remedy.
    """
    column = table.frame[name]
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        column = column.cast(pl.String)
    note = None
    if column.dtype.is_float():
        column, note = _whole_ids(table, role, name, column)
    _refuse_missing(table, role, name, column)
    if column.dtype.is_integer():
        return _whole_64(table, role, name, column), note
    if column.dtype != pl.String:
        raise DataError(
            f"column {name!r} ({role}) of {table.where} must hold integers or text, got "
            f"{column.dtype}; {_remedy(table, role, column)}"
        )
    if table.typed:
        return column, note
    numbers = whole_numbers(column)
    if numbers is None:
        column, note = _text_ids(table, role, name, column)
        return column, note
    return numbers, note


def _remedy(table: Table, role: str, column: pl.Series) -> str:
    if column.dtype.is_nested():
        return SPLIT_FIRST
    return f"convert it, or {_another(table, role)}"


def _another(table: Table, role: str) -> str:
    """How to say that another column plays a role, for a message."""
    if table.nameable:
        return f"name another column: {naming(role)}"
    return f"rename the column that holds them to {role!r}"


def _whole_64(table: Table, role: str, name: str, column: pl.Series) -> pl.Series:
    """Integers as Int64, or as UInt64 where some are too large for it."""
    for dtype in (pl.Int64, pl.UInt64):
        wide = column.cast(dtype, strict=False)
        if not wide.null_count():
            return wide
    row = int(wide.is_null().arg_max() or 0)
    raise DataError(
        f"{table.place(row)}: column {name!r} ({role}) holds {column[row]}, beyond 64 bits; write "
        "such ids as text"
    )


def whole_numbers(column: pl.Series) -> pl.Series | None:
    """Text as integers if each reads back as the same text (nulls stay), else None."""
    for dtype in (pl.Int64, pl.UInt64):
        if (
            len(column) > 1000
            and (column[:1000].cast(dtype, strict=False).cast(pl.String) != column[:1000]).any()
        ):
            continue
        numbers = column.cast(dtype, strict=False)
        if bool((numbers.cast(pl.String).eq_missing(column)).all()):
            return numbers
    return None


def _text_ids(
    table: Table, role: str, name: str, column: pl.Series
) -> tuple[pl.Series, str | None]:
    """Text ids, unless they're integers spoilt by signs for missing, or written as floats."""
    signs = column.is_in(_MISSING)
    if signs.any() and whole_numbers(column.filter(~signs)) is not None:
        row = int(signs.arg_max() or 0)
        raise _missing_id(table, role, name, row, int(signs.sum()), column[row])
    if bool(column.str.contains(r"^-?\d+\.0+$").all()) and len(column):
        floats = column.cast(pl.Float64)
        return _whole_ids(table, role, name, floats)
    return column, None


def _whole_ids(
    table: Table, role: str, name: str, column: pl.Series
) -> tuple[pl.Series, str | None]:
    column = column.fill_nan(None)
    _refuse_missing(table, role, name, column)
    exact = _EXACT[pl.Float32 if column.dtype == pl.Float32 else pl.Float64]
    bad = ~(column.is_finite() & (column == column.round()) & (column.abs() < exact))
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise DataError(
            f"{table.place(row)}: column {name!r} ({role}) holds floats, and {quoted(column[row])} "
            "is no exact whole number; ids must be integers or text: mend the column, or write it "
            "as text"
        )
    return column.cast(pl.Int64), f"{name}: whole floats taken as integers"


def _refuse_missing(table: Table, role: str, name: str, column: pl.Series) -> None:
    missing = column.is_null()
    if column.dtype == pl.String:
        missing = missing | (column == "").fill_null(True)
    if missing.any():
        row = int(missing.arg_max() or 0)
        raise _missing_id(table, role, name, row, int(missing.sum()), column[row])


def _missing_id(
    table: Table, role: str, name: str, row: int, count: int, found: object
) -> DataError:
    return DataError(
        f"{table.place(row)}: no {role} (column {name!r} holds {quoted(found)}; {count:,} such "
        f"rows); drop these rows, or {_another(table, role)}"
    )


def numeric(table: Table, role: str, name: str) -> pl.Series:
    """A column of numbers as Float64, missing ones as null.

    Raises:
        DataError: text that is no number, with row.
    """
    column = table.frame[name]
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    if column.dtype != pl.String:
        raise DataError(
            f"column {name!r} ({role}) of {table.where} must hold numbers, got {column.dtype}"
        )
    known = column.set(column.is_in(_MISSING), None)
    numbers = known.str.strip_chars().cast(pl.Float64, strict=False)
    bad = numbers.is_null() & known.is_not_null()
    if bad.any():
        row = int(bad.arg_max() or 0)
        remedy = f"mend it, or {_another(table, role)}"
        if is_list_text(column[row]):
            remedy = SPLIT_FIRST
        raise DataError(
            f"{table.place(row)}: {role} must be a number, got {quoted(column[row])} (column "
            f"{name!r}); {remedy}"
        )
    return numbers


def ratings(table: Table, name: str) -> pl.Series:
    """The value column: finite float64, none missing.

    Raises:
        DataError: missing, NaN or infinite, with row.
    """
    numbers = numeric(table, "rating", name)
    bad = ~numbers.is_finite().fill_null(False)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise DataError(
            f"{table.place(row)}: rating must be finite, got {quoted(table.frame[name][row])} "
            f"(column {name!r}; {int(bad.sum()):,} such rows); drop or fill these rows, or give "
            "the column a name that is no rating"
        )
    return numbers


def guess_types(table: Table, skip: Mapping[str, str]) -> pl.DataFrame:
    """Text columns of an untyped table as integers or floats where all of a column are such."""
    out = table.frame
    for name in out.columns:
        if name in skip.values() or out.schema[name] != pl.String:
            continue
        column = out[name]
        numbers = whole_numbers(column)
        if numbers is None:
            floats = column.cast(pl.Float64, strict=False)
            zeros = bool(column.str.contains(r"^[+-]?0\d").any())
            numbers = floats if floats.null_count() == column.null_count() and not zeros else None
        if numbers is not None and column.null_count() < len(column):
            out = out.with_columns(numbers.alias(name))
    return out
