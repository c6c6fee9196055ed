"""Pairing: gaps, rounding, and values that don't match."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import DataError
from fullrank.stats.pairs import Pairs, Significance


def test_only_queries_with_both_values_count() -> None:
    pairs = Pairs.of([0.5, np.nan, 0.2, np.nan], [0.1, 0.9, np.nan, np.nan], [1, 1, 2, 3])
    state = pairs.clusters.state
    assert (pairs.mean_a, pairs.mean_b, state.value) == (0.5, 0.1, 0.4)
    assert (pairs.one_sided, state.undefined, state.n_users) == (2, 3, 1)


def test_rounding_is_no_difference() -> None:
    pairs = Pairs.of([0.1 + 0.2, 0.5], [0.3, 0.5])
    assert pairs.identical
    assert pairs.clusters.sums.tolist() == [0.0, 0.0]
    assert not Pairs.of([0.3 + 1e-12], [0.3]).identical


def test_wins_are_counted_by_user() -> None:
    pairs = Pairs.of([1.0, 0.0, 0.9, 0.2, 0.6], [0.0, 0.9, 0.0, 0.2, 0.7], [1, 1, 2, 3, 4])
    assert (pairs.wins, pairs.losses) == (2, 1)


def test_lengths_must_match() -> None:
    with pytest.raises(DataError, match="a has 2 values and b 3; match them by query id"):
        Pairs.of([0.1, 0.2], [0.1, 0.2, 0.3])


def test_text() -> None:
    assert str(Significance("t", 0.03125)) == "t: p = 0.0312"
    assert str(Significance("t", None, note="why")) == "t: no p-value (why)"
