"""Bootstrap kernels against plain NumPy on the hashes of core.random."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np

from fullrank.core.random import hash_elements, mix
from fullrank.kernels import bootstrap as kernels

SEED = 11
USERS = np.array([3, 8, 9, 40, 41, 1000, 2**40])


def setup(n_columns: int, rounds: int, users: np.ndarray = USERS) -> tuple:
    values = np.random.default_rng(0).integers(-1000, 1000, (n_columns, len(users)))
    return values, mix(users.astype(np.uint64)), hash_elements(SEED, np.arange(rounds))


def hashes(rounds: int, users: np.ndarray = USERS) -> np.ndarray:
    """uint64 [r, u] by the plain hash of (seed, round, user)."""
    grid = np.meshgrid(np.arange(rounds), users, indexing="ij")
    return hash_elements(SEED, grid[0].ravel(), grid[1].ravel()).reshape(rounds, len(users))


def poisson_steps() -> list[int]:
    getcontext().prec = 40
    total, steps = Decimal(0), []
    for k in range(kernels.MAX_WEIGHT):
        total += Decimal(-1).exp() / math.factorial(k)
        steps.append(int((total * 2**32).to_integral_value()))
    return steps


def test_steps_are_the_poisson_distribution() -> None:
    named = [getattr(kernels, f"_P{k}") for k in range(kernels.MAX_WEIGHT)]
    assert [int(step) for step in named] == poisson_steps()


def test_poisson_sums_are_weighted_sums_of_hashed_weights() -> None:
    users = np.arange(2500)  # more than two tiles
    values, keys, seeds = setup(3, 5, users)
    out = np.zeros((5, 3), dtype=np.int64)
    kernels.poisson_sums(values, keys, seeds, out)
    draws = hashes(5, users) >> np.uint64(32)
    weights = sum((draws >= step).astype(int) for step in poisson_steps())
    assert np.array_equal(out, weights @ values.T)


def test_poisson_weights_follow_poisson() -> None:
    weights = np.empty(400_000, dtype=np.int64)
    keys = mix(np.arange(400_000, dtype=np.uint64))
    kernels.poisson_weights(keys, np.uint64(99), weights)
    counts = np.bincount(np.minimum(weights, 6), minlength=7)
    shares = np.array([math.exp(-1) / math.factorial(k) for k in range(6)])
    expected = 400_000 * np.append(shares, 1 - shares.sum())
    assert ((counts - expected) ** 2 / expected).sum() < 22.5  # chi-square, 6 degrees, p = 0.001


def test_weights_of_users_and_resamples_are_uncorrelated() -> None:
    draws = (hashes(200, np.arange(500)) >> np.uint64(32)).astype(float)
    draws -= draws.mean()
    rows, columns = np.corrcoef(draws), np.corrcoef(draws.T)
    for matrix, n in ((rows, 500), (columns, 200)):
        off = matrix[np.triu_indices(len(matrix), 1)]
        assert np.abs(off).max() < 6 / math.sqrt(n)
        assert abs(off.std() * math.sqrt(n) - 1) < 0.05


def test_multinomial_sums_count_hashed_draws() -> None:
    users = np.arange(300)
    values, keys, seeds = setup(2, 40, users)
    out = np.zeros((40, 2), dtype=np.int64)
    kernels.multinomial_sums(values, keys, seeds, out)
    uniform = (hashes(40, users) >> np.uint64(11)) * 2.0**-53
    picked = (uniform * 300).astype(int)
    assert np.array_equal(out, np.stack([values[:, row].sum(axis=1) for row in picked]))


def test_flipped_sums_keep_the_users_whose_bit_is_set() -> None:
    values, keys, seeds = setup(1, 3)
    out = np.zeros((3, kernels.FLIPS), dtype=np.int64)
    kernels.flipped_sums(values, keys, seeds, out)
    bits = (hashes(3)[:, None, :] >> np.arange(64, dtype=np.uint64)[None, :, None]) & np.uint64(1)
    assert np.array_equal(out, (bits.astype(np.int64) * values[0]).sum(axis=2))
