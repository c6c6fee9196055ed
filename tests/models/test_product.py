"""The product of factors: the same bits for any block, exact ties, exact zeros."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.kernels.grid import grid_bits, to_grid
from fullrank.models._product import product


def factors(n: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * rng.lognormal(sigma=2, size=(n, 1))).astype(np.float32)


@pytest.mark.parametrize("d", [1, 7, 64, 130])
@pytest.mark.parametrize("n_items", [3, 37, 500, 5000])
def test_blocks_and_order(d: int, n_items: int) -> None:
    Q, V = factors(65, d, 0), factors(n_items, d, 1)
    whole = product(Q, V)
    for size in (1, 2, 7, 64):
        parts = [product(Q[s : s + size], V) for s in range(0, 65, size)]
        np.testing.assert_array_equal(np.vstack(parts), whole)
    order = np.random.default_rng(2).permutation(65)
    np.testing.assert_array_equal(product(Q[order], V), whole[order])
    shuffled = np.random.default_rng(3).permutation(n_items)
    np.testing.assert_array_equal(product(Q, V[shuffled]), whole[:, shuffled])


@given(seed=st.integers(0, 2**31), d=st.integers(1, 70), n_items=st.integers(2, 60))
def test_equal_items_tie(seed: int, d: int, n_items: int) -> None:
    V = factors(n_items, d, seed)
    V[-1] = V[0]
    scores = product(factors(9, d, seed + 1), V)
    np.testing.assert_array_equal(scores[:, 0], scores[:, -1])


@given(seed=st.integers(0, 2**31), d=st.integers(2, 70))
def test_sums_that_cancel_are_zero(seed: int, d: int) -> None:
    """Terms come in pairs of opposite sign, in any order: exactly 0, not noise."""
    half = factors(6, d, seed)
    order = np.random.default_rng(seed).permutation(2 * d)
    Q = np.hstack([half, half])[:, order]
    V = np.hstack([half, -half])[:, order]
    assert (np.diag(product(Q, V)) == 0).all()


@given(seed=st.integers(0, 2**31), d=st.integers(1, 300))
def test_close_to_the_exact_product(seed: int, d: int) -> None:
    """Within what a float32 product itself is known to be off: d roundings of 2**-24 each."""
    Q, V = factors(5, d, seed), factors(11, d, seed + 1)
    exact = Q.astype(np.longdouble) @ V.T.astype(np.longdouble)
    largest = np.abs(Q).max(axis=1)[:, None] * np.abs(V).max(axis=1)
    error = np.abs(product(Q, V) - exact)
    step = 2.0 ** -(grid_bits(d) - 1)  # of the largest entry, which may be just above half a power
    assert (error <= np.abs(exact) * 2.0**-24 + d * largest * step * 1.01).all()
    assert step <= 2.0**-21


@given(seed=st.integers(0, 2**31), d=st.integers(1, 70))
def test_the_grid_is_reached_once(seed: int, d: int) -> None:
    V = factors(20, d, seed)
    V[0, 0] = np.float32(2.0) - np.float32(2.0**-23)  # rounds up to a power of two
    once, twice = np.empty_like(V), np.empty_like(V)
    to_grid(V, once)
    to_grid(once, twice)
    np.testing.assert_array_equal(once, twice)


def test_zero_and_empty_factors() -> None:
    assert (product(np.zeros((2, 3), np.float32), factors(4, 3, 0)) == 0).all()
    assert product(np.zeros((0, 3), np.float32), factors(4, 3, 0)).shape == (0, 4)
