"""The paired t test against SciPy, and where it must refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from fullrank.stats import paired_t

from .worlds import clustered, skewed


def test_one_query_a_user_is_scipy_s() -> None:
    a, b = skewed(30, 0), skewed(30, 1)
    expected = scipy_stats.ttest_rel(a, b)
    found = paired_t(a, b)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.note == "29 degrees of freedom"


def test_clusters_of_equal_size_are_a_test_of_user_means() -> None:
    rng = np.random.default_rng(0)
    a, b, users = rng.random(60), rng.random(60), np.arange(60) % 20
    means = [np.array([x[users == u].mean() for u in range(20)]) for x in (a, b)]
    assert paired_t(a, b, users).p_value == pytest.approx(
        scipy_stats.ttest_rel(*means).pvalue, rel=1e-10
    )


def test_level_is_kept_when_queries_come_by_user() -> None:
    kept = naive = 0
    for seed in range(300):
        a, users = clustered(80, seed)
        b, _ = clustered(80, seed + 1000)
        b = np.resize(b, len(a))
        b = b[np.argsort(np.argsort(users, kind="stable"))]
        kept += paired_t(a, b, users).p_value < 0.05
        naive += paired_t(a, b).p_value < 0.05
    assert 3 <= kept <= 27  # 15 expected, sd 3.8
    assert naive > 27


def test_equal_spread_within_rounding_is_refused() -> None:
    base = np.array([0.5, 0.7, 0.2, 0.9, 0.4])
    found = paired_t(base + 0.1, base)
    assert found.p_value is None
    assert found.statistic is None
    assert "all 5 users differ by the same 0.1" in found.note
    # The plain test prints certainty from rounding.
    gaps = base + 0.1 - base
    t = gaps.mean() / (gaps.std(ddof=1) / np.sqrt(5))
    assert scipy_stats.t.sf(t, 4) < 1e-50


def test_users_whose_means_agree_are_refused_even_if_queries_differ() -> None:
    found = paired_t([0.1, 0.3, 0.3, 0.1], np.zeros(4), [1, 1, 2, 2])
    assert found.p_value is None


def test_small_but_real_spread_is_tested() -> None:
    base = skewed(30, 0)
    assert paired_t(base + 0.1 + 1e-9 * skewed(30, 1), base).p_value < 1e-50


def test_no_difference_one_user_and_no_pairs() -> None:
    x = skewed(5, 0)
    assert (paired_t(x, x).p_value, paired_t(x, x).statistic) == (1.0, 0.0)
    assert paired_t(x, x).note == "no difference"
    assert paired_t([0.3], [0.1]).p_value is None
    assert paired_t([np.nan], [0.1]).note == "no query has a value in both"
