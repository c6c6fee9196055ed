"""Tables of taus and of features: checked, sorted, and joined to one row for each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError

if TYPE_CHECKING:
    import polars as pl

GROUP = ("data", "scenario", "metric", "keep")
"""Cells that differ in the sampler alone: what there is to choose from."""
CELL = (*GROUP, "strategy")
NAMES = ("data", "scenario", "metric", "strategy")
_FEATURE_KEYS = ("data", "scenario", "keep", "strategy")


def cells(frame: pl.DataFrame, *, taus: bool = True) -> pl.DataFrame:
    """Check a table of cells and sort it, so that no order of its rows matters.

    Args:
        frame: columns ``data, scenario, metric, keep, strategy`` and, with taus, ``tau`` and
            ``tau_sd``: mean over repeats of how alike the rankings of algorithms on the sample and
            on all rows are, and the standard deviation over repeats. Others are left out.
        taus: whether these are there. A tau that is null or NaN is a cell that could not be
            measured (too small a sample, a failed model) and is dropped; such a tau_sd is not
            known.

    Returns:
        One row a cell, text in ``NAMES``, float64 elsewhere.

    Raises:
        DataError: a missing column, a share or tau out of range, a cell that is there twice.
    """
    import polars as pl

    wanted = [*CELL, *(("tau", "tau_sd") if taus else ())]
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise DataError(
            f"the table of cells needs the columns {', '.join(wanted)}; {', '.join(missing)} "
            f"missing, found {', '.join(frame.columns) or 'none'}"
        )
    out = _typed(frame.select(wanted), [name for name in wanted if name not in NAMES])
    _within(out, "keep", 0, 1, "a share of the rows in (0, 1)", open_ends=True)
    if taus:
        out = out.filter(pl.col("tau").is_not_null())
        _within(out, "tau", -1, 1, "in [-1, 1]")
        _within(out, "tau_sd", 0, 2, "a standard deviation of numbers in [-1, 1]")
    _refuse_twice(out, CELL, "the table of cells")
    return out.sort(CELL)


def _typed(frame: pl.DataFrame, numbers: list[str]) -> pl.DataFrame:
    """Names as text, numbers as float64 with null for NaN; refuses empty names and text numbers."""
    import polars as pl

    for name in frame.columns:
        numeric = frame[name].dtype.is_numeric() or frame[name].dtype == pl.Null
        if numeric != (name in numbers):
            kind = "numbers" if name in numbers else "text"
            raise DataError(f"the column {name!r} must be {kind}, got {frame[name].dtype}")
    out = frame.with_columns(
        *(pl.col(name).cast(pl.String) for name in frame.columns if name not in numbers),
        *(pl.col(name).cast(pl.Float64).fill_nan(None) for name in numbers),
    )
    for name in out.columns:
        if name not in ("tau", "tau_sd") and name in (*CELL,) and out[name].null_count():
            row = int(out[name].is_null().arg_true()[0])
            raise DataError(f"the column {name!r} has no value in row {row + 1}; fill it")
    return out


def _within(
    frame: pl.DataFrame, name: str, low: float, high: float, what: str, *, open_ends: bool = False
) -> None:
    outside = (frame[name] < low) | (frame[name] > high)
    if open_ends:
        outside |= (frame[name] == low) | (frame[name] == high)
    bad = frame.filter(outside)
    if len(bad):
        raise DataError(f"{name} must be {what}, got {bad[name][0]:g} in {_spot(bad)}")


def _spot(frame: pl.DataFrame) -> str:
    """The first row in words."""
    first = frame.row(0, named=True)
    return "the cell " + ", ".join(f"{k} {first[k]}" for k in CELL if k in first)


def _refuse_twice(frame: pl.DataFrame, keys: tuple[str, ...], what: str) -> None:
    twice = frame.filter(frame.select(keys).is_duplicated())
    if len(twice):
        raise DataError(
            f"{what} has {_spot(twice)} more than once; repeats are averaged before (tau their "
            "mean, tau_sd their standard deviation)"
        )


def feature_names(features: pl.DataFrame) -> list[str]:
    """Columns that are features: all but the keys."""
    return [name for name in features.columns if name not in CELL]


def joined(frame: pl.DataFrame, features: pl.DataFrame) -> pl.DataFrame:
    """Put features beside checked cells, NaN for what is missing of them.

    Args:
        frame: from ``cells``.
        features: one row for each sample: some of ``data, scenario, keep, strategy`` say which
            (``data`` at least), every other column is a number.

    Raises:
        DataError: no key, a feature that is no number or infinite, a sample that is there twice or
            is missing.
    """
    import polars as pl

    keys = [name for name in _FEATURE_KEYS if name in features.columns]
    names = feature_names(features)
    foreign = {"metric", "tau", "tau_sd"} & set(features.columns)
    if "data" not in keys or foreign or not names:
        raise DataError(
            f"features need a column data, maybe {', '.join(_FEATURE_KEYS[1:])}, no metric and no "
            f"tau, and a number at least; found {', '.join(features.columns) or 'none'}"
        )
    known = _typed(features.select(*keys, *names), [n for n in features.columns if n not in NAMES])
    for name in names:
        if known[name].is_infinite().any():
            raise DataError(f"the feature {name!r} is infinite; missing numbers are NaN")
    _refuse_twice(known, tuple(keys), "the table of features")
    found = frame.join(
        known.with_columns(pl.lit(True).alias("_found")), on=keys, how="left", maintain_order="left"
    )
    lost = found.filter(found["_found"].is_null())
    if len(lost):
        raise DataError(
            f"there are no features for {_spot(lost)} (and {len(lost) - 1:,} further cells); "
            f"samples are found by {', '.join(keys)}"
        )
    return found.drop("_found").with_columns(pl.col(names).fill_null(float("nan")))


def codes(frame: pl.DataFrame, keys: tuple[str, ...]) -> NDArray[np.int64]:
    """Number of each row's combination of the first keys, in order: int64 ``[n]``.

    Args:
        frame: sorted by ``CELL``, as ``cells`` leaves it.
        keys: the first of ``CELL``.
    """
    import polars as pl

    assert keys == CELL[: len(keys)]
    new = pl.any_horizontal(pl.col(key) != pl.col(key).shift() for key in keys)
    found = frame.select(new.fill_null(value=False).cum_sum().cast(pl.Int64)).to_series()
    return np.asarray(found.to_numpy())
