"""Kendall's tau-b against SciPy, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from fullrank.core.errors import DataError
from fullrank.stats import kendall_tau
from fullrank.stats.kendall import pair_signs, tau_matrix

FEW = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@given(FEW)
def test_against_scipy(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    expected = kendalltau(a, b).statistic  # NaN where all of a side tie, as ours
    np.testing.assert_allclose(kendall_tau(a, b), expected, atol=1e-12)


def test_by_hand() -> None:
    """Of six pairs five agree and one does not; a tie on one side leaves sqrt(5 · 6)."""
    assert kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)
    assert kendall_tau([1, 2, 3, 4], [1, 2, 3, 3]) == pytest.approx(5 / np.sqrt(5 * 6))
    assert kendall_tau([1, 2, 3], [9, 5, 2]) == -1


def test_what_rounding_made_is_a_tie() -> None:
    assert np.isnan(kendall_tau([0.1 + 0.2, 0.3], [1, 2]))
    assert kendall_tau([0.1 + 0.2, 0.3, 1.0], [1, 1, 2]) == 1


def test_leading_axes_and_matrices() -> None:
    scores = np.random.default_rng(0).normal(size=(5, 3, 7))
    rows = kendall_tau(scores[:, 0], scores[:, 1])
    assert rows.shape == (5,)
    table = tau_matrix(pair_signs(scores))
    assert table.shape == (5, 3, 3)
    np.testing.assert_allclose(table[:, 0, 1], rows)
    np.testing.assert_allclose(table[:, 1, 0], rows)
    np.testing.assert_allclose(table[:, 2, 2], 1)


def test_an_item_without_a_score_leaves_no_tau() -> None:
    assert np.isnan(kendall_tau([1, np.nan, 3], [1, 2, 3]))


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [([1, 2], [1, 2, 3], r"same items, got shapes \(2,\) and \(3,\)"), ([1], [2], "got 1"),
     (1.0, 2.0, "got shapes")],
)  # fmt: skip
def test_refused(a: object, b: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        kendall_tau(a, b)  # type: ignore[arg-type]
