"""Delimited text (CSV and its kin), sequences and matrices to tables of text columns."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from fullrank.core.errors import DataError
from fullrank.data._columns import (
    is_header,
    is_typed_header,
    names_by_place,
    strip_types,
)
from fullrank.data._options import ReadOptions, Table, passing
from fullrank.data._survey import Dialect, PolarsType, column_types, survey_text
from fullrank.data._text import find_separator, sample_lines, split_fields

BACKSLASH = "\\"
_UNIT = 0x1F  # ASCII's own unit separator: stands for "::" and for runs of blanks
INDEX = "Unnamed: 0"
"""What pandas calls an index that came back as a column."""
_SAID = {"\t": "tab", " ": "blanks"}


def read_delimited(data: bytes, where: str, options: ReadOptions, *, typed: bool = False) -> Table:
    """Read delimited text; columns come out as text, empty fields as null.

    Args:
        data: the text in UTF-8.
        where: its name, for messages.
        options: what the reader was told.
        typed: columns that hold nothing but numbers in their usual form come out as numbers, as
            ``guess_types`` and ``id_column`` would make them of the text.

    Raises:
        DataError: rows of unequal length or stray quotes, with the line.
    """
    lines = sample_lines(data)
    quote = '"' if options.quote is None else options.quote
    separator = options.separator or find_separator(lines, quote, options.escape)
    if separator is not None and len(separator) > 1 and options.quote is None:
        quote = ""
    rows = split_fields(lines, separator or "\x1f", quote, options.escape)
    names, header, notes = _names(rows, options, where)
    dialect = Dialect(separator or "\x1f", quote, options.escape)
    found = survey_text(data, dialect, len(names), header)
    text, odd = data, 0
    if found is None:
        text, dialect, odd = _normalise(data, where, dialect)
        found = survey_text(text, dialect, len(names), header) if typed and not odd else None
    types = column_types(names, found, options, where) if typed and found is not None else {}
    frame = _parse(text, where, dialect, names, types, header)
    frame, padded = _without_padding(frame)
    notes = (*notes, *padded)
    said = _SAID.get(separator or "", repr(separator)) if separator else "none (one column)"
    return Table(
        frame,
        where,
        "delimited",
        (f"separator: {said}", *notes),
        first_line=None if odd else 1 + header,
        typed=False,
        named=header,
    )


def _names(
    rows: Sequence[Sequence[str]], options: ReadOptions, where: str
) -> tuple[list[str], bool, tuple[str, ...]]:
    """Names of the columns, if the first line holds them, and what was assumed."""
    header = options.header
    notes: tuple[str, ...] = ()
    if header is None:
        header = is_header(rows, options.columns)
    if header:
        names = [name.strip() for name in rows[0]]
        if is_typed_header(names):
            names, notes = strip_types(names), ("typed header (RecBole)",)
        # pandas writes its index as a first column without name.
        names = [name or (f"column_{j + 1}" if j else INDEX) for j, name in enumerate(names)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise DataError(
                f"{where}: the header names {twice[0]!r} more than once ({', '.join(names)}); "
                f"rename one, or pass {passing('header', False)} if the first line is data"
            )
        return names, True, notes
    if options.columns:
        return [f"column_{j + 1}" for j in range(len(rows[0]))], False, ("no header",)
    names = names_by_place(rows, options.kind, where)
    return names, False, (f"no header, columns taken as {', '.join(names)}",)


def _normalise(data: bytes, where: str, dialect: Dialect) -> tuple[bytes, Dialect, int]:
    """Check all records and return them in a plain dialect: text, dialect, odd lines."""
    from fullrank.kernels import delimited

    separator, quote, escape = dialect
    to = separator if len(separator) == 1 and separator != " " else chr(_UNIT)
    if to != separator and to.encode() in data:
        raise DataError(f"{where} holds the control sign 0x1F, which no table should; remove it")
    out = np.empty(len(data) + 1, dtype=np.uint8)
    status, line, found, expected, written, odd = delimited.scan(
        np.frombuffer(data, dtype=np.uint8),
        np.frombuffer(separator.encode(), dtype=np.uint8),
        separator == " ",
        ord(quote) if quote else -1,
        ord(escape) if escape and escape != quote else -1,
        ord(to),
        out,
    )
    if status == delimited.FIELDS:
        raise DataError(
            f"{where}, line {line}: expected {expected} fields as in the first line, found "
            f"{found} (separator {_SAID.get(separator, repr(separator))}); mend the line, or pass "
            "another separator (--read separator=';' on the command line)"
            f"{_sequence_hint(separator)}"
        )
    if status != delimited.OK:
        what = "opens a quote that is never closed" if status == delimited.OPEN else "a stray quote"
        raise DataError(
            f"{where}, line {line}: {what}; pass {passing('escape', BACKSLASH)} if quotes "
            f"inside fields are marked by a backslash, or {passing('quote', '')} if quotes are "
            "ordinary signs"
        )
    return out[:written].tobytes(), Dialect(to, quote, None), odd


def _sequence_hint(separator: str) -> str:
    if separator != " ":
        return ""
    return f", or {passing('format', 'sequence')} if each line is a user followed by its items"


def _parse(
    text: bytes,
    where: str,
    dialect: Dialect,
    names: Sequence[str],
    types: Mapping[str, PolarsType],
    header: bool,
) -> pl.DataFrame:
    """Columns by name; text unless ``types`` says another."""
    schema = {f"column_{j + 1}": types.get(name, pl.String) for j, name in enumerate(names)}
    try:
        frame = pl.read_csv(
            text,
            has_header=False,
            skip_rows=int(header),
            separator=dialect.separator,
            quote_char=dialect.quote or None,
            schema=schema,
        )
    except pl.exceptions.NoDataError:
        frame = pl.DataFrame(schema=schema)
    except pl.exceptions.PolarsError as error:
        # Such as a line end inside the quotes of the header, which a sample of lines can't follow.
        said = str(error).split("\n", maxsplit=1)[0]
        raise DataError(
            f"{where} can't be cut into the {len(names)} columns of its first line ({said}); check "
            "its quotes, or pass separator, quote and header (--read quote='' on the command line)"
        ) from error
    frame.columns = list(names)
    return frame


def _without_padding(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Leave out the blank after a separator (``a, b, c``): only if all of a column have one."""
    padded = [
        name
        for name in frame.columns
        if len(frame)
        and frame.schema[name] == pl.String
        and bool(frame[name].str.starts_with(" ").fill_null(True).all())
    ]
    padded = [name for name in padded if frame[name].null_count() < len(frame)]
    if not padded:
        return frame, ()
    note = f"blanks before all values of {', '.join(padded)} left out"
    return frame.with_columns(pl.col(padded).str.strip_chars_start(" ")), (note,)


