"""Cohen's d_z by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.stats import cohen_dz

from .worlds import skewed


def test_mean_over_standard_deviation() -> None:
    a, b = skewed(30, 0), skewed(30, 1)
    assert cohen_dz(a, b) == pytest.approx((a - b).mean() / (a - b).std(ddof=1), rel=1e-12)
    assert cohen_dz([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]) == pytest.approx(2.0, rel=1e-12)


def test_repeating_a_user_s_queries_changes_nothing() -> None:
    a, b = skewed(30, 0), skewed(30, 1)
    repeated = cohen_dz(np.repeat(a, 4), np.repeat(b, 4), np.repeat(np.arange(30), 4))
    assert repeated == pytest.approx(cohen_dz(a, b), rel=1e-12)


def test_where_there_is_no_spread() -> None:
    x = skewed(5, 0)
    assert cohen_dz(x, x) == 0.0
    assert cohen_dz(x + 0.1, x) is None
    assert cohen_dz([0.2], [0.1]) is None
    assert cohen_dz([], []) is None
