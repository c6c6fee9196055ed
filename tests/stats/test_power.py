"""Power against published figures, simulation and its own inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from fullrank.core.errors import SpecError
from fullrank.stats import detectable_difference, paired_power, users_needed


@pytest.mark.parametrize(("d", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_users_needed_for_cohen_s_effects(d: float, n: int) -> None:
    # 80 %, two-sided 5 %: the figures of G*Power for matched pairs.
    assert users_needed(d, 1.0) == n
    assert users_needed(-d * 3, 3.0) == n
    assert paired_power(d, 1.0, n) >= 0.8 > paired_power(d, 1.0, n - 1)


def test_against_scipy_s_noncentral_t() -> None:
    for d, n in ((0.1, 50), (0.5, 10), (2.0, 5)):
        critical = scipy_stats.t.ppf(0.975, n - 1)
        distribution = scipy_stats.nct(n - 1, d * np.sqrt(n))
        expected = distribution.sf(critical) + distribution.cdf(-critical)
        assert paired_power(d, 1.0, n) == pytest.approx(expected, rel=1e-8)


def test_against_simulation() -> None:
    gaps = np.random.default_rng(0).normal(0.4, 1.0, (4000, 30))
    rejected = np.mean(scipy_stats.ttest_1samp(gaps, 0, axis=1).pvalue < 0.05)
    power = paired_power(0.4, 1.0, 30)
    assert abs(rejected - power) < 4 * np.sqrt(power * (1 - power) / 4000)


def test_no_difference_is_found_at_the_level() -> None:
    assert paired_power(0.0, 1.0, 20, alpha=0.1) == pytest.approx(0.1, rel=1e-9)


def test_large_shifts_are_certain() -> None:
    assert paired_power(1.0, 1.0, 10_000_000) == 1.0


@given(st.integers(2, 10_000), st.floats(0.01, 100))
def test_detectable_difference_inverts_power(n_users: int, sd: float) -> None:
    difference = detectable_difference(sd, n_users, power=0.9)
    assert paired_power(difference, sd, n_users) == pytest.approx(0.9, abs=1e-6)


def test_power_rises_without_gaps() -> None:
    for n_users in (2, 9, 40, 300):
        powers = [paired_power(d, 1.0, n_users) for d in np.linspace(0, 40, 300)]
        assert np.all(np.diff(powers) > -1e-11)
        assert 0.05 - 1e-9 < powers[0] <= powers[-1] <= 1.0


def test_bad_plans() -> None:
    for call, message in (
        (lambda: users_needed(0.0, 1.0), "must not be 0"),
        (lambda: users_needed(1e-9, 1.0), "more than 1e\\+12 users"),
        (lambda: users_needed(0.1, 0.0), "sd must be positive"),
        (lambda: users_needed(0.1, 1.0, power=0.01), "between alpha"),
        (lambda: paired_power(0.1, 1.0, 1), "at least 2"),
        (lambda: paired_power(0.1, 1.0, 10, alpha=0), "alpha must lie"),
        (lambda: paired_power(np.nan, 1.0, 10), "difference must be finite"),
    ):
        with pytest.raises(SpecError, match=message):
            call()
