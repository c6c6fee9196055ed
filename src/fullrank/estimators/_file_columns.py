"""Columns of files of sampled ranks: what can't be is refused, with file, column and row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, EstimateError, IdTypeError, SpecError, suggest
from fullrank.core.ranked import UNRANKED
from fullrank.core.text import quoted
from fullrank.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

    from fullrank.data._options import Table

_NOTABLE = 0.05
"""Share of the catalogue from which it matters how a sample was drawn."""

_TIED = 10
"""Targets with equal scores that all have their best rank, or all their worst: no coin did that."""

_TRUTH = {"true": True, "false": False, "1": True, "0": False}

LARGEST = UNRANKED - 1
"""The last rank, and the largest size, that int32 holds."""


def check_blank_lines(source: Any, table: Table, encoding: str | None) -> None:
    """Refuse blank lines among the rows of one column: a target without a rank, or nothing?

    Raises:
        DataError: names the line.
    """
    if table.format != "delimited" or len(table.frame.columns) > 1:
        return
    from fullrank.data._payload import read_payload
    from fullrank.data._text import as_utf8

    lines = as_utf8(read_payload(Path(source)).data, encoding, table.where).rstrip().split(b"\n")
    blank = [number for number, line in enumerate(lines, start=1) if not line.strip()]
    if blank:
        raise DataError(
            f"{table.where}, line {blank[0]}: a blank line, which in a file of one column may be a "
            "target without a rank or nothing; add a column (user_id) and leave the rank empty "
            "there, or drop the line"
        )


def check_places(places: NDArray[np.int64], where: str) -> None:
    """Refuse targets that stand beyond any catalogue."""
    bad = np.flatnonzero(places > LARGEST)
    if len(bad):
        raise EstimateError(
            f"{where}: rank, others and listed add up to {places[bad[0]]:,} in row {bad[0] + 1}; "
            f"no target stands beyond {LARGEST:,}"
        )


def check_scheme(frame: pl.DataFrame, name: str | None, where: str) -> None:
    """Refuse draws that were not uniform, where the file says so."""
    other = [] if name is None else [x for x in frame[name].unique().to_list() if x != "uniform"]
    if other:
        raise EstimateError(
            f"{where}: {name} is {min(map(repr, other))}, and only ranks among uniformly drawn "
            "candidates tell of the rank in the catalogue; draw with Uniform(m=…), or drop these "
            "rows"
        )


def check_settled(frame: pl.DataFrame, ranks: NDArray[np.int64], where: str) -> None:
    """Refuse ranks that are always the best, or always the worst, that ties allow."""
    if not {"best", "worst"} <= set(frame.columns):
        return
    best, worst = (
        frame[name].cast(float, strict=False).fill_null(0.0).to_numpy()
        for name in ("best", "worst")
    )
    tied = (ranks > 0) & (best < worst)
    for end, name in ((best, "best"), (worst, "worst")):
        if tied.sum() >= _TIED and (ranks == end)[tied].all():
            raise EstimateError(
                f"{where}: in all {tied.sum():,} rows with ties (best < worst) the rank is the "
                f"{name}; settle equal scores at random, the same way for all candidates of a query"
            )


def whole_column(
    frame: pl.DataFrame, name: str, where: str, missing: int | None = None
) -> NDArray[np.int64]:
    """A column of whole numbers from 0 up; ``missing`` in the place of nulls."""
    import polars as pl

    column = frame[name]
    if column.dtype == pl.String:  # text of a file: what is no number shows itself below
        column = (
            column.replace("", None)
            .cast(pl.Float64, strict=False)
            .fill_null(-1.0)
            .set(column.is_null() | (column == ""), None)
        )
    if column.dtype == pl.Boolean or not (column.dtype.is_numeric() or column.dtype == pl.Null):
        raise DataError(f"{where}: {name} must hold whole numbers, got {column.dtype}")
    if column.null_count() and missing is None:
        row = int(column.is_null().arg_max() or 0)
        raise DataError(f"{where}: {name} is missing in row {row + 1}; fill it, or drop the row")
    values = column.cast(pl.Float64).fill_null(0.0 if missing is None else float(missing))
    array = values.to_numpy()
    bad = ~((array == np.floor(array)) & (array >= 0) & (array <= LARGEST))
    if missing is not None:
        bad |= (array == 0) & column.is_not_null().to_numpy()
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise EstimateError(
            f"{where}: {name} is {frame[name][row]!r} in row {row + 1}; "
            + (
                "ranks are whole numbers from 1 (1 is best; ties settled at random, not halved)"
                if missing is not None
                else f"expected a whole number up to {LARGEST:,}"
            )
        )
    return array.astype(np.int64)


def size_of(
    frame: pl.DataFrame, name: str | None, value: int | None, role: str, where: str
) -> NDArray[np.int64]:
    """A size from a column or for all rows.

    Raises:
        EstimateError: nobody told it, or both did.
    """
    option = "--" + role.replace("_", "-")
    if name is not None and value is not None:
        raise EstimateError(
            f"{where} has a column {name!r}, and {option} {value} was given too; leave one out"
        )
    if name is not None:
        sizes = whole_column(frame, name, where)
        if not sizes.all():
            row = int(np.flatnonzero(sizes == 0)[0])
            raise EstimateError(
                f"{where}: {name} is 0 in row {row + 1}; the target counts, so that it is at least "
                "1, and 2 where anything could be drawn"
            )
        return sizes
    if value is None:
        raise EstimateError(
            f"nothing says the {role.replace('_', ' ')} (the target included); give {option}, or "
            f"a column {role!r} where it varies"
        )
    if not isinstance(value, int | np.integer) or not 2 <= value <= LARGEST:
        raise SpecError(
            f"{option} must be a whole number from 2 (the target and one candidate) to "
            f"{LARGEST:,}, got {quoted(value)}"
        )
    return np.full(len(frame), value, np.int64)


def replacement_of(
    frame: pl.DataFrame, name: str | None, value: bool | None, where: str
) -> bool | None:
    """Whether items could be drawn twice; None if nobody told."""
    if name is None:
        return value
    if frame[name].null_count():
        row = int(frame[name].is_null().arg_max() or 0)
        raise DataError(f"{where}: {name} is missing in row {row + 1}; fill it, or drop the row")
    distinct = [_TRUTH.get(str(x).strip().lower(), x) for x in frame[name].unique().to_list()]
    if len(distinct) > 1:
        raise EstimateError(
            f"{where}: {name} differs between rows; estimate the rows drawn with and without "
            "replacement apart"
        )
    if not distinct or distinct[0] not in (True, False, 0, 1):
        raise DataError(f"{where}: {name} must be true or false, got {distinct[:1]}")
    if value is not None and bool(distinct[0]) != value:
        option = "--replacement" if value else "--no-replacement"
        raise EstimateError(
            f"{where}: {name} is {bool(distinct[0])}, and {option} was given; leave the option out"
        )
    return bool(distinct[0])


def check_notable(sizes: NDArray[np.int64], catalogs: NDArray[np.int64]) -> None:
    """Demand to know how large samples were drawn."""
    share = float((sizes / np.maximum(catalogs, 1)).max(initial=0.0))
    if share > _NOTABLE:
        raise EstimateError(
            f"samples hold up to {share:.0%} of the catalogue, where it matters whether an item "
            "could be drawn twice; say --replacement or --no-replacement, or give a column "
            "'replacement'"
        )


def gains_of(frame: pl.DataFrame, grade: str | None, where: str) -> NDArray[np.float64]:
    if grade is None:
        return np.ones(len(frame))
    if grade not in frame.columns:
        raise DataError(f"{where} has no column {grade!r}{suggest(grade, frame.columns)}")
    kind = frame[grade].dtype
    if not (kind.is_numeric() or str(kind) in ("String", "Boolean", "Null")):
        raise DataError(
            f"{where}: grades must be numbers >= 0, and {grade!r} is a column of {kind}; convert it"
        )
    gains = frame[grade].cast(float, strict=False).fill_null(float("nan")).to_numpy()
    bad = np.flatnonzero(~(np.isfinite(gains) & (gains >= 0)))
    if len(bad):
        raise DataError(
            f"{where}: grades must be numbers >= 0, got {frame[grade][int(bad[0])]} in row "
            f"{bad[0] + 1} of {grade!r}"
        )
    return np.asarray(gains)


def codes_of(
    frame: pl.DataFrame, name: str | None, what: str, n: int, where: str
) -> tuple[NDArray[np.int64], Vocabulary]:
    """Codes of a column of ids; each row its own without one."""
    if name is None:
        return np.arange(n), Vocabulary(np.arange(n, dtype=np.int64), what)
    import polars as pl

    if frame[name].null_count():
        row = int(frame[name].is_null().arg_max() or 0)
        raise DataError(f"{where}: {name} is missing in row {row + 1}; fill it, or drop the row")
    from fullrank.data._types import whole_numbers

    column = frame[name]
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        if (column == "").any():
            row = int((column == "").arg_max() or 0)
            raise DataError(f"{where}: {name} is empty in row {row + 1}; fill it, or drop the row")
        whole = whole_numbers(column)
        column = column if whole is None else whole
    elif column.dtype.is_integer():
        column = _in_64_bits(column, name, where)
    else:
        raise IdTypeError(
            f"{where}: {name} must hold integers or text, got {column.dtype} (first: "
            f"{quoted(column.head(1).to_list()[0])}); convert the column, or leave it out"
        )
    ids, codes = np.unique(column.to_numpy(), return_inverse=True)
    return codes.reshape(-1), Vocabulary(ids, what)


def _in_64_bits(column: pl.Series, name: str, where: str) -> pl.Series:
    """Integers of at most 64 bits."""
    import polars as pl

    if column.dtype == pl.UInt64:
        return column
    narrow = column.cast(pl.Int64, strict=False)
    if narrow.null_count():
        row = int(narrow.is_null().arg_max() or 0)
        raise DataError(
            f"{where}: {name} is {column[row]} in row {row + 1}, beyond 64 bits; give ids as text"
        )
    return narrow
