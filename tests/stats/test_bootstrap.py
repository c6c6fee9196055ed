"""Resampled means against plain loops, BCa against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from fullrank.core.random import hash_elements
from fullrank.stats.bootstrap import (
    bca_ends,
    fixed_point,
    multinomial_means,
    percentile_ends,
    poisson_means,
    poisson_table,
)
from fullrank.stats.clusters import Clusters

from .worlds import clustered, skewed


def plain_multinomial(values: np.ndarray, users: np.ndarray, rounds: int, seed: int) -> list[float]:
    ids = np.unique(users)
    means = []
    for r in range(rounds):
        draws = hash_elements(seed, np.full(len(ids), r), np.arange(len(ids))) >> np.uint64(11)
        picked = ids[(draws * 2.0**-53 * len(ids)).astype(int)]
        means.append(np.concatenate([values[users == u] for u in picked]).mean())
    return means


def test_multinomial_means_against_a_plain_loop() -> None:
    values, users = clustered(25, 0)
    found = multinomial_means(Clusters.of(values, users), 50, seed=3)
    assert found == pytest.approx(plain_multinomial(values, users, 50, 3), rel=1e-13)


def test_poisson_means_are_weighted_means_with_weights_by_user() -> None:
    values, users = clustered(200, 0)
    ones = np.ones(len(values))
    other = np.where(users % 2 == 0, values, np.nan)
    columns = [Clusters.of(x, users) for x in (values, other, ones)]
    found = poisson_means(columns, 40, seed=3)
    weights = _poisson_weights(np.unique(users), 40, 3)[:, users]
    assert found[0] == pytest.approx((weights @ values) / weights.sum(axis=1), rel=1e-12)
    even = users % 2 == 0
    expected = (weights[:, even] @ values[even]) / weights[:, even].sum(axis=1)
    assert found[1] == pytest.approx(expected, rel=1e-12)
    assert np.all(found[2] == 1.0)


def _poisson_weights(ids: np.ndarray, rounds: int, seed: int) -> np.ndarray:
    grid = np.meshgrid(np.arange(rounds), ids, indexing="ij")
    draws = hash_elements(seed, grid[0].ravel(), grid[1].ravel()) >> np.uint64(32)
    return scipy_stats.poisson.ppf((draws + 0.5) * 2.0**-32, 1).reshape(rounds, len(ids))


def test_a_resample_without_users_is_left_out() -> None:
    means = poisson_means([Clusters.of(np.array([0.0, 1.0]), None)], 1000, seed=0)[0]
    assert np.isfinite(means).all()
    assert 800 < len(means) < 930  # 1 - exp(-2) of 1000


def test_rows_of_a_table_resample_all_columns_alike() -> None:
    """Users 1 and 2, and 2 alone: the second has no value where user 2 weighs nothing."""
    values, users = np.array([1.0, 5.0]), np.array([1, 2])
    columns = [Clusters.of(values, users), Clusters.of(values[1:], users[1:])]
    table = poisson_table(columns, 300, 4)
    without = np.isnan(table[:, 1])
    assert 0.25 < without.mean() < 0.5  # Poisson(1) is 0 with probability 0.37
    first = table[without, 0]
    assert set(first[~np.isnan(first)]) == {1.0}
    assert set(table[~without, 1]) == {5.0}
    for column, means in zip(table.T, poisson_means(columns, 300, 4)):
        np.testing.assert_array_equal(column[~np.isnan(column)], means)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bca_and_percentile_against_scipy(seed: int) -> None:
    values = skewed(60, seed)
    clusters = Clusters.of(values, None)
    means = multinomial_means(clusters, 20_000, seed)
    tolerance = 0.1 * clusters.state.standard_error  # five times the noise of 20,000 resamples
    for method, ends in (
        ("BCa", bca_ends(means, clusters, 0.95)),
        ("percentile", percentile_ends(means, 0.95)),
    ):
        scipy = scipy_stats.bootstrap(
            (values,), np.mean, n_resamples=20_000, method=method, rng=seed
        ).confidence_interval
        assert ends == pytest.approx((scipy.low, scipy.high), abs=tolerance)
    # BCa leans to the right on right-skewed values, by more than the tolerance.
    assert bca_ends(means, clusters, 0.95)[1] > percentile_ends(means, 0.95)[1] + tolerance / 2


@pytest.mark.parametrize("values", [skewed(40, 9), np.arange(40) % 4 < 1])
def test_bca_of_given_resamples_is_scipy_s(values: np.ndarray) -> None:
    # The second are hits, whose resampled mean often equals the mean.
    values = values.astype(float)
    clusters = Clusters.of(values, None)
    means = multinomial_means(clusters, 2000, 1)
    share = np.mean(means < values.mean()) + np.mean(means == values.mean()) / 2
    left_out = np.array([np.delete(values, i).mean() for i in range(40)])
    u = left_out.mean() - left_out
    a = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    z0 = scipy_stats.norm.ppf(share)
    z = z0 + scipy_stats.norm.ppf([0.025, 0.975])
    expected = np.quantile(means, scipy_stats.norm.cdf(z0 + z / (1 - a * z)))
    assert bca_ends(means, clusters, 0.95) == pytest.approx(tuple(expected), rel=1e-9)


def test_bca_where_all_resamples_lie_on_one_side() -> None:
    clusters = Clusters.of(skewed(30, 0), None)
    means = clusters.state.value + np.linspace(0.01, 0.1, 200)
    low, high = bca_ends(means, clusters, 0.95)
    assert means.min() <= low <= high <= means.max()


@given(
    st.lists(
        st.one_of(st.floats(1e-99, 1e6), st.floats(-1e6, 0.0)), min_size=1, max_size=20
    ).filter(lambda x: max(map(abs, x)) > 1e-99),
    st.integers(1, 2**20),
)
def test_fixed_point_is_close_and_cannot_overflow(values: list[float], weight: int) -> None:
    array = np.array(values)
    whole, bits = fixed_point(array, weight)
    unit = 2.0**-bits
    assert int(np.abs(whole).max()) * weight < 2**62
    assert np.abs(whole * unit - array).max() <= unit / 2 + 1e-16 * np.abs(array).max()
    assert unit <= np.abs(array).max() * weight * 2.0**-59
