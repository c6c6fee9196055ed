"""Canonical order against NumPy's lexsort, for any chunk and any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core import _order
from fullrank.core._order import Columns, canonical_rows


@pytest.fixture(params=[(1, "1"), (3, "4"), (1 << 20, "2")], autouse=True, scope="module")
def chunks(request):
    """Chunks of a row, of three rows, of all; one, four and two threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_order, "_ROWS", request.param[0])
        patch.setenv("FULLRANK_THREADS", request.param[1])
        yield


def by_lexsort(columns: Columns) -> np.ndarray:
    keys = (columns.users, columns.times, columns.items, columns.values)
    keys += tuple(columns.extras[name] for name in sorted(columns.extras))
    return np.lexsort([key for key in keys if key is not None][::-1])


def world(rng, n, n_users, spread, *, times=True, values=True, extras=False):
    """Random columns with many ties for a small spread."""
    return Columns(
        rng.integers(0, n_users, n).astype(np.int32),
        rng.integers(0, spread, n).astype(np.int32),
        rng.integers(-spread, spread, n) / 4 if values else None,
        rng.integers(-spread, spread, n) if times else None,
        {"b": rng.integers(0, 3, n), "a": rng.normal(size=n)} if extras else {},
    )


@given(
    st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 9),
    st.sampled_from([1, 2, 5, 1000]), st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_order_is_that_of_a_plain_sort(seed, n, n_users, spread, times, values, extras):
    columns = world(
        np.random.default_rng(seed), n, n_users, spread,
        times=times, values=values, extras=extras,
    )  # fmt: skip
    want = by_lexsort(columns)
    got = canonical_rows(columns, n_users)
    if got is None:
        keys = [*columns[:1], columns.times, columns.items, columns.values]
        keys += [columns.extras[name] for name in sorted(columns.extras)]
        for key in (key for key in keys if key is not None):
            np.testing.assert_array_equal(key, key[want])
    else:
        np.testing.assert_array_equal(got, want)


def test_sorted_rows_are_recognised():
    columns = world(np.random.default_rng(1), 500, 7, 3, extras=True)
    rows = by_lexsort(columns)
    extras = {name: column[rows] for name, column in columns.extras.items()}
    ordered = Columns(*(column[rows] for column in columns[:4]), extras)
    assert canonical_rows(ordered, 7) is None
    assert canonical_rows(columns, 7) is not None


def test_extreme_keys():
    """Signed zeros are equal; the ends of 64 bits and negative values keep their order."""
    ends = np.array([2**63 - 1, -(2**63), 0, -1])
    values = np.array([0.0, -0.0, -1.5, np.finfo(float).max, -np.finfo(float).max, 5e-324, -5e-324])
    rng = np.random.default_rng(0)
    n = 200
    columns = Columns(
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        rng.choice(values, n),
        rng.choice(ends, n),
        {},
    )
    np.testing.assert_array_equal(canonical_rows(columns, 1), by_lexsort(columns))


def test_heavy_users():
    """Long runs go through the merge, with and without ties."""
    for spread in (10, 10**6):
        columns = world(np.random.default_rng(spread), 20_000, 3, spread)
        np.testing.assert_array_equal(canonical_rows(columns, 3), by_lexsort(columns))


def test_no_rows():
    none = np.zeros(0, np.int32)
    assert canonical_rows(Columns(none, none, None, None, {}), 4) is None
