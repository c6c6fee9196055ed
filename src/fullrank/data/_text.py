"""Bytes to UTF-8, and what the first lines of a text say about its format."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence

from fullrank.core.errors import DataError, SpecError
from fullrank.data._columns import has_known_ids
from fullrank.data._options import passing

_SAMPLE_BYTES = 1 << 16
_SAMPLE_LINES = 100
_BLOCK = 1 << 24
SEPARATORS = ("::", "\t", ";", ",", "|", " ")
"""Separators that are looked for, see ``find_separator``; ``" "`` is any run of blanks."""


def as_utf8(data: bytes, encoding: str | None, where: str) -> bytes:
    """Return the text as UTF-8 bytes without a byte-order mark, lines ended by a line feed.

    Raises:
        DataError: bytes that the encoding doesn't have, with line and remedy.
        SpecError: an unknown encoding.
    """
    data = _transcode(data, encoding, where) if encoding else _check_utf8(data, where)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise DataError(
            f"{where}, line {line}: a NUL byte; the file is binary, or text in UTF-16; then pass "
            f"{passing('encoding', 'utf-16')}"
        )
    # Files of the old Mac end lines by a lone carriage return.
    return data.replace(b"\r", b"\n") if b"\n" not in data else data


def _transcode(data: bytes, encoding: str, where: str) -> bytes:
    try:
        text = data.decode(encoding)
    except LookupError:  # unknown, or no encoding of text (rot13, zip)
        raise SpecError(
            f"unknown encoding {encoding!r}; common ones: utf-8, latin-1, cp1252, utf-16, gbk"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{where}, line {line}: byte 0x{data[error.start]:02x} is not valid {encoding}; "
            "pass the encoding that the file was written in"
        ) from error
    except UnicodeError as error:
        raise DataError(
            f"{where} is not valid {encoding} ({error}); pass another encoding"
        ) from error
    return text.removeprefix("\ufeff").encode()


def _check_utf8(data: bytes, where: str) -> bytes:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(
            f"{where} starts with a mark of UTF-16; pass {passing('encoding', 'utf-16')}"
        )
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _BLOCK):
        block = data[start : start + _BLOCK]
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=start + _BLOCK >= len(data))
        except UnicodeDecodeError as error:
            at = min(start - pending + error.start, len(data) - 1)
            line = data.count(b"\n", 0, at) + 1
            raise DataError(
                f"{where}, line {line}: byte 0x{data[at]:02x} is not valid UTF-8; pass the "
                "encoding that the file was written in, such as "
                f"{passing('encoding', 'latin-1')}, or save the file as UTF-8"
            ) from error
    return data.removeprefix(codecs.BOM_UTF8)


def sample_lines(data: bytes) -> list[str]:
    """The first lines of a text that aren't blank (whole lines only)."""
    head = data[:_SAMPLE_BYTES]
    if len(data) > len(head) and b"\n" in head:
        head = head[: head.rindex(b"\n")]
    lines = head.decode("utf-8", errors="ignore").split("\n")
    return [line.rstrip("\r") for line in lines if line.strip()][:_SAMPLE_LINES]


def split_fields(
    lines: Sequence[str], separator: str, quote: str, escape: str | None
) -> list[list[str]]:
    """Cut sampled lines into fields, as far as a sample allows; ``scan`` is the exact one."""
    if separator == " ":
        return [re.split(r"[ \t]+", line.strip(" \t")) for line in lines]
    if len(separator) > 1:
        return [line.split(separator) for line in lines]
    quoting = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(lines, delimiter=separator, escapechar=escape, **quoting)
    try:
        return [row for row in reader if row]
    except csv.Error:
        return [line.split(separator) for line in lines]


def find_separator(lines: Sequence[str], quote: str, escape: str | None) -> str | None:
    """The separator that cuts the sampled lines into equally many fields, or None.

    Of several that do: one whose first line then holds known names of user and item; else ``::``
    or tab; else the one with most fields. If none does, the one that most lines agree on, so that
    the reader can name the line that doesn't.
    """
    ranked: list[tuple[tuple[bool, bool, bool, float], str]] = []
    for separator in SEPARATORS:
        rows = split_fields(lines, separator, quote, escape)
        widths = [len(row) for row in rows]
        usual = max(set(widths), key=widths.count, default=1)
        alike = widths.count(usual) / max(len(widths), 1)
        if usual < 2 or (alike < 1 and separator == " "):
            continue
        named = has_known_ids(rows[0])
        weight = float(usual) if alike == 1 and separator != " " else alike
        ranked.append(((alike == 1, named, separator in ("::", "\t"), weight), separator))
    if ranked:
        # max keeps the first of equals: the order of SEPARATORS.
        return max(ranked, key=lambda entry: entry[0])[1]
    blanks = [len(line.split()) for line in lines]
    return " " if blanks and min(blanks) > 1 else None


def find_format(lines: Sequence[str]) -> str:
    """``"jsonl"``, ``"trec-run"``, ``"trec-qrels"`` or ``"delimited"``.

    A line of a run is ``query Q0 item rank score tag``, one of qrels ``query 0 item grade``;
    both are only recognised if all sampled lines agree.
    """
    if lines[0].lstrip().startswith("{"):
        return "jsonl"
    if re.match(r"\[\s*(\{|$)", lines[0].lstrip()):
        raise DataError(
            "the file holds one JSON array; write JSON lines instead, one object a line"
        )
    rows = [line.split() for line in lines]
    if all(len(row) >= 6 and row[1] == "Q0" and _is_int(row[3]) for row in rows):
        return "trec-run"
    if all(
        len(row) == 4 and row[1] in ("0", "Q0") and _is_int(row[3]) and abs(int(row[3])) <= 1000
        for row in rows
    ):
        return "trec-qrels"
    return "delimited"


def _is_int(field: str) -> bool:
    return re.fullmatch(r"-?\d+", field) is not None