def read_sequences(data: bytes, where: str) -> Table:
    """Read lines of a user followed by its items in order, parted by blanks."""
    lines = _all_lines(data)
    frame = (
        pl.DataFrame({"line": lines})
        .with_columns(fields=pl.col("line").str.strip_chars().str.split(" "))
        .select(
            user_id=pl.col("fields").list.first(),
            item_id=pl.col("fields").list.slice(1),
        )
    )
    frame = frame.with_columns(position=pl.int_ranges(pl.col("item_id").list.len()))
    # A user without items has no interaction.
    frame = frame.filter(pl.col("item_id").list.len() > 0).explode("item_id", "position")
    notes = ("each line a user followed by its items, in order",)
    return Table(frame.filter(pl.col("item_id") != ""), where, "sequence", notes, typed=False)


def read_matrix(data: bytes, where: str) -> Table:
    """Read a matrix of ratings, one line a user and 0 where there is none; ids count from 0."""
    try:
        dense = np.loadtxt(io.BytesIO(data), ndmin=2)
    except ValueError as error:
        raise DataError(
            f"{where} is no matrix of numbers ({error}); expected equally many numbers a line"
        ) from error
    users, items = np.nonzero(dense)
    frame = pl.DataFrame({"user_id": users, "item_id": items, "rating": dense[users, items]})
    notes = ("a matrix: user is the line, item the column, both from 0; 0 is no rating",)
    return Table(frame, where, "matrix", notes)


def _all_lines(data: bytes) -> list[str]:
    return [line for line in data.decode().splitlines() if line.strip()]
