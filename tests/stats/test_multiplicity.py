"""Holm and Benjamini-Hochberg by hand and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from fullrank.core.errors import DataError, SpecError
from fullrank.stats import adjust

P = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}
shares = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def named(values: list[float]) -> dict[str, float | None]:
    return {f"model {i}": p for i, p in enumerate(values)}


def test_by_hand() -> None:
    assert adjust(P).adjusted == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert adjust(P, "bh").adjusted == pytest.approx({"a": 0.02, "b": 0.04, "c": 0.04, "d": 0.02})
    assert adjust(P, "none").adjusted == P


@given(shares)
def test_bh_is_scipy_s(values: list[float]) -> None:
    found = list(adjust(named(values), "bh").adjusted.values())
    assert found == pytest.approx(scipy_stats.false_discovery_control(values), rel=1e-12)


@given(shares)
def test_holm_is_the_step_down_definition(values: list[float]) -> None:
    found = adjust(named(values), "holm").adjusted
    order = sorted(values)
    n = len(values)
    for name, p in named(values).items():
        steps = [(n - i) * q for i, q in enumerate(order) if q <= p]
        assert found[name] == pytest.approx(min(1.0, max(steps)), rel=1e-12)
        assert p <= found[name] <= min(1.0, n * p) + 1e-15


def test_holm_keeps_the_chance_of_a_false_claim() -> None:
    rng = np.random.default_rng(0)
    false = sum(
        min(adjust(named(rng.random(10).tolist())).adjusted.values()) < 0.05 for _ in range(1000)
    )
    assert 25 <= false <= 78  # 50 expected at most, sd 7


def test_the_family_names_itself_and_its_size() -> None:
    found = adjust({"EASE": 0.01, "Random": None}, family="2 models, NDCG@10")
    assert str(found) == "Holm over 1 comparison (2 models, NDCG@10)"
    assert found.adjusted == {"EASE": 0.01, "Random": None}
    assert found.p_values == {"EASE": 0.01, "Random": None}
    assert adjust({}).size == 0


@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.5])
def test_bad_p_values_are_named(bad: float) -> None:
    with pytest.raises(DataError, match="p-value of 'EASE'"):
        adjust({"iALS": 0.5, "EASE": bad})


def test_unknown_method() -> None:
    with pytest.raises(SpecError, match="did you mean 'holm'"):
        adjust(P, "Holms")
