"""``read``: a path, a frame or the name of a data set to a Dataset."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.core.dataset import Dataset, Source
from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions, TimeUnit
from fullrank.data._delimited import INDEX
from fullrank.data._options import ReadOptions, passing
from fullrank.data._tables import Shaped, load_table, shape
from fullrank.data._times import Times, parse_times
from fullrank.data._types import ratings
from fullrank.data.encode import encode_column

_EXACT = 2**53
_INDEXES = (INDEX, "__index_level_0__")
_ROLES = ("user_id", "item_id", "rating", "timestamp", "position")


def read(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    time_unit: str | None = None,
) -> Dataset:
    """Read interactions from a file, a frame or a named data set.

    What is in a file is found from its content: delimited text (any separator, ``::``, with or
    without header, RecBole's typed headers), Parquet, Arrow, JSON lines, TREC qrels; plain, gzip
    or a zip with one table. What was assumed is in ``Dataset.source.notes`` and in the recipe.

    Columns are found by name: ``user_id, item_id, rating, timestamp`` or ``position``, and common
    spellings of them; all others become ``extras``. A file without header has two columns (user,
    item), three (and rating, or time if all are whole numbers over 100,000,000) or four (and
    time). Ids keep their type: text of a file becomes integers only if all ids of the column are
    integers in their usual form, so ``0001`` stays text. Whole numbers as times are in seconds,
    milliseconds, microseconds or nanoseconds by their size; times without zone are UTC.

    Args:
        source: path (``pathlib.Path``, or text with a suffix or a slash), frame (pandas, Polars,
            PyArrow, or a mapping of columns), name (see ``list_sources``), or Interactions and
            Dataset, which are passed through.
        columns: names in the source by role, such as ``{"user_id": "uid"}``.
        format: ``delimited, parquet, arrow, jsonl, trec-qrels``; or, never guessed,
            ``sequence`` (each line a user followed by its items) and ``matrix`` (of ratings).
        separator: of delimited text; ``" "`` means any run of blanks.
        quote: quote sign, ``""`` for none.
        escape: sign that marks a quote inside quotes, such as a backslash.
        encoding: of text, such as ``"latin-1"``; UTF-8 if left out.
        header: True if the first line names the columns.
        time_unit: unit of whole-number times: ``s, ms, us, ns`` or ``order``.

    Raises:
        DataError: what can't be read as it is, with file, line or row, and remedy.
        SpecError: an option, role or column that doesn't exist.

    Example:
        >>> data = read({"user_id": ["u1", "u2"], "item_id": [10, 11], "timestamp": [100, 200]})
        >>> data.interactions.user_ids.tolist(), data.interactions.times.tolist()
        (['u1', 'u2'], [100, 200])
    """
    options = ReadOptions(
        columns or {}, format, separator, quote, escape, encoding, header, time_unit
    )
    if isinstance(source, Dataset | Interactions):
        if options != ReadOptions():
            raise DataError("interactions that are already read take no reading options")
        return source if isinstance(source, Dataset) else Dataset(source)
    if isinstance(source, str) and not _is_path(source):
        from fullrank.data.sources import read_source

        if options != ReadOptions():
            raise DataError(
                f"the data set {source!r} is read as its entry says and takes no options; to read "
                f"a file of this name, write './{source}'"
            )
        return read_source(source)
    name = Path(source).name if isinstance(source, str | os.PathLike) else "frame"
    # No name for the table here: its columns are let go as soon as they are encoded.
    interactions = to_interactions(shape(load_table(source, options, typed=True), options), options)
    notes = "; ".join(interactions.recipe[0]["notes"])
    return Dataset(interactions, source=Source(name, notes=notes))


def _is_path(source: str) -> bool:
    """Text is a path if it has a slash or a suffix, or if such a file is there and no such set."""
    from fullrank.data.sources import is_source

    if is_source(source):
        return False
    return "/" in source or os.sep in source or "." in source or Path(source).exists()


def to_interactions(shaped: Shaped, options: ReadOptions) -> Interactions:
    """Encode a shaped table; what was assumed goes into the recipe."""
    table, notes = shaped.table, list(shaped.notes)
    if table.format == "trec-run":
        raise DataError(
            f"{table.where} is a TREC run, a recommendation list and no log of interactions; use "
            f"it with evaluate, or pass {passing('format', 'delimited')}"
        )
    if len(table.frame) == 0:
        raise DataError(f"{table.where} has columns but no rows; expected interactions")
    values = None
    if "rating" in shaped.roles:
        values = ratings(table, "rating").to_numpy().astype(np.float64, copy=False)
    times, place = _times(shaped, options)
    notes += times.notes if times is not None else ()
    extras = _extras(table.frame, {*_ROLES} - ({"position"} if place else set()), notes)
    form, user_column, item_column = table.format, table.frame["user_id"], table.frame["item_id"]
    del shaped, table
    users, user_vocab = encode_column(user_column, "user")
    del user_column
    items, item_vocab = encode_column(item_column, "item")
    del item_column
    step = {"step": "read", "format": form, "notes": tuple(notes)}
    return Interactions(
        users,
        items,
        user_vocab,
        item_vocab,
        values,
        None if times is None else times.values,
        "s" if times is None else times.unit,
        extras,
        (step,),
    )


def _times(shaped: Shaped, options: ReadOptions) -> tuple[Times | None, bool]:
    """Times, and whether a column ``position`` is left for the extras."""
    has_place = "position" in shaped.roles
    if "timestamp" in shaped.roles:
        unit = options.time_unit or shaped.time_unit
        return parse_times(shaped.table, "timestamp", unit), has_place
    if not has_place:
        return None, False
    found = parse_times(shaped.table, "position", "order")
    order: TimeUnit = "order"
    return Times(found.values, order, ("position gives the order; there are no times",)), False


def _extras(frame: pl.DataFrame, without: set[str], notes: list[str]) -> dict[str, NDArray[Any]]:
    out = {}
    for name in frame.columns:
        if name in without:
            continue
        column = frame[name]
        if name in _INDEXES:
            notes.append(f"column {name!r} left out: it is the index of a pandas frame")
            continue
        if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object, pl.Null):
            notes.append(f"column {name!r} left out: {column.dtype} is no plain value")
            continue
        out[name] = extra_column(column)
    return out


def extra_column(column: pl.Series) -> NDArray[Any]:
    """A further column as an array: integers, floats, bools or text.

    Missing values are NaN in numbers (integers become floats then, or text if a float can't hold
    them) and ``""`` in text. Dates become ISO text.
    """
    if column.dtype == pl.Boolean and not column.null_count():
        return column.to_numpy()
    if column.dtype.is_integer():
        if not column.null_count():
            wide = pl.UInt64 if column.dtype == pl.UInt64 else pl.Int64
            return column.cast(wide).to_numpy().copy()
        if int(column.abs().max() or 0) <= _EXACT:  # type: ignore[arg-type]
            return column.cast(pl.Float64).to_numpy().copy()
    if column.dtype.is_float() or column.dtype.is_decimal():
        return column.cast(pl.Float64).to_numpy().copy()
    text = column.cast(pl.String).fill_null("")
    # One Python object a distinct text, shared by its rows.
    codes, labels = encode_column(text, column.name)
    return labels.decode(codes)
