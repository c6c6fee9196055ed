"""Intervals of merged states equal those of the values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.core.state import State
from fullrank.stats import mean_interval, state_interval

from .worlds import clustered


def test_a_merged_state_gives_the_interval_of_the_values() -> None:
    values, users = clustered(300, 0)
    parts = [State.of(values[users % 3 == i], users[users % 3 == i]) for i in (2, 0, 1)]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    assert state_interval(merged) == mean_interval(values, users, method="analytic")


def test_states_without_spread() -> None:
    assert math.isnan(state_interval(State.empty()).value)
    one = state_interval(State.of(np.array([0.5])))
    assert (one.value, math.isnan(one.low), one.method) == (0.5, True, "none")
    same = state_interval(State.of(np.full(9, 0.3)), bounds=(0.0, 1.0))
    assert same.method == "constant"
    assert same.low < 0.3 < same.high
    noisy = state_interval(State.of(np.array([0.6 - 0.5, 0.8 - 0.7, 1.0 - 0.9])))
    assert noisy.method == "constant"
    assert state_interval(State.of(np.zeros(3))).method == "constant"


def test_bad_level() -> None:
    with pytest.raises(SpecError, match="between 0 and 1"):
        state_interval(State.empty(), level=1.0)
