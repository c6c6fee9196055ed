"""Filters as benchmark files spell them, and the arithmetic of their settings."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import SpecError
from fullrank.core.interactions import NO_TIME
from fullrank.data import filters
from fullrank.data.filters import Binarise, Core, Duplicates, Window, filter_names, parse_filter
from fullrank.data.filters.amounts import check_share, rounded_share
from fullrank.data.filters.moments import as_moment, from_units, to_units


def test_the_spelling_of_the_design_page():
    text = """
    before = [{ binarise = { at = 4 } }, { core = { users = 5, items = 5 } },
              { duplicates = { keep = "last" } }, { window = { start = 2001-01-01 } },
              { nfilter = {} }, { drop_missing_time = {} }, { users = { share = 0.5 } },
              { activity = { min_user = 2 } }, { values = { max = 3 } },
              { event = { column = "kind", keep = ["buy"] } }]
    """
    built = [parse_filter(spec) for spec in tomllib.loads(text)["before"]]
    assert built[:4] == [
        Binarise(at=4),
        Core(users=5, items=5),
        Duplicates(keep="last"),
        Window(start="2001-01-01"),
    ]
    assert {type(one).__name__ for one in built} == set(filters.REGISTRY)
    assert {one.name for one in built} == set(filter_names())
    for one in built:
        again = {k: v for k, v in one.settings.items() if k != "filter"}
        assert parse_filter({one.name: again}) == one


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"cor": {}}, "unknown filter 'cor'; did you mean 'core'"),
        ({"core": {"user": 5}}, "filter 'core' has no setting 'user'; did you mean 'users'"),
        ({"binarise": {}}, "filter 'binarise' needs the setting 'at'"),
        ({"core": 5}, "filter 'core' needs a table of settings"),
        ({"core": {"users": "5"}}, "users must be a whole number >= 0, got '5'"),
        ({"core": {}, "nfilter": {}}, "a table with one key"),
        ({"users": {"share": 1.5}}, r"share must be a share in \(0, 1\), got 1.5"),
        ({"no.such.module:Name": {}}, "can't import filter"),
    ],
)
def test_what_cannot_be_understood_is_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        parse_filter(spec)


def test_registry_and_names_are_sorted():
    assert list(filters.__all__) == sorted(filters.__all__)
    assert list(filters.REGISTRY) == sorted(filters.REGISTRY)
    assert set(filters.REGISTRY) <= set(filters.__all__)


@given(n=st.integers(0, 10**9), hundredths=st.integers(0, 100))
def test_shares_round_like_decimals(n, hundredths):
    exact = Fraction(hundredths, 100) * n + Fraction(1, 2)
    assert rounded_share(n, hundredths / 100) == exact.numerator // exact.denominator
    assert rounded_share(np.array([n]), hundredths / 100).tolist() == [int(exact // 1)]


def test_shares_that_floats_get_wrong():
    assert rounded_share(50, 0.29) == 15  # 0.29 * 50 is 14.499999999999998 as a double
    assert rounded_share(5, 0.1) == 1
    assert rounded_share(np.array([3_000_000_000]), 1 / 3).tolist() == [1_000_000_000]
    with pytest.raises(SpecError):
        check_share("here", "test", True)
    with pytest.raises(SpecError):
        check_share("here", "test", float("nan"))


@pytest.mark.parametrize(
    ("moment", "unit", "expected"),
    [
        ("1970-01-02", "s", 86_400),
        ("1970-01-02T00:00:00", "ms", 86_400_000),
        ("1970-01-01T02:00:00+02:00", "us", 0),
        ("1970-01-01T00:00:00.5", "s", 1),
        ("1969-12-31T23:59:59.5", "s", 0),
        ("2001-09-09T01:46:40Z", "ns", 10**18),
        (12, "order", 12),
    ],
)
def test_moments_in_units(moment, unit, expected):
    assert to_units("here", "cut", moment, unit) == expected


def test_moments_of_other_types():
    assert as_moment("h", "n", date(2001, 2, 3)) == "2001-02-03"
    moment = as_moment("h", "n", datetime(2001, 2, 3, 4, tzinfo=UTC))
    assert to_units("h", "n", moment, "s") == 981_172_800
    for bad in (1.5, True, None, "soon"):
        with pytest.raises(SpecError):
            as_moment("h", "n", bad)
    assert from_units(981_172_800_999, "ms") == "2001-02-03T04:00:00Z"
    assert from_units(NO_TIME, "s") is None
    assert from_units(7, "order") == 7
    assert from_units(10**15, "s") == 10**15
