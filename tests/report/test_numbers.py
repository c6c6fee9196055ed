"""Rounding and the words for what is undefined."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.report import _numbers as n


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.12345, 4, "0.1235"),
        (0.12344, 4, "0.1234"),
        (-0.00001, 4, "0.0000"),
        (-0.25, 2, "−0.25"),
        (1234.56, 1, "1,234.6"),
        (None, 4, "–"),
        (math.nan, 4, "–"),
        (math.inf, 4, "–"),
    ],
)
def test_values(value: float | None, decimals: int, text: str) -> None:
    assert n.value_text(value, decimals) == text


def test_signs() -> None:
    assert n.value_text(0.5, 2, sign=True) == "+0.50"
    assert n.value_text(-0.5, 2, sign=True) == "−0.50"
    assert n.value_text(1e-9, 2, sign=True) == "0.00"


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([0.1, 9.99], 4), ([10.0], 2), ([0.1, 612.3], 1), ([12_345.0], 0), ([None, math.nan], 4)],
)
def test_decimals_suit_the_largest_value(values: list[float | None], decimals: int) -> None:
    assert n.decimals_for(values) == decimals


def test_p_values_are_never_zero() -> None:
    assert n.p_text(0.0) == "p < 0.001"
    assert n.p_text(9e-64) == "p < 0.001"
    assert n.p_text(0.0625) == "p = 0.062"
    assert n.p_text(1.0) == "p = 1.000"
    assert n.p_text(None) == "p –"


def test_units() -> None:
    assert n.seconds_text(0.0123) == "12.3 ms"
    assert n.seconds_text(90) == "90 s"
    assert n.seconds_text(600) == "10 min"
    assert n.seconds_text(36_000) == "10 h"
    assert n.size_text(512) == "512 MiB"
    assert n.size_text(2048) == "2.00 GiB"
    assert n.joules_text(2500) == "2.5 kJ"
    assert n.interval_text(0.1, None) == ""
    assert {n.seconds_text(None), n.size_text(None), n.joules_text(None)} == {"–"}


def test_plain_text_of_settings() -> None:
    settings = {"reg": 0.123456, "window": None, "normalise": True, "ks": [1, 2]}
    assert n.plain_text(settings) == "reg = 0.1235, window = none, normalise = yes, ks = 1, 2"
    assert n.plain_text({}) == n.plain_text([]) == "none"


@given(st.floats(-1e6, 1e6), st.integers(0, 5))
def test_rounding_is_to_the_nearest(value: float, decimals: int) -> None:
    text = n.value_text(value, decimals).replace(",", "").replace("−", "-")
    assert abs(float(text) - value) <= 0.5 * 10.0**-decimals * (1 + 1e-9)
    assert text.strip("-0.") != "" or not text.startswith("-")
