"""The sign-flip test against enumeration in fractions and against plain hashed flips."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from fullrank.core.errors import SpecError
from fullrank.core.random import hash_elements
from fullrank.stats import sign_flip
from fullrank.stats.bootstrap import seed_for

from .worlds import clustered, skewed


def enumerated(sums: list[Fraction]) -> float:
    reach = abs(sum(sums))
    signs = itertools.product((1, -1), repeat=len(sums))
    totals = [abs(sum(s * x for s, x in zip(row, sums))) for row in signs]
    return sum(total >= reach for total in totals) / len(totals)


@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(0, 6)), min_size=1, max_size=14))
def test_few_users_are_enumerated(rows: list[tuple[int, int]]) -> None:
    # Tenths: equal sums that floats tell apart must tie all the same.
    gaps = np.array([0.7 + g / 10 - 0.7 for g, _ in rows])
    users = np.array([u for _, u in rows])
    sums = [sum(Fraction(g) for g, w in rows if w == u) for u in sorted(set(users.tolist()))]
    found = sign_flip(gaps + 0.7, np.full(len(rows), 0.7), users)
    assert found.p_value == enumerated(sums)


def test_five_equal_differences() -> None:
    base = np.array([0.5, 0.7, 0.2, 0.9, 0.4])
    found = sign_flip(base + 0.1, base)
    assert found.p_value == 2 / 32
    assert found.test == "sign flip by user, exact"


def test_against_scipy_s_exact_permutation_test() -> None:
    a, b = skewed(12, 0), skewed(12, 1)
    expected = scipy_stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=np.inf,
    )  # fmt: skip
    assert sign_flip(a, b).p_value == pytest.approx(expected.pvalue, rel=1e-12)


def test_users_without_a_difference_do_not_matter() -> None:
    a, b = skewed(10, 0), skewed(10, 1)
    padded = sign_flip(np.append(a, np.ones(50)), np.append(b, np.ones(50)))
    assert padded.p_value == sign_flip(a, b).p_value
    assert padded.test.endswith("exact")


def test_many_users_are_drawn_by_hash() -> None:
    a, users = clustered(40, 0)
    b = np.roll(a, 5) ** 1.2
    found = sign_flip(a, b, users, flips=500, rng=8)
    ids = np.unique(users)
    sums = np.bincount(users, weights=a - b)
    rows = np.repeat(np.arange(8), len(ids))
    words = hash_elements(seed_for(8, "sign flip"), rows, np.tile(ids, 8)).reshape(8, len(ids))
    bits = (words[:, None, :] >> np.arange(64, dtype=np.uint64)[None, :, None]) & np.uint64(1)
    totals = (np.where(bits == 1, 1, -1) * sums).sum(axis=2).ravel()[:500]
    hits = np.sum(np.abs(totals) >= abs(sums.sum()) * (1 - 1e-12))
    assert found.p_value == (1 + hits) / 501
    assert found.test == "sign flip by user, 500 draws"


def test_draws_are_close_to_enumeration() -> None:
    gaps = skewed(18, 3) - skewed(18, 4)
    totals = np.zeros(1)
    for gap in gaps:
        totals = np.concatenate([totals + gap, totals - gap])
    exact = np.mean(np.abs(totals) >= abs(gaps.sum()) - 1e-12)
    drawn = sign_flip(gaps, np.zeros(18), flips=20_000).p_value
    assert abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000)


def test_a_clear_difference_is_never_impossible() -> None:
    a = np.append(np.ones(200), 0.0)
    found = sign_flip(a, 0.5 * np.ones(201))
    assert found.p_value == 1 / 10_000


def test_one_way_differences_have_a_closed_form() -> None:
    base = skewed(60, 0)
    found = sign_flip(base + 0.1 + skewed(60, 1), base)
    assert found.p_value == 2.0**-59
    assert sign_flip(np.ones(5000), np.zeros(5000)).p_value > 0


def test_order_and_threads_change_no_bit() -> None:
    a, users = clustered(2000, 1)
    b = np.roll(a, 3) ** 1.02
    order = np.random.default_rng(0).permutation(len(a))
    one = sign_flip(a, b, users, threads=1)
    assert one == sign_flip(a[order], b[order], users[order], threads=3)
    assert one.p_value == sign_flip(b, a, users).p_value
    assert one.p_value != sign_flip(a, b, users, rng=1).p_value


def test_level_is_kept() -> None:
    p = np.array([sign_flip(skewed(30, s), skewed(30, s + 9000), flips=199).p_value
                  for s in range(400)])  # fmt: skip
    for level in (0.05, 0.2, 0.5):
        assert abs(np.mean(p <= level) - level) < 4 * np.sqrt(level * (1 - level) / 400)


def test_no_difference_one_user_and_no_pairs() -> None:
    x = skewed(5, 0)
    assert (sign_flip(x, x).p_value, sign_flip(x, x).note) == (1.0, "no difference")
    assert sign_flip([0.3, 0.5], [0.1, 0.1], [4, 4]).p_value == 1.0
    assert sign_flip([], []).p_value is None
    with pytest.raises(SpecError, match="at least 100"):
        sign_flip(x, x, flips=10)


def test_draws_tie_as_exact_sums_do() -> None:
    # 30 users, 18 of them better by 0.1 and 12 worse: rounding must not break the ties.
    gaps = np.where(np.arange(30) < 18, 0.1, -0.1)
    base = skewed(30, 0) / 2 + 0.2
    exact = 2 * scipy_stats.binom.sf(17, 30, 0.5)
    drawn = sign_flip(base + gaps, base, flips=20_000).p_value
    assert abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000)
