"""How to read a table, and a table with what was found out while reading it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from fullrank.core.errors import SpecError, suggest

Kind = Literal["interactions", "recommendations"]
Format = Literal[
    "delimited", "parquet", "arrow", "jsonl", "trec-run", "trec-qrels", "sequence", "matrix"
]
FORMATS = (
    "delimited", "parquet", "arrow", "jsonl", "trec-run", "trec-qrels", "sequence", "matrix"
)  # fmt: skip
TIME_UNITS = ("s", "ms", "us", "ns", "order")
READ = ("format", "separator", "quote", "escape", "encoding", "header", "time_unit")
"""Names of the options that ``--read`` takes."""


def check_read(names: Iterable[str]) -> None:
    """Refuse reading options that there are not.

    Raises:
        SpecError: suggests the nearest name.
    """
    for name in names:
        if name not in READ:
            raise SpecError(f"--read has no option {name!r}{suggest(name, READ)}")


def passing(name: str, value: str | bool) -> str:
    """How to pass a reading option in Python and on the command line, for a message."""
    shell = str(value).lower() if isinstance(value, bool) else value
    if not re.fullmatch(r"[\w-]+", shell):
        shell = f"'{shell}'"
    return f"{name}={value!r} (--read {name}={shell} on the command line)"


@dataclass(frozen=True)
class ReadOptions:
    """What the reader was told; None means: find out from the content.

    Attributes:
        columns: names in the file by role, such as ``{"user_id": "uid"}``.
        format: one of ``FORMATS``.
        separator: of delimited text; ``" "`` means any run of blanks.
        quote: quote sign of delimited text; ``""`` for none.
        escape: sign before a quote sign inside quotes, such as a backslash.
        encoding: of text, such as ``"latin-1"``; UTF-8 without.
        header: True if the first line names the columns.
        time_unit: unit of whole-number times.
        kind: what the table holds, which decides the roles of its columns.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    separator: str | None = None
    quote: str | None = None
    escape: str | None = None
    encoding: str | None = None
    header: bool | None = None
    time_unit: str | None = None
    kind: Kind = "interactions"

    def __post_init__(self) -> None:
        for name in ("format", "separator", "quote", "escape", "encoding", "time_unit"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise SpecError(f"{name} must be text, got {value!r}; put it in quotes")
        if self.header is not None and not isinstance(self.header, bool):
            raise SpecError(f"header must be true or false, got {self.header!r}")
        if self.format is not None and self.format not in FORMATS:
            raise SpecError(f"unknown format {self.format!r}{suggest(self.format, FORMATS)}")
        if self.time_unit is not None and self.time_unit not in TIME_UNITS:
            raise SpecError(f"unknown time_unit {self.time_unit!r}; known: {', '.join(TIME_UNITS)}")
        for name, value, longest in (
            ("separator", self.separator, 2), ("quote", self.quote, 1), ("escape", self.escape, 1)
        ):  # fmt: skip
            if value is not None and (not value.isascii() or len(value) > longest):
                signs = f"{longest} ASCII sign{'s' if longest > 1 else ''}"
                raise SpecError(f"{name} must be at most {signs}, got {value!r}")
        if self.separator == "":
            raise SpecError("separator must not be empty; leave it out to have it found")


@dataclass(frozen=True)
class Table:
    """A table as it was read.

    Attributes:
        frame: the columns, names as in the file.
        where: file name, for messages.
        format: one of ``FORMATS``, or ``"frame"``.
        notes: what was assumed.
        first_line: line of the first row, or None where rows aren't lines of a text.
        typed: False if all columns are text whose types are still to be found.
        named: False if the columns had no names of their own.
        nameable: False if no option says which column plays a role: only a new header does.
    """

    frame: pl.DataFrame
    where: str
    format: str
    notes: tuple[str, ...] = ()
    first_line: int | None = None
    typed: bool = True
    named: bool = True
    nameable: bool = True

    def place(self, row: int) -> str:
        """Where row ``row`` (from 0) is, in words."""
        if self.first_line is None:
            return f"{self.where}, row {row + 1}"
        return f"{self.where}, line {self.first_line + row}"
