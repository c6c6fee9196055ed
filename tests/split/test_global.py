"""Cuts of all users at one moment: shares, dates, ties."""

from __future__ import annotations

from collections import Counter
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError, SpecError, SplitError
from fullrank.core.interactions import NO_TIME
from fullrank.split import GlobalCut, GlobalTime
from fullrank.testing.split import interactions

D08 = {"users": ["u1", "u1", "u2", "u2"], "items": list("abcd"), "times": [100, 200, 200, 300]}


def sides(split):
    """Part code of each (user, time)."""
    data = split.data
    return sorted(zip(data.user_ids.tolist(), data.times.tolist(), split.part.tolist()))


@pytest.mark.parametrize(
    "strategy",
    [
        GlobalCut(cut=200),
        GlobalCut(cut="1970-01-01T00:03:20"),
        GlobalCut(cut="1970-01-01T00:03:20Z"),
        GlobalCut(cut="1970-01-01T02:03:20+02:00"),
        GlobalTime(test=0.5, valid=0),
        GlobalTime(test=0.75, valid=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("unit", ["s", "ms"])
def test_an_event_at_the_cut_is_on_one_side(strategy, unit):
    scale = 1 if unit == "s" or getattr(strategy, "cut", "") == 200 else 1000
    data = interactions(D08["users"], D08["items"], times=np.array(D08["times"]) * scale,
                        time_unit=unit)  # fmt: skip
    split = strategy.split(data)
    expected = [("u1", 100, 0), ("u1", 200, 2), ("u2", 200, 2), ("u2", 300, 2)]
    assert sides(split) == [(u, t * scale, part) for u, t, part in expected]
    assert split.ties_at_cut == {"test": 2}


def test_an_untied_cut_reports_no_tie():
    split = GlobalTime(test=0.25, valid=0.25).split(
        interactions(list("abcd"), list("wxyz"), times=[1, 2, 3, 4])
    )
    assert split.part.tolist() == [0, 0, 1, 2]
    assert split.ties_at_cut == {"valid": 0, "test": 0}


def slow_global_time(times, test, valid):
    """Walk back from the end: a whole group of equal times at once, until the share is reached."""
    n = len(times)
    groups = sorted(Counter(times).items(), reverse=True)
    want_test = int(test * n + 0.5 + 1e-9)
    want_held = want_test + int(valid * n + 0.5 + 1e-9)
    part, seen = {}, 0
    for time, size in groups:
        if seen < want_test:
            part[time] = 2
        elif seen < want_held:
            part[time] = 1
        else:
            part[time] = 0
        seen += size
    return part


@given(
    times=st.lists(st.integers(0, 12), min_size=3, max_size=60),
    test=st.sampled_from([0.1, 0.2, 0.3, 0.5]),
    valid=st.sampled_from([0.0, 0.1, 0.25]),
)
def test_shares_equal_the_slow_reference(times, test, valid):
    data = interactions(range(len(times)), [0] * len(times), times=times)
    expected = slow_global_time(times, test, valid)
    parts = set(expected.values())
    strategy = GlobalTime(test=test, valid=valid)
    if not {0, 2} <= parts or (valid and 1 not in parts):
        with pytest.raises(SplitError, match="part is empty"):
            strategy.split(data)
        return
    split = strategy.split(data)
    assert split.part.tolist() == [expected[time] for time in times]
    for name, code in (("valid", 1), ("test", 2)):
        if code in parts:
            tied = times.count(min(t for t in times if expected[t] == code))
            assert split.ties_at_cut[name] == (tied if tied > 1 else 0)
    assert split.counts["test"] >= int(test * len(times) + 0.5 + 1e-9)


def test_dates_of_several_kinds_cut_alike():
    times = [0, 86_400, 2 * 86_400, 3 * 86_400]
    data = interactions(list("abcd"), list("wxyz"), times=times)
    one = GlobalCut(cut="1970-01-03", valid="1970-01-02").split(data)
    two = GlobalCut(cut=date(1970, 1, 3), valid=86_400).split(data)
    assert one.part.tolist() == two.part.tolist() == [0, 1, 2, 2]
    ended = GlobalCut(cut="1970-01-02", end="1970-01-04").split(data)
    assert ended.part.tolist() == [0, 2, 2, -1]


def test_a_cut_outside_the_data_names_the_span():
    data = interactions(["a", "b"], ["x", "y"], times=[1_000_000_000, 1_000_086_400])
    with pytest.raises(SplitError, match=r"between 2001-09-09T01:46:40Z .1,000,000,000 s. and"):
        GlobalCut(cut="2010-01-01").split(data)
    with pytest.raises(SplitError, match="in their unit"):
        GlobalCut(cut=1_000_000_001_000).split(data)
    with pytest.raises(SpecError, match="valid < cut < end"):
        GlobalCut(cut="2001-09-09T12:00", valid="2001-09-10").split(data)
    with pytest.raises(SpecError, match="must be an ISO date"):
        GlobalCut(cut="September")


def test_empty_parts_name_the_figures():
    tied = interactions(list("abcd"), list("wxyz"), times=[5, 5, 5, 5])
    with pytest.raises(
        SplitError, match=r"train part is empty .4 rows: train 0, test 4.*'test': 4"
    ):
        GlobalTime(test=0.25, valid=0).split(tied)
    two = interactions(list("abcd"), list("wxyz"), times=[1, 5, 5, 5])
    with pytest.raises(SplitError, match=r"valid part is empty .4 rows: train 1, valid 0, test 3"):
        GlobalTime(test=0.25, valid=0.25).split(two)


def test_times_that_cannot_order_all_rows_are_refused_with_a_remedy():
    plain = interactions(["a", "b"], ["x", "y"])
    with pytest.raises(DataError, match="no time column"):
        GlobalTime().split(plain)
    gaps = interactions(["a", "b"], ["x", "y"], times=[NO_TIME, 5])
    with pytest.raises(DataError, match=r"--filter drop_missing_time=\{\}, .* DropMissingTime"):
        GlobalTime().split(gaps)
    order = interactions(["a", "b"], ["x", "y"], times=[0, 1], time_unit="order")
    with pytest.raises(SplitError, match="take LeaveLast or UserTime"):
        GlobalTime().split(order)
    nothing = plain.take(np.zeros(2, bool))
    with pytest.raises(SplitError, match="got no rows"):
        GlobalTime().split(nothing)


@pytest.mark.parametrize("shares", [(0, 0.1), (1, 0), (0.6, 0.4), (-0.1, 0), (0.1, None)])
def test_impossible_shares_are_refused(shares):
    with pytest.raises(SpecError):
        GlobalTime(*shares)
