"""Exact sums: against math.fsum, fractions, and in any order."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.exact import ExactSum, peak

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def exact(total: ExactSum) -> Fraction:
    return Fraction(total.units, 2**total.bits)


@given(st.lists(finite, max_size=30))
def test_equals_fractions_and_fsum(values: list[float]) -> None:
    total = ExactSum.of(np.array(values, dtype=np.float64))
    assert exact(total) == sum(map(Fraction, values))
    assert float(total) == math.fsum(values)


@given(st.lists(st.tuples(finite, finite), max_size=20))
def test_products_equal_fractions(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    expected = sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))
    assert exact(ExactSum.of_products(a, b)) == expected
    assert ExactSum.with_squares(a) == (ExactSum.of(a), ExactSum.of_products(a, a))


@given(st.lists(finite, min_size=1, max_size=30), st.data())
def test_order_and_cuts_do_not_matter(values: list[float], data: st.DataObject) -> None:
    array = np.array(values)
    shuffled = np.array(data.draw(st.permutations(values)))
    cut = data.draw(st.integers(0, len(values)))
    parts = ExactSum.of(shuffled[:cut]) + ExactSum.of(shuffled[cut:])
    assert parts == ExactSum.of(array)


def alike(name: str, n: int = 1_000) -> np.ndarray:
    """Doubles that add up as fixed-point numbers, and others that are too far apart for it."""
    rng = np.random.default_rng(3)
    return {
        "metric": np.where(rng.random(n) < 0.5, 0.0, 1 / rng.integers(1, 100, n)),
        "signed": rng.normal(size=n),
        "just alike": rng.random(n) * 2.0 ** rng.integers(-25, 1, n),
        "not alike": rng.random(n) * 2.0 ** rng.integers(-60, 1, n),
        "largest digits": np.full(n, np.nextafter(2.0, 0.0)),
        "negative": np.full(n, -1.0),
        "zeros": np.zeros(n),
        "huge": np.full(n, 1.7e308),
        "bins end": np.full(n, 2.0**998),
        "tiny": np.full(n, 2.0**-1000),
        "subnormal": np.full(n, 5e-324),
    }[name]


@pytest.mark.parametrize(
    "name",
    ["metric", "signed", "just alike", "not alike", "largest digits", "negative", "zeros", "huge",
     "bins end", "tiny", "subnormal"],
)  # fmt: skip
def test_many_squares_are_those_of_products(name: str) -> None:
    values = alike(name)
    assert ExactSum.with_squares(values) == (
        ExactSum.of(values),
        ExactSum.of_products(values, values),
    )
    assert exact(ExactSum.of(values)) == sum(map(Fraction, values.tolist()))


def test_peak() -> None:
    assert peak(np.array([1.0, -3.0, 2.0])) == 3.0
    assert peak(np.zeros(0)) == 0.0
    assert peak(np.array([-np.inf, 1.0])) == np.inf
    assert math.isnan(peak(np.array([np.inf, -np.nan, 1.0])))


def test_cancels_where_floats_do_not() -> None:
    values = np.array([1e17, 1.0, -1e17, 1e-9])
    assert float(ExactSum.of(values)) == 1.000000001
    assert float(values.sum()) != 1.000000001


@pytest.mark.parametrize("value", [5e-324, 2.2e-308, 1.7e308, -5e-324, 0.0, -0.0])
def test_extreme_doubles(value: float) -> None:
    assert float(ExactSum.of(np.array([value]))) == value


def test_more_values_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(size=1000)
    whole = ExactSum.of(values)
    monkeypatch.setattr("fullrank.core.exact._BLOCK", 7)
    assert ExactSum.of(values) == whole


def test_mean_is_rounded_once() -> None:
    assert ExactSum.of(np.full(3, 0.1)).over(3) == 0.1  # 0.1 + 0.1 + 0.1 is not 0.3 in floats


def test_empty() -> None:
    assert ExactSum.of(np.zeros(0)) == ExactSum()
