"""Frames of any kind (pandas, Polars, PyArrow, and what Narwhals knows) to Polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl

from fullrank.core.errors import DataError, IdTypeError
from fullrank.core.text import quoted


def is_frame(obj: object) -> bool:
    """True for what ``to_frame`` takes."""
    if isinstance(obj, pl.DataFrame | pl.LazyFrame | Mapping):
        return True
    return isinstance(nw.from_native(obj, pass_through=True), nw.DataFrame | nw.LazyFrame)


def to_frame(obj: Any) -> pl.DataFrame:
    """Turn a frame of any kind into a Polars frame; an index is left out.

    A pandas frame is converted column by column, so that no PyArrow is needed and integers with
    missing values never pass through floats.

    Raises:
        DataError: no frame, or a column that can't be converted, with its name.
        IdTypeError: a pandas object column that mixes text and numbers.
    """
    if isinstance(obj, pl.DataFrame):
        return obj
    if isinstance(obj, pl.LazyFrame):
        return obj.collect()
    if isinstance(obj, Mapping):
        return _convert(lambda: pl.DataFrame(dict(obj)), "the mapping of columns")
    if hasattr(obj, "iloc"):
        # Before Narwhals, which refuses repeated names without saying what to do.
        _refuse_repeated_names(obj)
    frame = nw.from_native(obj, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        raise DataError(
            f"expected a frame (pandas, Polars, PyArrow, …), a path or the name of a data set, got "
            f"{type(obj).__name__}"
        )
    if frame.implementation.is_pandas_like():
        return _from_pandas(frame.to_pandas())
    return _convert(frame.to_polars, "the frame")


def _convert(make: Any, what: str) -> pl.DataFrame:
    try:
        out: pl.DataFrame = make()
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        said = str(error).split("\n", maxsplit=1)[0]
        raise DataError(f"{what} can't be turned into columns: {said}") from error
    return out


def _refuse_repeated_names(frame: Any) -> None:
    names = [str(name) for name in getattr(frame, "columns", ())]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the frame has more than one column {twice!r}; rename one")


def _from_pandas(frame: Any) -> pl.DataFrame:
    names = [str(name) for name in frame.columns]
    columns = [_series(name, frame.iloc[:, j]) for j, name in enumerate(names)]
    return pl.DataFrame(columns)


def _series(name: str, column: Any) -> pl.Series:
    kind = str(column.dtype)
    if kind == "category":
        codes = pl.Series(column.cat.codes.to_numpy().astype(np.int64))
        labels = _series(name, column.cat.categories.to_series())
        return labels.gather(codes.set(codes < 0, None)).alias(name)
    if kind.startswith("datetime64"):
        return _datetimes(name, column)
    if kind.lower().startswith(("int", "uint", "bool")):
        return _integers(name, column)
    if kind.lower().startswith("float"):
        return pl.Series(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if getattr(column.dtype, "storage", None) == "pyarrow":
        return _arrow_text(name, column)
    return _objects(name, column)


def _arrow_text(name: str, column: Any) -> pl.Series:
    """Text that pandas keeps in Arrow's memory: no Python object is made of it, and no copy."""
    held = column.array.__arrow_array__()
    if len(held) == 0:
        return pl.Series(name, [], dtype=pl.String)
    return cast(pl.Series, pl.from_arrow(held, rechunk=False)).alias(name)


def _datetimes(name: str, column: Any) -> pl.Series:
    zoned = getattr(column.dtype, "tz", None) is not None
    if zoned:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    values = column.to_numpy()
    unit = np.datetime_data(values.dtype)[0]
    if unit == "s":
        values, unit = values.astype("datetime64[ms]"), "ms"
    out = pl.Series(name, values.view(np.int64))
    missing = np.isnat(values)
    if missing.any():
        out = out.set(pl.Series(missing), None)
    return out.cast(pl.Datetime(unit, "UTC" if zoned else None))  # type: ignore[arg-type]


def _integers(name: str, column: Any) -> pl.Series:
    missing = column.isna().to_numpy(dtype=bool)
    base = str(column.dtype).split("[")[0].lower()
    base = "bool" if base.startswith("bool") else base
    if not missing.any():
        return pl.Series(name, column.to_numpy(dtype=base))
    filled = column.fillna(False if base == "bool" else 0)
    return pl.Series(name, filled.to_numpy(dtype=base)).set(pl.Series(missing), None)


def _objects(name: str, column: Any) -> pl.Series:
    """Text and Python objects; NaN and None are both missing."""
    missing = column.isna().to_numpy(dtype=bool)
    values = [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]
    # Lists of a Parquet file come back as arrays.
    values = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and str in kinds:
        text = next(v for v in values if isinstance(v, str))
        other = next(v for v in values if v is not None and not isinstance(v, str))
        raise IdTypeError(
            f"column {name!r} mixes text (such as {quoted(text)}, row {values.index(text) + 1}) "
            f"and {type(other).__name__} (such as {quoted(other)}, row {values.index(other) + 1}); "
            "convert it to one type"
        )
    try:
        out = pl.Series(name, values, strict=True)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        said = str(error).split("\n", maxsplit=1)[0]
        raise DataError(f"column {name!r} holds objects that are no column: {said}") from error
    if out.dtype == pl.Object:
        found = sorted(kind.__name__ for kind in kinds)
        raise DataError(f"column {name!r} holds objects that are no column: {', '.join(found)}")
    return out
