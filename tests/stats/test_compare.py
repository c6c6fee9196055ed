"""Comparisons as a whole; two runs that do not differ (public fault D10)."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.stats import (
    PairedTest,
    compare_pairs,
    mean_interval,
    paired_difference,
    paired_t,
    sign_flip,
    wilcoxon,
)

from .worlds import clustered, skewed

BASE = np.array([0.5, 0.7, 0.2, 0.9, 0.4])


def numbers(value: object) -> list[float]:
    """All floats inside a result."""
    if dataclasses.is_dataclass(value):
        return [x for f in dataclasses.fields(value) for x in numbers(getattr(value, f.name))]
    if isinstance(value, dict):
        return [x for part in value.values() for x in numbers(part)]
    return [value] if isinstance(value, float) else []


def test_a_run_against_itself() -> None:
    found = compare_pairs(BASE, BASE)
    assert (found.difference.value, found.p_value, found.effect) == (0.0, 1.0, 0.0)
    assert found.significance.note == "no difference"
    assert (found.wins, found.ties, found.losses) == (0, 5, 0)
    assert {result.p_value for result in found.tests.values()} == {1.0}
    assert not any(math.isnan(x) for x in numbers(found))


@pytest.mark.parametrize("test", ["auto", "t", "sign_flip"])
def test_a_run_that_is_better_by_the_same_for_all(test: str) -> None:
    found = compare_pairs(BASE + 0.1, BASE, test=test)
    assert found.difference.value == pytest.approx(0.1, rel=1e-12)
    assert found.p_value == 2 / 32
    assert found.tests["t"].p_value is None
    assert found.effect is None
    assert (found.wins, found.ties, found.losses) == (5, 0, 0)
    assert not any(math.isnan(x) for x in numbers(found))
    assert found.difference.method == "constant"


def test_the_test_that_stands_in_says_why() -> None:
    found = compare_pairs(BASE + 0.1, BASE, test="t", tests=["t"])
    assert found.significance.test == "sign flip by user, exact"
    assert "all 5 users differ by the same 0.1" in found.significance.note
    assert sorted(found.tests) == ["sign_flip", "t"]


def test_equal_differences_with_bounds_do_not_claim_certainty() -> None:
    found = compare_pairs(BASE + 0.1, BASE, bounds=(-1.0, 1.0)).difference
    share = 1 - 0.05**0.2
    assert found.low == pytest.approx(0.1 - share * 1.1, rel=1e-12)
    assert found.high == pytest.approx(0.1 + share * 0.9, rel=1e-12)


def test_one_user() -> None:
    found = compare_pairs([0.6, 0.4], [0.5, 0.1], [7, 7])
    assert (found.p_value, found.wins) == (1.0, 1)
    assert found.effect is None
    assert math.isnan(found.difference.low)
    assert "one user" in found.difference.assumptions[0]


def test_no_pairs() -> None:
    found = compare_pairs([np.nan, 0.5], [0.5, np.nan])
    assert found.p_value is None
    assert found.significance.note == "no query has a value in both"
    assert (found.one_sided, found.wins, found.ties, found.losses) == (2, 0, 0, 0)


def test_parts_agree_with_their_own_functions() -> None:
    a, users = clustered(60, 0)
    b = np.roll(a, 4) ** 1.2
    found = compare_pairs(a, b, users, rng=5)
    assert found.tests["t"] == paired_t(a, b, users)
    assert found.tests["wilcoxon"] == wilcoxon(a, b, users)
    assert found.tests["sign_flip"] == sign_flip(a, b, users, rng=5)
    assert found.difference == paired_difference(a, b, users, rng=5)
    assert found.difference == mean_interval(a - b, users, rng=5, resamples=10_000)
    assert (found.mean_a, found.mean_b) == (pytest.approx(a.mean()), pytest.approx(b.mean()))
    assert found.significance == found.tests["t"]
    assert found.wins + found.ties + found.losses == 60


def test_swapping_the_systems_turns_the_result_round() -> None:
    a, b = skewed(50, 0), skewed(50, 1)
    one = compare_pairs(a, b, method="percentile")
    other = compare_pairs(b, a, method="percentile")
    assert other.difference.low == pytest.approx(-one.difference.high, rel=1e-9)
    assert (one.wins, one.losses) == (other.losses, other.wins)
    assert one.effect == pytest.approx(-other.effect)
    assert {k: v.p_value for k, v in one.tests.items()} == pytest.approx(
        {k: v.p_value for k, v in other.tests.items()}
    )


def test_auto_is_exact_for_few_users_and_t_above() -> None:
    a, b = skewed(17, 0), skewed(17, 1)
    assert compare_pairs(a[:16], b[:16]).significance.test == "sign flip by user, exact"
    assert compare_pairs(a, b).significance.test == "paired t by user"


def test_order_changes_no_bit() -> None:
    a, users = clustered(80, 2)
    b = np.roll(a, 9) ** 1.2
    order = np.random.default_rng(0).permutation(len(a))
    assert compare_pairs(a, b, users) == compare_pairs(a[order], b[order], users[order])


def test_the_result_is_frozen() -> None:
    found = compare_pairs(BASE, BASE)
    assert isinstance(found, PairedTest)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.wins = 3  # type: ignore[misc]


def test_bad_options() -> None:
    with pytest.raises(SpecError, match="did you mean 'wilcoxon'"):
        compare_pairs(BASE, BASE, test="wilcox")
    with pytest.raises(SpecError, match="unknown test"):
        compare_pairs(BASE, BASE, tests=["z"])
    with pytest.raises(SpecError, match="unknown interval method"):
        paired_difference(BASE, BASE, method="normal")


def test_equal_values_differ_by_nothing_at_all() -> None:
    """An allowance for unseen users would say that a system may differ from itself."""
    found = compare_pairs(BASE, BASE, bounds=(-1.0, 1.0))
    difference = found.difference
    assert (difference.value, difference.low, difference.high) == (0.0, 0.0, 0.0)
    assert found.significance.note == "no difference"


def test_values_that_cancel_within_each_user_are_not_called_the_same() -> None:
    a, b, users = [0.1, 0.3, 0.2, 0.6], [0.3, 0.1, 0.6, 0.2], [0, 0, 1, 1]
    found = compare_pairs(a, b, users, bounds=(-1.0, 1.0))
    assert found.difference.value == pytest.approx(0.0)
    assert found.difference.high > 0.1
    assert found.significance.note == "no user's mean differs"
