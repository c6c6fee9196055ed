"""Write tables and interactions so that ``read`` gives them back."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl

from fullrank.core.errors import DataError, SpecError, suggest
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.core.paths import check_file_place
from fullrank.core.text import quoted
from fullrank.core.vocabulary import Vocabulary
from fullrank.data._columns import ALIASES, plain

_SUFFIXES = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
}


def format_of(path: str | Path, format: str | None = None) -> str:
    """The format to write a path in, by its suffix unless it is given.

    Raises:
        SpecError: an unknown format or suffix.
    """
    form = format or _SUFFIXES.get(Path(path).suffix.lower(), "")
    if form not in _SUFFIXES.values():
        known = sorted(set(_SUFFIXES.values()))
        raise SpecError(
            f"can't tell the format of {Path(path).name!r}{suggest(form, known)}; end the name in "
            f"one of {', '.join(_SUFFIXES)} (or, in Python, pass format)"
        )
    return form


def write_table(frame: pl.DataFrame, path: str | Path, format: str | None = None) -> None:
    """Write a frame; the file appears under its name only when it is whole.

    Args:
        frame: the rows.
        path: where; its suffix tells the format (.parquet, .csv, .tsv, .jsonl, .arrow).
        format: ``parquet, csv, tsv, jsonl`` or ``arrow``, for another suffix.

    Raises:
        SpecError: an unknown format or suffix.
    """
    path = Path(path)
    form = format_of(path, format)
    check_file_place(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _write(frame, aside, form)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _write(frame: pl.DataFrame, path: Path, form: str) -> None:
    if form == "parquet":
        frame.write_parquet(path, compression="zstd")
    elif form == "arrow":
        frame.write_ipc(path)
    elif form == "jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="\t" if form == "tsv" else ",")


def interactions_frame(interactions: Interactions) -> pl.DataFrame:
    """The rows with outside ids: ``user_id, item_id``, then what there is of the rest.

    Times are whole numbers in a column ``timestamp`` (seconds), ``timestamp_ms``,
    ``timestamp_us`` or ``timestamp_ns``, or ``position`` for an order; unknown ones are null.
    """
    columns = {
        "user_id": _ids(interactions.user_vocab, interactions.users),
        "item_id": _ids(interactions.item_vocab, interactions.items),
    }
    if interactions.values is not None:
        columns["rating"] = pl.Series(interactions.values)
    if interactions.times is not None:
        known = pl.Series(interactions.times != NO_TIME)
        times = pl.Series(interactions.times)
        columns[_time_name(interactions)] = times.set(~known, None)
    for name, values in interactions.extras.items():
        if values.dtype == object:
            labels, codes = np.unique(values.astype(str), return_inverse=True)
            columns[name] = pl.Series(labels.tolist(), dtype=pl.String).gather(codes)
        else:
            columns[name] = pl.Series(values)
    return pl.DataFrame(columns)


def _ids(vocab: Vocabulary, codes: np.ndarray) -> pl.Series:
    if vocab.kind == "integer":
        return pl.Series(vocab.decode(codes))
    # Taking by code in Polars spares a Python object a row.
    return pl.Series(vocab.ids.tolist(), dtype=pl.String).gather(codes)


def _time_name(interactions: Interactions) -> str:
    unit = interactions.time_unit
    if unit == "order":
        return "position"
    return "timestamp" if unit == "s" else f"timestamp_{unit}"


def write_interactions(
    interactions: Interactions, path: str | Path, format: str | None = None
) -> None:
    """Write interactions so that ``read`` gives the same rows, ids, times and columns.

    Seconds that size alone would mistake (beyond 1e11, or like YYYYMMDD) are named
    ``timestamp_s``.

    Args:
        interactions: the rows.
        path: where.
        format: see ``write_table``.

    Raises:
        DataError: text that only a format with types keeps (ids such as "1"), for CSV and TSV.
    """
    frame = interactions_frame(interactions)
    if "timestamp" in frame.columns and _size_misleads(interactions):
        frame = frame.rename({"timestamp": "timestamp_s"})
    form = format or _SUFFIXES.get(Path(path).suffix.lower())
    if form in ("csv", "tsv"):
        _refuse_lost_types(frame, path)
    _refuse_taken_names(interactions, path)
    write_table(frame, path, format)


def _size_misleads(interactions: Interactions) -> bool:
    """True if seconds would be read as another unit, or as dates written YYYYMMDD."""
    assert interactions.times is not None
    size = np.abs(interactions.times[interactions.times != NO_TIME])
    if len(size) == 0:
        return False
    return bool(size.max() >= 10**11 or 19_000_101 <= size.min() <= 21_001_231)


def _refuse_lost_types(frame: pl.DataFrame, path: str | Path) -> None:
    from fullrank.data._types import whole_numbers

    for name in frame.columns:
        column = frame[name]
        if column.dtype != pl.String or not len(column):
            continue
        floats = column.cast(pl.Float64, strict=False).is_not_null().all()
        if whole_numbers(column) is not None or floats:
            raise DataError(
                f"{path}: {name} is text that looks like numbers (such as {quoted(column[0])}), "
                "which CSV and TSV can't keep apart from numbers; write .parquet or .jsonl"
            )
        if column.str.starts_with(" ").all():
            raise DataError(
                f"{path}: {name} begins with a blank in all rows (such as {quoted(column[0])}), "
                "which CSV and TSV can't keep apart from a blank after a separator; write "
                ".parquet or .jsonl"
            )


def _refuse_taken_names(interactions: Interactions, path: str | Path) -> None:
    """An extra column that ``read`` would take for a value or a time."""
    has = {"rating": interactions.values, "timestamp": interactions.times}
    for name in interactions.extras:
        for role, column in has.items():
            if column is None and plain(name) in ALIASES["interactions"][role]:
                raise DataError(
                    f"{path}: the extra column {name!r} would be read back as {role}; rename it"
                )
