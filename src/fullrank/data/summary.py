"""What is in a data set: the figures behind ``fullrank data info``."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.core.dataset import Dataset
from fullrank.core.distinct import first_of_item
from fullrank.core.interactions import NO_TIME, UNITS_PER_DAY, Interactions
from fullrank.core.vocabulary import Vocabulary

_BARS = "▁▂▃▄▅▆▇█"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Activity:
    """How many rows users (or items) have.

    Attributes:
        n: users with rows.
        mean: rows a user.
        median: middle.
        most: largest.
        gini: 0 if all have equally many, near 1 if few have nearly all.
        sketch: bars, users with 1, 2-3, 4-7, … rows.
    """

    n: int
    mean: float
    median: float
    most: int
    gini: float
    sketch: str


@dataclass(frozen=True)
class Summary:
    """What is in a data set.

    Attributes:
        name: of the set.
        rows: number of rows.
        users: rows by user.
        items: rows by item.
        density: share of all user-item pairs that have a row.
        pairs: distinct pairs.
        repeated_pairs: rows whose pair another row already has.
        duplicate_rows: rows equal to another in all columns.
        first_time: earliest time, ISO 8601 in UTC (or the lowest place of an order).
        last_time: latest time.
        time_unit: of the times, None without times.
        missing_times: rows whose time is unknown.
        tied_times: share of rows that share their time with another row of the same user.
        times_sketch: bars over 24 equal spans from first to last.
        values: ``(lowest, mean, highest)`` or None.
        values_sketch: bars of the distinct values, or of ten spans.
        user_id_kind: ``"integer"`` or ``"text"``.
        item_id_kind: the same of items.
        alike_users: up to five groups of user ids that differ only in case, blanks, leading zeros
            or a trailing ``.0``.
        alike_items: the same of items.
        n_alike_users: number of such groups.
        n_alike_items: the same of items.
        extras: names and types of further columns.
        tables: columns of the tables of users, items and triples.
        fingerprint: of the rows.
        licence: terms as published.
        citation: what to cite.
        url: home of the set.
        notes: what a user must know.
    """

    name: str
    rows: int
    users: Activity
    items: Activity
    density: float
    pairs: int
    repeated_pairs: int
    duplicate_rows: int
    first_time: str | None
    last_time: str | None
    time_unit: str | None
    missing_times: int
    tied_times: float | None
    times_sketch: str
    values: tuple[float, float, float] | None
    values_sketch: str
    user_id_kind: str
    item_id_kind: str
    alike_users: list[list[str]]
    alike_items: list[list[str]]
    n_alike_users: int
    n_alike_items: int
    extras: dict[str, str]
    tables: dict[str, list[str]]
    fingerprint: str
    licence: str
    citation: str
    url: str
    notes: str

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, ready for JSON."""
        return asdict(self)


def describe(data: Dataset | Interactions) -> Summary:
    """Count what is in a data set.

    Example:
        >>> from fullrank.data import read
        >>> summary = describe(read("online-retail"))
        >>> summary.rows, summary.users.n, summary.items.n, summary.repeated_pairs
        (273840, 4285, 4006, 0)
    """
    dataset = data if isinstance(data, Dataset) else Dataset(data)
    log, source = dataset.interactions, dataset.source
    pairs = _distinct_pairs(log)
    n_alike_users, alike_users = ids_alike(log.user_vocab)
    n_alike_items, alike_items = ids_alike(log.item_vocab)
    users, items = activity(log.user_counts), activity(log.item_counts)
    tables = {"users": dataset.users, "items": dataset.items, "triples": dataset.triples}
    return Summary(
        name=source.name,
        rows=len(log),
        users=users,
        items=items,
        density=pairs / (users.n * items.n) if len(log) else math.nan,
        pairs=pairs,
        repeated_pairs=len(log) - pairs,
        duplicate_rows=_duplicates(log),
        **_time_figures(log),
        **_value_figures(log),
        user_id_kind=log.user_vocab.kind,
        item_id_kind=log.item_vocab.kind,
        alike_users=alike_users,
        alike_items=alike_items,
        n_alike_users=n_alike_users,
        n_alike_items=n_alike_items,
        extras={k: "text" if v.dtype == object else str(v.dtype) for k, v in log.extras.items()},
        tables={name: table.columns for name, table in tables.items() if table is not None},
        fingerprint=log.fingerprint,
        licence=source.licence,
        citation=source.citation,
        url=source.url,
        notes=source.notes,
    )


