"""Read a table: find its format, name its columns, keep its ids as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from fullrank.core.errors import DataError
from fullrank.data._cells import explode_lists
from fullrank.data._columns import ID_ROLES, assign_roles, find_column, unit_of_name
from fullrank.data._delimited import read_delimited, read_matrix, read_sequences
from fullrank.data._formats import binary_format, read_binary, read_jsonl, read_trec
from fullrank.data._frames import to_frame
from fullrank.data._options import Kind, ReadOptions, Table
from fullrank.data._payload import read_payload
from fullrank.data._text import as_utf8, find_format, sample_lines
from fullrank.data._types import guess_types, id_column, numeric


@dataclass(frozen=True)
class Shaped:
    """A table whose columns have their roles' names and whose ids are checked.

    Attributes:
        table: the table; ``table.frame`` has ``user_id``, ``item_id`` and the other roles found.
        roles: name in the source by role.
        notes: what was assumed.
    """

    table: Table
    roles: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def time_unit(self) -> str | None:
        """The unit that the name of the time column states, if it does."""
        return unit_of_name(self.roles.get("timestamp", ""))


def read_table(
    source: Any,
    *,
    kind: Kind = "interactions",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> pl.DataFrame:
    """Read interactions or recommendation lists as a frame with canonical column names.

    Args:
        source: a path, or a frame of any kind.
        kind: ``"interactions"`` (``user_id, item_id, rating, timestamp, position``) or
            ``"recommendations"`` (``user_id, item_id, rank, score``).
        columns: names in the source by role, such as ``{"user_id": "uid"}``.
        format: see ``read``; found from the content if left out.
        separator: of delimited text.
        quote: quote sign; ``""`` for none.
        escape: sign before a quote inside quotes.
        encoding: of text; UTF-8 if left out.
        header: True if the first line names the columns.

    Returns:
        The rows in their order. ``user_id`` and ``item_id`` are Int64, UInt64 or String without
        missing ones; ``rank`` and ``score`` are Float64; other columns keep name and type.

    Raises:
        DataError: what can't be read, with file, line and remedy.
    """
    options = ReadOptions(
        columns or {}, format, separator, quote, escape, encoding, header, kind=kind
    )
    return shape(load_table(source, options, typed=True), options).table.frame


def read_ids(source: Any, roles: Sequence[str]) -> dict[str, pl.Series]:
    """Read the id columns of a table that need not be interactions, such as a list of items.

    Args:
        source: a path, or a frame of any kind.
        roles: ``user_id``, ``item_id`` or both.

    Raises:
        DataError: a column is not there, or an id is missing.
    """
    table = load_plain(source)
    out = {}
    for role in roles:
        name = find_column(table.frame.columns, role)
        if name is None:
            raise DataError(
                f"{table.where} has the columns {', '.join(table.frame.columns)}; expected a "
                f"column {role!r}: add or rename one"
            )
        out[role] = id_column(table, role, name)[0]
    return out


def is_binary(path: str | os.PathLike[str]) -> bool:
    """True for a file of Parquet or Arrow, which no option of text concerns."""
    path = Path(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return binary_format(file.read(8)) is not None


def load_table(source: Any, options: ReadOptions, *, typed: bool = False) -> Table:
    """Read a path or a frame as it is; ``typed`` see ``read_delimited``."""
    if isinstance(source, str | os.PathLike):
        return _load_path(Path(source), options, typed)
    return Table(to_frame(source), "the frame", "frame")


def load_plain(source: Any) -> Table:
    """Read a table that no reading options go with, so that no message may advise one.

    Raises:
        DataError: what can't be read as it is, with what to do to the file.
    """
    try:
        table = load_table(source, ReadOptions())
    except DataError as error:
        if "--read" not in str(error):
            raise
        found = str(error).rpartition("; ")[0]
        raise DataError(
            f"{found}; no reading options go with this file: mend it, so that it is CSV in UTF-8 "
            "(commas or tabs between fields, quotes around those that hold any)"
        ) from error
    return replace(table, nameable=False)


def _load_path(path: Path, options: ReadOptions, typed: bool) -> Table:
    if path.is_file():
        with path.open("rb") as file:
            form = binary_format(file.read(8))
        if form is not None:
            return _binary(path, str(path), form, options)
    payload = read_payload(path)
    where, data = payload.where, payload.data
    form = binary_format(data[:8])
    if form is not None:
        return _binary(data, where, form, options)
    if options.format in ("parquet", "arrow"):
        raise DataError(f"{where} is no {options.format.capitalize()} file; leave format out")
    data = as_utf8(data, options.encoding, where)
    lines = sample_lines(data)
    if not lines:
        raise DataError(f"{where} is empty; expected a table")
    # A separator or header that was told means delimited text.
    told = options.separator is not None or options.header is not None
    form = options.format or ("delimited" if told else _format_of(lines, where))
    if form == "jsonl":
        return read_jsonl(data, where)
    if form in ("trec-run", "trec-qrels"):
        return read_trec(data, where, form)
    if form == "sequence":
        return read_sequences(data, where)
    if form == "matrix":
        return read_matrix(data, where)
    return read_delimited(data, where, options, typed=typed)


def _format_of(lines: list[str], where: str) -> str:
    try:
        return find_format(lines)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def _binary(source: Path | bytes, where: str, form: str, options: ReadOptions) -> Table:
    if options.format not in (None, form.split()[0]):
        raise DataError(f"{where} is a {form} file, not {options.format}; leave format out")
    return read_binary(source, where, form)


def shape(table: Table, options: ReadOptions) -> Shaped:
    """Give the columns their roles' names, check the ids and find types of text columns."""
    frame = table.frame
    roles = assign_roles(frame.columns, options.columns, options.kind, table.where)
    notes = list(table.notes)
    if options.kind == "recommendations":
        table = explode_lists(table, roles)
        frame = table.frame
    if not table.typed:
        keep = {role: name for role, name in roles.items() if role in (*ID_ROLES, "timestamp")}
        frame = guess_types(table, keep)
    displaced = [r for r in roles if r in frame.columns and roles[r] != r]
    displaced = [name for name in displaced if name not in roles.values()]
    notes += [f"column {n!r} left out: {roles[n]!r} was named in its place" for n in displaced]
    fixed: dict[str, pl.Series] = {}
    for role in ID_ROLES:
        fixed[role], note = id_column(table, role, roles[role])
        notes += [note] if note else []
    for role in ("rank", "score"):
        if role in roles:
            fixed[role] = numeric(table, role, roles[role])
    notes += [f"{role} is column {name!r}" for role, name in roles.items() if role != name]
    rest = {role: frame[name] for role, name in roles.items() if role not in fixed}
    named = {role: column.alias(role) for role, column in {**fixed, **rest}.items()}
    others = [
        frame[name]
        for name in frame.columns
        if name not in roles.values() and name not in displaced and name not in named
    ]
    ordered = [named[role] for role in roles if role in named]
    made = Table(
        pl.DataFrame([*ordered, *others]),
        table.where,
        table.format,
        table.notes,
        table.first_line,
        table.typed,
        table.named,
    )
    return Shaped(made, roles, tuple(notes))
