"""Cells that hold whole lists: one row an item is made of them, or they are told apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from fullrank.core.errors import DataError
from fullrank.data._options import Table

SPLIT_FIRST = "one row per user and item: split the lists first"
_SEPARATED = re.compile(r"[\[(]?\s*[^\s,;|]+(\s*[,;|]\s*[^\s,;|]+){2,}\s*[\])]?")
_BRACKETS = re.compile(r"\s*\[.*\]\s*", re.DOTALL)
_SAMPLE = 100


def explode_lists(table: Table, roles: Mapping[str, str]) -> Table:
    """A row for each item where the cells of ``item_id`` are lists, best first.

    Lists of ranks or scores beside them are cut alike; other columns are repeated.

    Raises:
        DataError: lists of unequal length in a row, one score for a list, a missing item; names
            the row.
    """
    name = roles["item_id"]
    table = replace(table, frame=_as_lists(table.frame))
    if not _holds_lists(table.frame, name):
        return table
    beside = [roles[role] for role in ("rank", "score") if role in roles]
    columns = [name, *beside]
    lists = table.frame.filter(pl.col(name).list.len() > 0)
    for other in beside:
        if not _holds_lists(table.frame, other):
            raise DataError(
                f"{table.where}: column {name!r} holds lists and column {other!r} single values; "
                f"give one {other} for each item of a list, or {SPLIT_FIRST}"
            )
    _check_rows(table, columns)
    return replace(table, frame=lists.explode(*columns), first_line=None)


def _as_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells of a fixed length are lists too; lists that are all empty are of text."""
    fixed = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Array)]
    frame = frame.with_columns(pl.col(fixed).arr.to_list()) if fixed else frame
    empty = [name for name, dtype in frame.schema.items() if dtype == pl.List(pl.Null)]
    return frame.with_columns(pl.col(empty).cast(pl.List(pl.String))) if empty else frame


def _holds_lists(frame: pl.DataFrame, name: str) -> bool:
    return isinstance(frame.schema[name], pl.List)


def _check_rows(table: Table, columns: list[str]) -> None:
    """Lists of a row are equally long, and every item is there."""
    name = columns[0]
    items = table.frame[name].list
    missing = items.eval(pl.element().is_null()).list.any().fill_null(False)
    if missing.any():
        row = int(missing.arg_max() or 0)
        raise DataError(f"{table.place(row)}: the list of {name!r} lacks an item; leave it out")
    for other in columns[1:]:
        lengths = items.len().fill_null(0), table.frame[other].list.len().fill_null(0)
        unlike = lengths[0] != lengths[1]
        if unlike.any():
            row = int(unlike.arg_max() or 0)
            raise DataError(
                f"{table.place(row)}: {lengths[0][row]} values in the list of {name!r} and "
                f"{lengths[1][row]} in that of {other!r}; give each item one"
            )


def is_list_text(text: str) -> bool:
    """True for text such as ``"12,7,30"`` or ``"['a', 'b']"``."""
    return bool(_SEPARATED.fullmatch(text) or _BRACKETS.fullmatch(text))


def list_example(column: pl.Series) -> str | None:
    """The first cell of a text column whose cells look like lists, if nine in ten do."""
    if column.dtype != pl.String:
        return None
    sample = column.drop_nulls().head(_SAMPLE).to_list()
    found = [text for text in sample if is_list_text(text)]
    return found[0] if found and 10 * len(found) >= 9 * len(sample) else None