def gini(counts: NDArray[Any]) -> float:
    """Gini coefficient of counts ``[n]``: mean absolute difference over twice the mean.

    NaN if there is nothing to share.
    """
    ordered = np.sort(np.asarray(counts, dtype=np.float64))
    n, total = len(ordered), float(ordered.sum())
    if n == 0 or total == 0:
        return math.nan
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float((weights * ordered).sum() / (n * total))


def sparkline(counts: NDArray[Any]) -> str:
    """Bars, the highest for the largest count; a count of 0 is a blank."""
    counts = np.asarray(counts, dtype=np.float64)
    if len(counts) == 0 or counts.max() <= 0:
        return ""
    level = np.ceil(counts / counts.max() * len(_BARS)).astype(int)
    return "".join(" " if k == 0 else _BARS[k - 1] for k in level)


def activity(counts: NDArray[np.int64]) -> Activity:
    """Figures of rows by user or item; those without rows are left out."""
    counts = counts[counts > 0]
    if len(counts) == 0:
        return Activity(0, math.nan, math.nan, 0, math.nan, "")
    octave = np.frexp(counts.astype(np.float64))[1] - 1
    return Activity(
        n=len(counts),
        mean=float(counts.mean()),
        median=float(np.median(counts)),
        most=int(counts.max()),
        gini=gini(counts),
        sketch=sparkline(np.bincount(octave)),
    )


def ids_alike(vocab: Vocabulary) -> tuple[int, list[list[str]]]:
    """Groups of text ids that a reader could take for one: (number, the first five)."""
    if vocab.kind == "integer" or len(vocab) == 0:
        return 0, []
    ids = pl.Series("id", vocab.ids.tolist(), dtype=pl.String)
    reduced = (
        ids.str.to_lowercase()
        .str.replace_all(r"\s+", " ")
        .str.strip_chars()
        .str.replace(r"^(-?\d+)\.0+$", "${1}")
        .str.replace(r"^0+(\d)", "${1}")
    )
    groups = (
        pl.DataFrame({"id": ids, "reduced": reduced})
        .group_by("reduced", maintain_order=True)
        .agg("id")
        .filter(pl.col("id").list.len() > 1)
    )
    return len(groups), groups["id"].head(5).to_list()


def _distinct_pairs(log: Interactions) -> int:
    return int(np.count_nonzero(first_of_item(log.user_indptr, log.items, log.n_items)))


def _duplicates(log: Interactions) -> int:
    """Rows equal to the row before: canonical order puts equal rows side by side."""
    if len(log) < 2:
        return 0
    same = np.ones(len(log) - 1, dtype=bool)
    columns = [log.users, log.items, *log.extras.values()]
    columns += [c for c in (log.values, log.times) if c is not None]
    for column in columns:
        same &= np.asarray(column[1:] == column[:-1], dtype=bool)
    return int(same.sum())


def _time_figures(log: Interactions) -> dict[str, Any]:
    known = np.zeros(0) if log.times is None else log.times[log.times != NO_TIME]
    figures: dict[str, Any] = {
        "first_time": None,
        "last_time": None,
        "time_unit": None if log.times is None else log.time_unit,
        "missing_times": 0 if log.times is None else len(log) - len(known),
        "tied_times": None,
        "times_sketch": "",
    }
    if log.times is None or len(known) == 0:
        return figures
    low, high = int(known.min()), int(known.max())
    figures["first_time"], figures["last_time"] = (
        format_time(low, log.time_unit), format_time(high, log.time_unit)
    )  # fmt: skip
    with_next = (log.users[1:] == log.users[:-1]) & (log.times[1:] == log.times[:-1])
    with_next &= log.times[1:] != NO_TIME
    tied = np.append(with_next, False) | np.append(False, with_next)
    figures["tied_times"] = float(tied.sum() / len(known))
    span = (known - low).astype(np.float64) / max(high - low, 1)
    place = np.minimum((span * 24).astype(int), 23)
    figures["times_sketch"] = sparkline(np.bincount(place, minlength=24))
    return figures


def format_time(time: int, unit: str) -> str:
    """A time in ISO 8601 (UTC); a place in an order, or a year that ISO can't write, as digits."""
    if unit == "order":
        return str(time)
    per_second = UNITS_PER_DAY[unit] // 86_400
    try:
        moment = _EPOCH + timedelta(seconds=time // per_second)
    except OverflowError:
        return f"{time} {unit}"
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _value_figures(log: Interactions) -> dict[str, Any]:
    if log.values is None or len(log) == 0:
        return {"values": None, "values_sketch": ""}
    values = log.values
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) > 11:
        counts = np.histogram(values, bins=10)[0]
    figures = (float(values.min()), float(values.mean()), float(values.max()))
    return {"values": figures, "values_sketch": sparkline(counts)}
