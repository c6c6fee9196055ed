"""Formats that say their types: Parquet, Arrow, JSON lines; and TREC's two."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import polars as pl

from fullrank.core.errors import DataError
from fullrank.core.text import quoted
from fullrank.data._options import Table, passing

BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream"}
_FAULTS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


def binary_format(head: bytes) -> str | None:
    """``"parquet"``, ``"arrow"``, ``"arrow stream"`` or None, by the first bytes."""
    return next((name for magic, name in BINARY.items() if head.startswith(magic)), None)


def read_binary(source: Path | bytes, where: str, form: str) -> Table:
    """Read Parquet or Arrow IPC (file or stream).

    Raises:
        DataError: damaged or cut short.
    """
    raw = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        if form == "parquet":
            frame = pl.read_parquet(raw)
        elif form == "arrow":
            frame = pl.read_ipc(raw)
        else:
            frame = pl.read_ipc_stream(raw)
    except _FAULTS as error:
        raise DataError(
            f"{where} is a {form.capitalize()} file that is damaged or cut short "
            f"({_first_line(error)}); fetch or write it again"
        ) from error
    return Table(frame, where, form.split()[0])


def read_jsonl(data: bytes, where: str) -> Table:
    """Read JSON lines, one object a line.

    Raises:
        DataError: a line that isn't an object, with its number.
    """
    try:
        frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except _FAULTS as error:
        raise _json_fault(data, where, _first_line(error)) from error
    for name, dtype in frame.schema.items():
        if dtype == pl.String:
            _refuse_mixed_json(data, where, name)
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return Table(frame, where, "jsonl", first_line=1 if lines == len(frame) else None)


def _json_fault(data: bytes, where: str, said: str) -> DataError:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            if isinstance(json.loads(line), dict):
                continue
            what = "is no object"
        except ValueError as error:
            what = f"is no JSON ({error})"
        return DataError(f"{where}, line {number}: {what}; expected one JSON object a line")
    return DataError(f"{where} can't be read as JSON lines ({said})")


def _refuse_mixed_json(data: bytes, where: str, name: str) -> None:
    """Text beside bare numbers in one field: Polars would turn all into text without a word."""
    pattern = re.escape(json.dumps(name)).encode() + rb"\s*:\s*-?\d"
    match = re.search(pattern, data)
    if match:
        line = data.count(b"\n", 0, match.start()) + 1
        raise DataError(
            f"{where}, line {line}: {name!r} is a number here and text elsewhere; write one type"
        )


def read_trec(data: bytes, where: str, form: str) -> Table:
    """Read a TREC run or qrels; ids are text there, whatever they look like.

    Raises:
        DataError: a line of another shape, with its number.
    """
    fields = ["user_id", None, "item_id", "rank", "score"]
    if form == "trec-qrels":
        fields = ["user_id", None, "item_id", "rating"]
    needed = 6 if form == "trec-run" else 4
    rows = pl.DataFrame({"line": data.decode().split("\n")}).with_row_index("number", offset=1)
    rows = rows.with_columns(pl.col("line").str.strip_chars()).filter(pl.col("line") != "")
    rows = rows.with_columns(f=pl.col("line").str.extract_all(r"\S+"))
    short = rows.filter(pl.col("f").list.len() < needed)
    if len(short):
        raise DataError(
            f"{where}, line {short['number'][0]}: expected {needed} fields of a {form}, found "
            f"{len(short['f'][0])}; mend the line, or pass "
            f"{passing('format', 'delimited')}"
        )
    columns = {name: pl.col("f").list.get(j) for j, name in enumerate(fields) if name}
    frame = rows.select(**columns)
    for name in set(frame.columns) - {"user_id", "item_id"}:
        number = frame[name].cast(pl.Float64 if name == "score" else pl.Int64, strict=False)
        if number.null_count():
            row = int(number.is_null().arg_max() or 0)
            raise DataError(
                f"{where}, line {rows['number'][row]}: {name} must be a number, got "
                f"{quoted(frame[name][row])}"
            )
        frame = frame.with_columns(number.alias(name))
    first = 1 if len(frame) and rows["number"][-1] == len(frame) else None
    return Table(frame, where, form, (f"{form}: ids are text",), first_line=first)


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", maxsplit=1)[0][:160]
