"""Wilcoxon's test against SciPy on user means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from fullrank.stats import wilcoxon

from .worlds import clustered, skewed


@pytest.mark.parametrize("n_users", [6, 30, 200])
def test_one_query_a_user_is_scipy_s(n_users: int) -> None:
    a, b = skewed(n_users, 0), skewed(n_users, 1)
    expected = scipy_stats.wilcoxon(a, b)
    found = wilcoxon(a, b)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic == expected.statistic


def test_by_hand() -> None:
    # Differences 1, 2, 3, -4: rank sums 6 and 4; 14 of 16 patterns reach min(W) <= 4.
    found = wilcoxon([1.0, 2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 4.0])
    assert (found.statistic, found.p_value) == (4.0, 0.875)


def test_users_with_several_queries_count_once() -> None:
    values, users = clustered(40, 0)
    other = np.roll(values, 7)
    gaps = np.array([(values - other)[users == u].mean() for u in range(40)])
    expected = scipy_stats.wilcoxon(gaps)
    assert wilcoxon(values, other, users).p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_sizes_that_differ_by_rounding_share_a_rank() -> None:
    a = np.array([0.6, 0.8, 0.3, 1.0, 0.4, 0.9, 0.2])
    b = np.array([0.5, 0.7, 0.2, 0.9, 0.5, 0.7, 0.5])
    expected = scipy_stats.wilcoxon([1, 1, 1, 1, -1, 2, -3])
    found = wilcoxon(a, b)
    assert (found.statistic, found.p_value) == (expected.statistic, expected.pvalue)


def test_users_without_a_difference_are_left_out_and_counted() -> None:
    a, b = skewed(20, 0), skewed(20, 1)
    found = wilcoxon(np.append(a, [0.3, 0.3]), np.append(b, [0.3, 0.1 + 0.2]))
    assert found.p_value == wilcoxon(a, b).p_value
    assert found.note.startswith("2 users without a difference")


def test_no_difference_one_user_and_no_pairs() -> None:
    x = skewed(5, 0)
    assert wilcoxon(x, x).p_value == 1.0
    assert wilcoxon([0.3], [0.1]).p_value == 1.0
    assert wilcoxon([], []).p_value is None
