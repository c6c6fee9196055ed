"""States: merge laws, chunking, values against plain formulas."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.state import State, user_sums

values = st.one_of(st.floats(0, 1), st.floats(-100, 100), st.just(math.nan))
columns = st.lists(values, max_size=12).map(lambda x: np.array(x, dtype=np.float64))
rows = st.lists(st.tuples(values, st.integers(0, 5)), max_size=25)


def split(rows: list[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([r[0] for r in rows], dtype=np.float64), np.array([r[1] for r in rows], int)


@given(columns, columns, columns)
def test_merge_laws(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    x, y, z = State.of(a), State.of(b), State.of(c)
    assert x.merge(y) == y.merge(x)
    assert x.merge(y).merge(z) == x.merge(y.merge(z))
    assert x.merge(State.empty()) == x == State.empty().merge(x)


@given(rows, st.data())
def test_order_and_chunks_by_user_do_not_matter(rows: list, data: st.DataObject) -> None:
    whole = State.of(*split(rows))
    shuffled = data.draw(st.permutations(rows))
    assert State.of(*split(shuffled)) == whole
    cut = data.draw(st.integers(0, 6))
    low = State.of(*split([r for r in shuffled if r[1] < cut]))
    high = State.of(*split([r for r in shuffled if r[1] >= cut]))
    merged = low.merge(high)
    assert merged == whole
    assert repr((merged.value, merged.standard_error)) == repr((whole.value, whole.standard_error))


@given(rows)
def test_against_plain_formulas(rows: list) -> None:
    state = State.of(*split(rows))
    known = [(v, u) for v, u in rows if not math.isnan(v)]
    users = sorted({u for _, u in known})
    assert (state.n_queries, state.n_users) == (len(known), len(users))
    assert state.undefined == len(rows) - len(known)
    if not known:
        assert math.isnan(state.value)
        return
    mean = sum(Fraction(v) for v, _ in known) / len(known)
    assert state.value == float(mean)
    if len(users) < 2:
        assert math.isnan(state.standard_error)
        return
    # Sums as floats, ascending within a user: those are what the state is exact about.
    sums = {u: float(np.add.accumulate(sorted(v for v, w in known if w == u))[-1]) for u in users}
    counts = {u: sum(w == u for _, w in known) for u in users}
    squares = sum((Fraction(sums[u]) - mean * counts[u]) ** 2 for u in users)
    expected = math.sqrt(squares * len(users) / (len(users) - 1)) / len(known)
    # Values under 1e-140 have squares that doubles can't hold.
    assert state.standard_error == pytest.approx(expected, rel=1e-12, abs=1e-130)


def test_one_query_a_user_is_the_textbook_standard_error() -> None:
    x = np.random.default_rng(0).random(50)
    assert State.of(x).standard_error == pytest.approx(x.std(ddof=1) / math.sqrt(50), rel=1e-12)
    assert State.of(x, np.arange(50)[::-1].copy()) == State.of(x[::-1].copy())


def test_equal_values_have_no_spread() -> None:
    assert State.of(np.full(7, 0.1)).standard_error == 0.0


def test_a_large_offset_does_not_eat_the_spread() -> None:
    x = np.array([1e9 + 0.25, 1e9 + 0.5, 1e9 + 1.0])
    exact = np.std([0.25, 0.5, 1.0], ddof=1) / math.sqrt(3)
    assert State.of(x).standard_error == pytest.approx(exact, rel=1e-12)


def test_two_users_by_hand() -> None:
    state = State.of(np.array([1.0, 0.0, 0.5, np.nan]), np.array([3, 3, 8, 8]))
    # Sums 1 and 0.5, counts 2 and 1, mean 0.5: both users lie on the mean.
    assert (state.value, state.standard_error, state.undefined) == (0.5, 0.0, 1)


def test_user_sums() -> None:
    users, sums, counts = user_sums(np.array([1.0, np.nan, 2.0, 4.0]), np.array([9, 5, 2, 9]))
    assert (users.tolist(), sums.tolist(), counts.tolist()) == ([2, 9], [2.0, 5.0], [1.0, 2.0])
    users, sums, counts = user_sums(np.array([1.0, np.nan, 2.0]), None)
    assert (users.tolist(), sums.tolist(), counts.tolist()) == ([0, 2], [1.0, 2.0], [1.0, 1.0])
