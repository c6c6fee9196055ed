"""Propensities against the golden values of the formula, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.subsample import Propensity


@pytest.mark.parametrize(
    ("n", "c", "values"),
    [
        (1000, 9.778889, [6.907755, 5.909667, 3.552147, 1.770430, 1.218742]),
        (100_000, 17.401656, [11.512925, 9.736816, 5.541578, 2.370990, 1.389254]),
    ],
)
def test_golden_values(n, c, values):
    assert (np.log(n) - 1) * 2.5**0.55 == pytest.approx(c, abs=5e-7)
    counts = np.array([1, 2, 10, 100, 1000])
    np.testing.assert_allclose(Propensity().inverse(counts, n), values, atol=5e-7)
    np.testing.assert_allclose(Propensity(n=n).inverse(counts, 17), values, atol=5e-7)


def test_something_seen_once_has_the_logarithm():
    assert Propensity().inverse(np.array([1]), 5000)[0] == pytest.approx(np.log(5000))


def test_a_flat_curve_weighs_all_alike():
    found = Propensity(a=0.0).inverse(np.array([1, 10, 1000]), 1000)
    assert found.tolist() == [pytest.approx(np.log(1000))] * 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"a": -1.0}, "a must be >= 0"),
        ({"b": -1.0}, "b must be > -1"),
        ({"n": -5}, "n must be a whole number"),
        ({"n": 2}, "n must be 0 or at least 3"),
        ({"combine": "mean"}, "combine must be one of"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(SpecError, match=message):
        Propensity(**settings)


@pytest.mark.parametrize("b", [1.5, -0.999999])
def test_powers_that_no_double_holds_are_refused(b):
    with pytest.raises(SpecError, match=r"got a = 1000 and b = .*take a smaller a"):
        Propensity(a=1000, b=b)
    weights = Propensity(a=50, b=b).inverse(np.array([1, 10**6]), rows=10**6)
    assert np.isfinite(weights).all()
