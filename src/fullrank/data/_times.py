"""Times of any kind to int64 in one stated unit.

Whole numbers are epoch times whose unit follows from their size: below 1e11 seconds (until the
year 5138), then milliseconds below 1e14, microseconds below 1e17, nanoseconds. Fractions of
seconds become milliseconds if that is exact, else microseconds. Dates and ISO texts become the
coarsest unit that holds all of them; those without a zone are taken as UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import NO_TIME, TimeUnit
from fullrank.core.text import quoted
from fullrank.data._options import Table, passing

_LIMITS: tuple[tuple[TimeUnit, float], ...] = (("s", 1e11), ("ms", 1e14), ("us", 1e17))
_PER_SECOND: dict[str, int] = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_UNITS: tuple[TimeUnit, ...] = ("s", "ms", "us", "ns")
_ORDER: TimeUnit = "order"
_MOST_NANOS = 2**63 - 1_000_000_000
"""Times that a second more or less doesn't take beyond 64 bits of nanoseconds."""
_ISO = (
    r"^(\d{4}-\d{2}-\d{2})"
    r"(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?)?"
    r"\s*(Z|UTC|[+-]\d{2}:?\d{2})?$"
)


@dataclass(frozen=True)
class Times:
    """Times with unit, and what was assumed about them."""

    values: NDArray[np.int64]
    unit: TimeUnit
    notes: tuple[str, ...] = ()


def parse_times(table: Table, name: str, unit: str | None) -> Times:
    """Turn a column into times.

    Args:
        table: the table.
        name: its column.
        unit: unit of whole numbers, or None to tell it from their size.

    Raises:
        DataError: text that is no time, units that are mixed, with rows.
    """
    column = table.frame[name]
    if column.dtype == pl.String:
        column = _from_text(table, name, column)
    if isinstance(column.dtype, pl.Datetime | pl.Date):
        return _from_datetimes(column, name)
    if column.dtype.is_float():
        return _from_floats(table, name, column, unit)
    if column.dtype.is_integer():
        return _from_integers(table, name, column, unit)
    if column.dtype == pl.Null:
        return Times(np.full(len(column), NO_TIME), "s", (f"{name}: no time in any row",))
    raise DataError(
        f"column {name!r} (timestamp) of {table.where} must hold numbers, dates or ISO text, got "
        f"{column.dtype}"
    )


def _filled(column: pl.Series) -> NDArray[np.int64]:
    return column.cast(pl.Int64).fill_null(NO_TIME).to_numpy().astype(np.int64, copy=False)


def _from_integers(table: Table, name: str, column: pl.Series, unit: str | None) -> Times:
    top = column.max()
    if isinstance(top, int) and top > np.iinfo(np.int64).max:
        raise DataError(f"column {name!r} of {table.where} holds times beyond 64 bits: {top}")
    values = _filled(column)
    if unit is None:
        low, high, firsts = _sizes(values)
        _refuse_dates(table, name, values, low, high)
        unit = _unit_of(table, name, values, firsts)
    return Times(values, _as_unit(unit), (f"{name}: whole numbers taken as {_said(unit)}",))


def _sizes(values: NDArray[np.int64]) -> tuple[int, int, NDArray[np.int64]]:
    """Earliest and latest known time, and the first row of each unit by size, -1 for none."""
    from fullrank.kernels.times import time_sizes

    limits = np.array([limit for _, limit in _LIMITS], dtype=np.int64)
    return time_sizes(values, int(NO_TIME), limits)


def _said(unit: str) -> str:
    return "an order" if unit == "order" else f"{unit} since 1970, UTC"


def _as_unit(unit: str) -> TimeUnit:
    return next(known for known in (*_UNITS, _ORDER) if known == unit)


def _refuse_dates(table: Table, name: str, values: NDArray[np.int64], low: int, high: int) -> None:
    """Refuse 20101231: as seconds it would be a day in 1970."""
    if low > high or low < 19_000_101 or high > 21_001_231:
        return
    days = values[values != NO_TIME]
    month, day = days // 100 % 100, days % 100
    if bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31))):
        raise DataError(
            f"column {name!r} of {table.where} looks like dates written as YYYYMMDD (first: "
            f"{days[0]}); write them as YYYY-MM-DD, or pass "
            f"{passing('time_unit', 's')} if they are seconds"
        )


def _unit_of(
    table: Table, name: str, values: NDArray[np.int64], firsts: NDArray[np.int64]
) -> TimeUnit:
    """Unit by magnitude; 0 goes with any. Mixed units are an error that names two rows."""
    kinds = np.flatnonzero(firsts >= 0)
    if len(kinds) > 1:
        one, two = (int(firsts[kind]) for kind in kinds[:2])
        raise DataError(
            f"column {name!r} of {table.where} mixes times in {_UNITS[kinds[0]]} and "
            f"{_UNITS[kinds[1]]}: {values[one]} ({table.place(one)}) and {values[two]} "
            f"({table.place(two)}); convert one of them, or pass time_unit if all have one unit"
        )
    return _UNITS[kinds[0]] if len(kinds) else "s"


