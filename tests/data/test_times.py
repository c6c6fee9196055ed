"""Times of any kind end as int64 in one stated unit."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError
from fullrank.core.interactions import NO_TIME
from fullrank.data import read

S = 1_700_000_000  # 2023-11-14T22:13:20Z


def times_of(column: object, **options: object) -> tuple[list[int], str]:
    n = len(column)  # type: ignore[arg-type]
    frame = {"user_id": ["u"] * n, "item_id": list(range(n)), "timestamp": column}
    data = read(frame, **options).interactions  # type: ignore[arg-type]
    assert data.times is not None
    order = np.argsort(data.item_ids)
    return data.times[order].tolist(), data.time_unit


@pytest.mark.parametrize(
    ("column", "times", "unit"),
    [
        ([S, S + 1], [S, S + 1], "s"),
        ([100, 200], [100, 200], "s"),
        ([0, 0], [0, 0], "s"),
        ([S * 10**3, 0], [S * 10**3, 0], "ms"),
        ([S * 10**6], [S * 10**6], "us"),
        ([S * 10**9, None], [S * 10**9, NO_TIME], "ns"),
        ([float(S), None], [S, NO_TIME], "s"),
        ([float(S), float("nan")], [S, NO_TIME], "s"),
        ([1396437466.94, 1396860669.277], [1396437466940, 1396860669277], "ms"),
        ([1396437466.123456, 1.0], [1396437466123456, 1000000], "us"),
        ([S * 1e3 + 0.5], [S * 10**6 + 500], "us"),
        ([date(2023, 11, 14)], [1_699_920_000], "s"),
        ([datetime(2023, 11, 14, 22, 13, 20)], [S], "s"),
        ([datetime(2023, 11, 14, 22, 13, 20, 5000)], [S * 1000 + 5], "ms"),
        ([datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)], [S], "s"),
        ([datetime(2023, 11, 15, 0, 13, 20, tzinfo=timezone(timedelta(hours=2)))], [S], "s"),
        (["2023-11-14", "2023-11-15"], [1_699_920_000, 1_700_006_400], "s"),
        (["2023-11-14T22:13:20Z", "2023-11-14 22:13:20+00:00"], [S, S], "s"),
        (["2023-11-15 03:43:20+05:30", "2023-11-14T14:13:20-0800"], [S, S], "s"),
        (["2023-11-14 22:13", None], [S - 20, NO_TIME], "s"),
        (["2023-11-14 22:13:20.25", "2023-11-14 22:13:20"], [S * 1000 + 250, S * 1000], "ms"),
        (["2023-11-14T22:13:20.000000001Z"], [S * 10**9 + 1], "ns"),
        (["1700000000", " 1700000001", ""], [S, S + 1, NO_TIME], "s"),
        (["1700000000.5", "NA"], [S * 1000 + 500, NO_TIME], "ms"),
    ],
)
def test_times(column: list[object], times: list[int], unit: str) -> None:
    assert times_of(column) == (times, unit)


def test_pandas_datetimes() -> None:
    column = pd.to_datetime(["2023-11-14T22:13:20Z", None])
    frame = pd.DataFrame({"user_id": [1, 1], "item_id": [1, 2], "timestamp": column})
    data = read(frame).interactions
    assert data.times is not None
    assert data.times.tolist() == [NO_TIME, S]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([S, S * 1000], r"mixes times in s and ms: 1700000000 .*row 1.*1700000000000 .*row 2"),
        ([None, S * 10**6, S], "mixes times in s and us"),
        ([S + 0.5, S * 1000 + 0.5], "mixes times in s and ms"),
        ([20101231, 20110101], "YYYYMMDD .*20101231"),
        ([1.0, float("inf")], "row 2: time must be finite"),
        (["2023-11-14", "14.11.2023"], "row 2: '14.11.2023' is no time .*ISO 8601"),
        (["2023-02-30"], "row 1: '2023-02-30' is no time"),
        (["2023-11-14T10:00:00", "2023-11-14T10:00:00Z"], "mixes times without zone .*row 1"),
        ([True], "must hold numbers, dates or ISO text, got Boolean"),
    ],
)
def test_refusals(column: list[object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        times_of(column)


def test_mixed_units_in_a_file_name_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,item,timestamp\nu1,a,1700000000\nu2,a,1700000000000\n")
    with pytest.raises(DataError, match=r"line 2\).*line 3\); convert one of them"):
        read(path)


def test_unit_can_be_told() -> None:
    assert times_of([20101231, 20110101], time_unit="s") == ([20101231, 20110101], "s")
    assert times_of([S, S * 1000], time_unit="ms") == ([S, S * 1000], "ms")
    assert times_of([3, 1], time_unit="order") == ([3, 1], "order")
    assert times_of([100.5, 7.0], time_unit="ms") == ([100500, 7000], "us")


def test_naive_times_are_stated_as_utc() -> None:
    frame = {"user_id": ["u"], "item_id": [1], "date": ["2023-11-14 22:13:20"]}
    assert "no zone stated, taken as UTC" in read(frame).source.notes
    frame["date"] = ["2023-11-14 22:13:20Z"]
    assert "no zone" not in read(frame).source.notes


def test_position_is_an_order_unless_there_is_a_time() -> None:
    frame: dict[str, list[object]] = {"user_id": [1, 1], "item_id": [8, 9], "position": [1, 0]}
    data = read(frame).interactions
    assert data.time_unit == "order"
    assert data.item_ids.tolist() == [9, 8]
    frame["timestamp"] = [5, 6]
    data = read(frame).interactions
    assert data.time_unit == "s"
    assert data.extras["position"].tolist() == [1, 0]


def test_dates_with_and_without_zone_sort_alike(tmp_path: Path) -> None:
    """D08: the same moments as text, seconds and milliseconds are the same log."""
    texts = {
        "s": ["1700000000", "1700000100"],
        "text": ["2023-11-14 22:13:20", "2023-11-14 22:15:00"],
        "zone": ["2023-11-14T22:13:20Z", "2023-11-14T22:15:00Z"],
        "east": ["2023-11-15T00:13:20+02:00", "2023-11-14T22:15:00Z"],
    }
    found = set()
    for name, (one, two) in texts.items():
        path = tmp_path / name
        path.write_text(f"user,item,timestamp\nu,a,{one}\nu,b,{two}\n")
        found.add(read(path).interactions.fingerprint)
    assert len(found) == 1


@given(st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), min_size=1, max_size=5))
def test_text_and_datetimes_agree(moments: list[datetime]) -> None:
    text = [moment.isoformat(sep=" ") for moment in moments]
    typed = pl.Series(moments, dtype=pl.Datetime("us"))
    expected = [(moment - datetime(1970, 1, 1)) // timedelta(microseconds=1) for moment in moments]
    per = {"s": 1_000_000, "ms": 1_000, "us": 1}
    times, unit = times_of(typed)
    assert [time * per[unit] for time in times] == expected
    assert times_of(text) == (times, unit)


def test_dates_that_nanoseconds_cannot_hold(tmp_path):
    """9999-12-31 as "never" once became a day of 1816."""
    path = tmp_path / "log.csv"
    for text, seconds in (
        ("9999-12-31", 253402214400),
        ("0001-01-01", -62135596800),
        ("2262-04-12T00:00:00Z", 9223372800),
        ("1500-06-01 12:00:00+02:00", -14818687200),
    ):
        other = "2020-01-01" + ("T00:00:00Z" if text[-1] == "Z" else "")
        other = "2020-01-01 00:00:00+00:00" if "+" in text else other
        path.write_text(f"user_id,item_id,timestamp\nu,i,{text}\nu,j,{other}\n")
        rows = read(path).interactions
        assert rows.time_unit == "s"
        assert sorted(rows.times.tolist()) == sorted([seconds, 1577836800])
    path.write_text(
        "user_id,item_id,timestamp\nu,i,9999-12-31\nu,j,2020-01-01 00:00:00.000000001\n"
    )
    with pytest.raises(DataError, match=r"line 2: '9999-12-31' can't be kept beside the nanos"):
        read(path)


def test_numbers_beyond_64_bits_are_no_times(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user_id,item_id,timestamp\nu,i,1700000000\nu,j,1.7e29\n")
    with pytest.raises(DataError, match=r"line 3: time must be finite and fit 64 bits, got 1\.7e"):
        read(path)
