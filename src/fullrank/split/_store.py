"""Splits in folders: a Parquet file for each part with outside ids, and ``split.json``.

``split.json`` is written last and carries the fingerprint of everything, so that a folder that was
cut short or changed is refused. The columns are ``user_id, item_id, rating, timestamp`` and the
extra columns under their own names; ``row_number`` (place in the canonical order) and ``refit``
belong to the split.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import StoreError
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.core.vocabulary import Vocabulary
from fullrank.data.encode import encode_known
from fullrank.split._base import PART_CODES, Split

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
_OWN = ("row_number", "refit", "user_id", "item_id", "rating", "timestamp")
_ABOUT = "split.json"


def save(split: Split, folder: Path) -> None:
    """Write a split; an earlier split in the folder is replaced.

    Raises:
        StoreError: the folder holds something else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _make_room(folder)
    names = {name: _column_name(name) for name in sorted(split.data.extras)}
    for name, n in split.counts.items():
        if n:
            rows = np.flatnonzero(split.part == PART_CODES[name])
            _frame(split, rows, names).write_parquet(folder / f"{name}.parquet")
    for kind, vocab in (("user", split.data.user_vocab), ("item", split.data.item_vocab)):
        _vocab_frame(vocab).write_parquet(folder / f"{kind}_ids.parquet")
    about = _about(split, names)
    aside = folder / f"{_ABOUT}.new"
    aside.write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")
    aside.replace(folder / _ABOUT)


def load(folder: Path) -> Split:
    """Read a split and check it against its fingerprints.

    Raises:
        StoreError: a file is missing, unreadable, or not what was written.
    """
    from polars.exceptions import PolarsError

    about = _read_about(folder)
    try:
        parts = {name: _read_part(folder, name, n) for name, n in about["counts"].items()}
        split = _assemble(folder, about, parts)
        wanted = {"split": about["fingerprint"], "data": about["data_fingerprint"]}
    except (PolarsError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{folder} does not hold a whole split ({type(error).__name__}: {error}); "
            "write the split anew"
        ) from error
    found = {"split": split.fingerprint, "data": split.data.fingerprint}
    if found != wanted:
        raise StoreError(
            f"the rows in {folder} are not those that were written (fingerprints {found}, "
            f"expected {wanted}); write the split anew"
        )
    return split


def _make_room(folder: Path) -> None:
    """Remove an earlier split, its ``split.json`` first; refuse any other Parquet files."""
    old = folder / _ABOUT
    files = list(folder.glob("*.parquet"))
    ours = {f"{name}.parquet" for name in PART_CODES} | {"user_ids.parquet", "item_ids.parquet"}
    foreign = sorted(f.name for f in files if f.name not in ours)
    if foreign:
        raise StoreError(f"{folder} holds other files ({foreign[0]}, …); choose an empty folder")
    old.unlink(missing_ok=True)
    for file in files:
        file.unlink()


def _about(split: Split, names: dict[str, str]) -> dict[str, Any]:
    data = split.data
    return {
        "format": FORMAT,
        "recipe": dict(split.recipe),
        "data_recipe": [dict(step) for step in data.recipe],
        "fingerprint": split.fingerprint,
        "data_fingerprint": data.fingerprint,
        "counts": {name: n for name, n in split.counts.items() if n},
        "ties_at_cut": dict(split.ties_at_cut),
        "repeats": split.repeats,
        "notes": list(split.notes),
        "time_unit": data.time_unit,
        "columns": {
            "values": data.values is not None,
            "times": data.times is not None,
            "refit": split.refit is not None,
            "extras": {
                name: {"column": column, "dtype": str(data.extras[name].dtype)}
                for name, column in names.items()
            },
        },
    }


def _column_name(extra: str) -> str:
    return f"extra_{extra}" if extra in _OWN or extra.startswith("extra_") else extra