def _from_floats(table: Table, name: str, column: pl.Series, unit: str | None) -> Times:
    known = column.fill_nan(None)
    values = known.fill_null(0).to_numpy().astype(np.float64)
    bad = np.flatnonzero(~(np.abs(values) < 2.0**63))  # infinite, or beyond 64 bits
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{table.place(row)}: time must be finite and fit 64 bits, got {quoted(column[row])} "
            f"(column {name!r}); mend or drop the row"
        )
    if bool((values == np.round(values)).all()):
        return _from_integers(table, name, known.cast(pl.Int64), unit)
    if unit is None:
        # Whole parts decide the unit as for integers; a fraction below one second is 0 there.
        whole = np.where(known.is_null().to_numpy(), NO_TIME, values.astype(np.int64))
        unit = _unit_of(table, name, whole, _sizes(whole)[2])
    out, finer, exact = _scale(values, unit)
    out = np.where(known.is_null().to_numpy(), NO_TIME, out)
    note = f"{name}: fractions of {unit} since 1970 (UTC) kept as {finer}"
    return Times(out, _as_unit(finer), (note + ("" if exact else ", rounded"),))


def _scale(values: NDArray[np.float64], unit: str) -> tuple[NDArray[np.int64], str, bool]:
    """Whole numbers in the first finer unit that gives all values back, else in microseconds."""
    finer = [u for u in _UNITS[1:] if _PER_SECOND[u] > _PER_SECOND[unit]] or [_as_unit(unit)]
    for target in finer:
        factor = _PER_SECOND[target] / _PER_SECOND[unit]
        scaled = np.round(values * factor)
        if bool((np.abs(scaled) < 2**62).all()) and bool((scaled / factor == values).all()):
            return scaled.astype(np.int64), target, True
    target = "us" if "us" in finer else finer[-1]
    factor = _PER_SECOND[target] / _PER_SECOND[unit]
    return np.round(values * factor).astype(np.int64), target, False


def _from_datetimes(column: pl.Series, name: str) -> Times:
    naive = isinstance(column.dtype, pl.Date) or getattr(column.dtype, "time_zone", None) is None
    if isinstance(column.dtype, pl.Date):
        values, unit = _filled(column.cast(pl.Int32).cast(pl.Int64) * 86_400), "s"
    else:
        unit = getattr(column.dtype, "time_unit", None) or "us"
        values = _filled(column.to_physical())
    known = values != NO_TIME
    coarse = unit
    for target in reversed(_UNITS[: _UNITS.index(_as_unit(unit))]):
        factor = _PER_SECOND[unit] // _PER_SECOND[target]
        if bool((values[known] % factor == 0).all()):
            coarse = target
    factor = _PER_SECOND[unit] // _PER_SECOND[coarse]
    out = np.where(known, values // factor, NO_TIME)
    notes = (f"{name}: no zone stated, taken as UTC",) if naive else ()
    return Times(out, _as_unit(coarse), notes)


def _from_text(table: Table, name: str, column: pl.Series) -> pl.Series:
    """Numbers as numbers, ISO 8601 texts as datetimes."""
    from fullrank.data._types import _MISSING, whole_numbers

    column = column.str.strip_chars()
    column = column.set(column.is_in(_MISSING), None)
    numbers = whole_numbers(column)
    if numbers is not None:
        return numbers
    floats = column.cast(pl.Float64, strict=False)
    if floats.null_count() == column.null_count():
        return floats
    return _from_iso(table, name, column)


def _from_iso(table: Table, name: str, column: pl.Series) -> pl.Series:
    parts = [column.str.extract(_ISO, group).alias(str(group)) for group in (1, 2, 3, 4)]
    day, clock, fraction, zone = parts
    clock = clock.fill_null("00:00")
    clock = clock.zip_with(clock.str.len_bytes() > 5, clock + ":00")
    whole = (day + " " + clock).str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us", strict=False)
    bad = whole.is_null() & column.is_not_null()
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise DataError(
            f"{table.place(row)}: {quoted(column[row])} is no time (column {name!r}); expected a "
            "number since 1970, or ISO 8601 as 2010-12-31, 2010-12-31 23:59:59.5 or "
            "2010-12-31T23:59:59Z"
        )
    _refuse_mixed_zones(table, name, column, zone)
    nanos = fraction.fill_null("0").str.pad_end(9, "0").cast(pl.Int64)
    micros = whole.to_physical() - _offset_seconds(zone) * 1_000_000
    wide = micros.abs() >= _MOST_NANOS // 1000
    unit: Literal["us", "ns"] = "ns"
    physical = micros * 1000 + nanos
    if wide.any():  # such as 9999-12-31, which nanoseconds in 64 bits can't hold
        if (nanos % 1000 != 0).any():
            row = int(wide.arg_max() or 0)
            raise DataError(
                f"{table.place(row)}: {quoted(column[row])} can't be kept beside the nanoseconds "
                f"of other rows (column {name!r}); mend it, or round the times to microseconds"
            )
        unit, physical = "us", micros + nanos // 1000
    zoned = bool(zone.is_not_null().any())
    return physical.cast(pl.Datetime(unit, "UTC" if zoned else None))


def _refuse_mixed_zones(table: Table, name: str, column: pl.Series, zone: pl.Series) -> None:
    bare = zone.is_null() & column.is_not_null()
    zoned = zone.is_not_null()
    if bare.any() and zoned.any():
        one, two = int(bare.arg_max() or 0), int(zoned.arg_max() or 0)
        raise DataError(
            f"column {name!r} of {table.where} mixes times without zone ({table.place(one)}: "
            f"{column[one]!r}) and with one ({table.place(two)}: {column[two]!r}); state the zone "
            "in all rows or in none"
        )


def _offset_seconds(zone: pl.Series) -> pl.Series:
    signed = zone.str.starts_with("-").fill_null(False)
    hours = zone.str.extract(r"^[+-](\d{2})", 1).cast(pl.Int64).fill_null(0)
    minutes = zone.str.extract(r"(\d{2})$", 1).cast(pl.Int64).fill_null(0)
    seconds = hours * 3600 + minutes * 60
    return seconds.zip_with(~signed, -seconds)
