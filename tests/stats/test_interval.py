"""Means with intervals: hand-worked, degenerate, order-free, and agreement of the methods."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from fullrank.core.errors import DataError, SpecError
from fullrank.core.estimate import Estimate
from fullrank.stats import compare_pairs, mean_interval, mean_intervals

from .worlds import clustered, skewed

METHODS = ["analytic", "percentile", "bca", "poisson"]
BOOTSTRAPS = METHODS[1:]


def ends(found: Estimate) -> tuple[float, float]:
    return found.low, found.high


def test_analytic_is_the_textbook_t_interval() -> None:
    x = skewed(40, 0)
    found = mean_interval(x, method="analytic", level=0.9)
    expected = scipy_stats.t.interval(0.9, 39, loc=x.mean(), scale=scipy_stats.sem(x))
    assert ends(found) == pytest.approx(expected, rel=1e-12)
    assert found.se == pytest.approx(scipy_stats.sem(x), rel=1e-12)
    assert (found.n_queries, found.n_users, found.undefined, found.level) == (40, 40, 0, 0.9)


def test_a_cluster_by_hand() -> None:
    # Sums 1, 3, 0 and counts 1, 2, 1: mean 1; residuals 0, 1, -1; se = sqrt(2 * 3/2) / 4.
    found = mean_interval([1.0, 2.0, 1.0, 0.0], [4, 6, 6, 9], method="analytic")
    assert found.value == 1.0
    assert found.se == pytest.approx(math.sqrt(3) / 4, rel=1e-12)
    assert found.n_users == 3


def test_repeating_a_user_s_queries_adds_no_certainty() -> None:
    x, users = skewed(60, 1), np.arange(60)
    once = mean_interval(x, users)
    thrice = mean_interval(np.repeat(x, 3), np.repeat(users, 3))
    assert ends(thrice) == pytest.approx(ends(once), rel=1e-9)
    assert mean_interval(np.repeat(x, 3)).se < 0.7 * once.se  # the mistake that clusters avoid


@pytest.mark.parametrize("method", METHODS)
def test_bootstraps_agree_with_moments_for_many_users(method: str) -> None:
    x, users = clustered(12_000, 3)
    exact = mean_interval(x, users, method="analytic")
    found = mean_interval(x, users, method=method, resamples=4000)
    assert found.value == exact.value
    assert found.se == pytest.approx(exact.se, rel=0.05)  # 4000 resamples: 1.1 % a sigma
    assert ends(found) == pytest.approx(ends(exact), abs=0.12 * exact.se)


def test_auto_changes_method_with_the_number_of_users() -> None:
    x = skewed(10_000, 0)
    assert mean_interval(x).method.startswith("t from moments")
    assert mean_interval(x[:9_999], resamples=100).method.startswith("BCa bootstrap by user")
    assert mean_interval(x[:20]).method.startswith("BCa bootstrap by user")
    assert mean_interval(x[:19]).method.startswith("t from moments")


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_few_users_in_a_bootstrap_are_said_to_be_few(method: str) -> None:
    assert any("few" in text for text in mean_interval(skewed(8, 0), method=method).assumptions)
    assert len(mean_interval(skewed(50, 0), method=method).assumptions) == 1


def test_undefined_queries_are_left_out_and_counted() -> None:
    x = skewed(50, 0)
    holed = np.insert(x, [0, 7, 50], np.nan)
    users = np.insert(np.arange(50) * 2, [0, 7, 50], [1, 13, 999])
    for method in METHODS:
        found = mean_interval(holed, users, method=method)
        alone = mean_interval(x, np.arange(50) * 2, method=method)
        assert found.undefined == 3
        assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_no_value(method: str) -> None:
    for x in ([], [np.nan, np.nan]):
        found = mean_interval(np.array(x, dtype=float), method=method)
        assert math.isnan(found.value)
        assert found.undefined == len(x)
        assert "no query has a value" in found.assumptions[0]


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_one_user_has_no_interval(method: str) -> None:
    found = mean_interval([0.25, 0.75], [3, 3], method=method)
    assert found.value == 0.5
    assert all(math.isnan(x) for x in (found.low, found.high, found.se))
    assert "one user" in found.assumptions[0]


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_equal_users_claim_no_certainty(method: str) -> None:
    found = mean_interval(np.full(10, 0.1), method=method)
    assert (found.value, found.low, found.high, found.se) == (0.1, 0.1, 0.1, 0.0)
    assert found.method == "constant"
    # 1 - 0.05**(1/10): ten users can't rule out that a quarter of the population is unlike them.
    assert "25.89%" in found.assumptions[1]


def test_equal_users_with_bounds_leave_room_for_others() -> None:
    found = mean_interval(np.zeros(10), bounds=(0.0, 1.0))
    assert ends(found) == pytest.approx((0.0, 1 - 0.05**0.1), rel=1e-12)
    found = mean_interval(np.full(59, 0.5), bounds=(0.0, 1.0), level=0.9)
    share = 1 - 0.1 ** (1 / 59)
    assert ends(found) == pytest.approx((0.5 - share / 2, 0.5 + share / 2), rel=1e-12)


def test_rounding_is_no_spread() -> None:
    noisy = np.array([0.6, 0.8, 0.3, 1.0, 0.5]) - np.array([0.5, 0.7, 0.2, 0.9, 0.4])
    assert np.ptp(noisy) > 0
    assert mean_interval(noisy).method == "constant"
    assert mean_interval(np.array([0.5, 0.5, 0.5 + 1e-9])).method != "constant"


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15)
@given(data=st.data())
def test_order_of_rows_changes_no_bit(method: str, data: st.DataObject) -> None:
    x, users = clustered(30, data.draw(st.integers(0, 100)))
    x[data.draw(st.integers(0, len(x) - 1))] = np.nan
    order = np.array(data.draw(st.permutations(range(len(x)))))
    one = mean_interval(x, users, method=method, resamples=100)
    other = mean_interval(x[order], users[order], method=method, resamples=100)
    assert one == other


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_threads_change_no_bit(method: str) -> None:
    x, users = clustered(3000, 2)
    found = {mean_interval(x, users, method=method, threads=t) for t in (1, 2, 3, 7)}
    assert len(found) == 1


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_seed_matters_and_repeats(method: str) -> None:
    x = skewed(100, 0)
    assert mean_interval(x, method=method, rng=1) == mean_interval(x, method=method, rng=1)
    assert mean_interval(x, method=method, rng=1) != mean_interval(x, method=method, rng=2)
    a, b = (mean_interval(x, method=method, rng=np.random.default_rng(4)) for _ in range(2))
    assert a == b


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_a_column_does_not_depend_on_its_neighbours(method: str) -> None:
    x, users = clustered(200, 1)
    other = np.where(np.arange(len(x)) % 3 == 0, np.nan, x**2)
    constant = np.full(len(x), 0.5)
    matrix = np.stack([x, other, constant, 1 - x], axis=1)
    found = mean_intervals(matrix, users, method=method)
    assert found == tuple(mean_interval(matrix[:, j], users, method=method) for j in range(4))


def test_shifting_values_shifts_the_interval() -> None:
    x = skewed(200, 5)
    low, high = ends(mean_interval(x))
    assert ends(mean_interval(x + 3)) == pytest.approx((low + 3, high + 3), rel=1e-9)
    assert ends(mean_interval(-x, method="percentile")) == pytest.approx(
        tuple(-e for e in ends(mean_interval(x, method="percentile"))[::-1]), rel=1e-9
    )


@pytest.mark.parametrize(
    ("values", "users", "message"),
    [
        ([0.1, np.inf], None, "row 1"),
        ([[0.1]], None, "1 dimension"),
        (["a"], None, "array of numbers"),
        ([0.1, 0.2], [1], "users must be 2 integer codes"),
        ([0.1, 0.2], ["u1", "u2"], "encode outside ids with a Vocabulary"),
        ([0.1, 0.2], [0.0, 1.0], "integer codes"),
    ],
)
def test_bad_arrays(values: list, users: list | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        mean_interval(values, users)


def test_bad_options() -> None:
    with pytest.raises(SpecError, match="did you mean 'bca'"):
        mean_interval([0.1, 0.2], method="bcaa")
    with pytest.raises(SpecError, match="between 0 and 1"):
        mean_interval([0.1, 0.2], level=95)
    with pytest.raises(SpecError, match="at least 100"):
        mean_interval([0.1, 0.2], resamples=10)
    with pytest.raises(SpecError, match="don't hold the mean 2"):
        mean_interval([2.0, 2.0], bounds=(0.0, 1.0))


def test_an_interval_ends_at_the_range_of_the_metric() -> None:
    values = [1.0, 1.0, 0.9, 1.0, 0.4]
    free, cut = mean_interval(values), mean_interval(values, bounds=(0.0, 1.0))
    assert free.high > 1
    assert (cut.low, cut.high, cut.value) == (free.low, 1.0, free.value)
    low = mean_interval([1 - v for v in values], bounds=(0.0, 1.0))
    assert low.low == 0.0


@pytest.mark.parametrize("exponent", [-350, -500, -700, -990])
@pytest.mark.parametrize("method", ["analytic", "bca", "percentile", "poisson"])
def test_the_size_of_values_is_no_matter(exponent: int, method: str) -> None:
    """Powers of two go through digit for digit: squares and cubes of small values are no zeros."""
    values, users = clustered(40, 3)
    plain = mean_interval(values, users, method=method)
    small = mean_interval(np.ldexp(values, exponent), users, method=method)
    for name in ("value", "low", "high", "se"):
        assert getattr(small, name) == np.ldexp(getattr(plain, name), exponent), name
    assert (small.method, small.assumptions) == (plain.method, plain.assumptions)


@pytest.mark.parametrize("size", [1e-120, 1e-300, 1e-320])
@pytest.mark.parametrize("method", ["auto", "analytic", "bca", "percentile", "poisson"])
def test_tiny_values_have_an_interval_or_none_and_no_warning(size: float, method: str) -> None:
    found = mean_interval(np.arange(30.0) * size, method=method)
    assert found.low <= found.value <= found.high
    assert found.low < found.high


@pytest.mark.parametrize("exponent", [-350, -700, -990])
def test_tests_of_tiny_differences_are_those_of_large_ones(exponent: int) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.random(40), rng.random(40)
    plain = compare_pairs(a, b)
    small = compare_pairs(np.ldexp(a, exponent), np.ldexp(b, exponent))
    assert small.effect == plain.effect
    assert (small.wins, small.losses) == (plain.wins, plain.losses)
    for name, test in plain.tests.items():
        assert small.tests[name].p_value == test.p_value
    none = compare_pairs([5e-324, 0.0, 0.0], [0.0, 5e-324, 0.0])  # nothing smaller exists
    assert none.p_value == 1.0