def _frame(split: Split, rows: NDArray[np.int64], names: dict[str, str]) -> pl.DataFrame:
    import polars as pl

    data = split.data
    columns: dict[str, Any] = {
        "row_number": pl.Series(rows),
        "user_id": data.user_vocab.series(data.users[rows]),
        "item_id": data.item_vocab.series(data.items[rows]),
    }
    if data.values is not None:
        columns["rating"] = pl.Series(data.values[rows])
    if data.times is not None:
        times = pl.Series(data.times[rows])
        columns["timestamp"] = times.set(times == NO_TIME, None)
    for name, column in names.items():
        columns[column] = _series(data.extras[name][rows])
    if split.refit is not None:
        columns["refit"] = pl.Series(split.refit[rows])
    return pl.DataFrame(columns)


def _series(values: NDArray[Any]) -> pl.Series:
    import polars as pl

    if values.dtype.kind in "OUT":
        return pl.Series(values.tolist(), dtype=pl.String)
    return pl.Series(values)


def _array(series: pl.Series, dtype: str) -> NDArray[Any]:
    if dtype == "object":
        out = np.empty(series.len(), dtype=object)
        out[:] = series.to_list()
        return out
    return np.ascontiguousarray(series.to_numpy()).astype(np.dtype(dtype))


def _vocab_frame(vocab: Vocabulary) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame({"id": _series(vocab.ids)})


def _read_about(folder: Path) -> dict[str, Any]:
    path = folder / _ABOUT
    if not path.is_file():
        raise StoreError(
            f"{folder} holds no {_ABOUT}: it is no split, or writing it was cut short; "
            "write the split anew"
        )
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = about["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} can't be read ({error}); write the split anew") from error
    if version != FORMAT:
        raise StoreError(f"{path} has format {version!r}, this version reads {FORMAT}")
    return about


def _read(path: Path) -> pl.DataFrame:
    import polars as pl

    if not path.is_file():
        raise StoreError(f"{path} is missing; the folder is incomplete, write the split anew")
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise StoreError(f"{path} can't be read ({error}); write the split anew") from error


def _read_part(folder: Path, name: str, n: int) -> pl.DataFrame:
    frame = _read(folder / f"{name}.parquet")
    if frame.height != n:
        raise StoreError(
            f"{folder / name}.parquet has {frame.height:,} rows and {_ABOUT} says {n:,}; "
            "the folder is damaged, write the split anew"
        )
    return frame


def _read_vocab(path: Path, name: str) -> Vocabulary:
    column = _read(path)["id"]
    dtype = str(column.dtype).lower()  # Int64, UInt64 or String
    dtype = "object" if dtype == "string" else dtype
    return Vocabulary(_array(column, dtype), name)


def _assemble(folder: Path, about: dict[str, Any], parts: dict[str, pl.DataFrame]) -> Split:
    import polars as pl

    named = [
        frame.with_columns(pl.lit(PART_CODES[n]).alias("__part")) for n, frame in parts.items()
    ]
    rows = pl.concat(named).sort("row_number")
    users = _read_vocab(folder / "user_ids.parquet", "user")
    items = _read_vocab(folder / "item_ids.parquet", "item")
    columns = about["columns"]
    data = Interactions(
        users=encode_known(rows["user_id"], users),
        items=encode_known(rows["item_id"], items),
        user_vocab=users,
        item_vocab=items,
        values=_array(rows["rating"], "float64") if columns["values"] else None,
        times=_array(rows["timestamp"].fill_null(NO_TIME), "int64") if columns["times"] else None,
        time_unit=about["time_unit"],
        extras={n: _array(rows[x["column"]], x["dtype"]) for n, x in columns["extras"].items()},
        recipe=tuple(about["data_recipe"]),
    )
    return Split(
        data=data,
        part=_array(rows["__part"], "int8"),
        recipe=about["recipe"],
        ties_at_cut=about["ties_at_cut"],
        repeats=about["repeats"],
        notes=tuple(about["notes"]),
        refit=_array(rows["refit"], "bool") if columns["refit"] else None,
    )
