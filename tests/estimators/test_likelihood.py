"""Likelihoods, bins and groups: against SciPy, by hand, and rows that sum to 1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._likelihood import beyond, log_pmf

N, SIZE = 60, 9


def table(replacement: bool) -> np.ndarray:
    """``A[R, r]`` by our formulas."""
    r, true = np.arange(1, SIZE + 1), np.arange(1, N + 1)[:, None]
    return np.exp(log_pmf(r, np.array(SIZE), np.array(N), true, replacement=replacement))


@pytest.mark.parametrize("replacement", [True, False])
def test_rows_agree_with_scipy_and_sum_to_one(replacement):
    found, hits = table(replacement), np.arange(SIZE)
    for true in range(1, N + 1):
        if replacement:
            expected = stats.binom.pmf(hits, SIZE - 1, (true - 1) / (N - 1))
        else:
            expected = stats.hypergeom.pmf(hits, N - 1, true - 1, SIZE - 1)
        assert found[true - 1] == pytest.approx(expected, abs=1e-12)
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert found[0].tolist() == [1.0] + [0.0] * (SIZE - 1)
    assert found[-1].tolist() == pytest.approx([0.0] * (SIZE - 1) + [1.0])


@pytest.mark.parametrize("replacement", [True, False])
def test_rank_estimate_is_unbiased(replacement):
    """E[1 + (N - 1)(r - 1)/(n - 1)] = R for both schemes."""
    r = np.arange(1, SIZE + 1)
    mean = table(replacement) @ (1 + (N - 1) * (r - 1) / (SIZE - 1))
    assert mean == pytest.approx(np.arange(1, N + 1))


@pytest.mark.parametrize("replacement", [True, False])
def test_sampled_auc_is_exact(replacement):
    r = np.arange(1, SIZE + 1)
    true = (N - np.arange(1, N + 1)) / (N - 1)
    assert table(replacement) @ ((SIZE - r) / (SIZE - 1)) == pytest.approx(true)


@pytest.mark.parametrize("replacement", [True, False])
def test_sampled_ap_has_its_closed_form_with_replacement(replacement):
    r, theta = np.arange(1, SIZE + 1), (np.arange(2, N + 1) - 1) / (N - 1)
    found = (table(replacement) @ (1 / r))[1:]
    closed = (1 - (1 - theta) ** SIZE) / (SIZE * theta)
    assert (found == pytest.approx(closed)) == replacement


def test_a_whole_sample_without_replacement_is_the_identity():
    r = np.arange(1, N + 1)
    found = np.exp(log_pmf(r, np.array(N), np.array(N), r[:, None], replacement=False))
    assert found == pytest.approx(np.eye(N))


@pytest.mark.parametrize("replacement", [True, False])
def test_tail_is_the_sum_of_its_ranks(replacement):
    found = beyond(3, SIZE, N, np.arange(1, N + 1), replacement=replacement)
    assert found == pytest.approx(table(replacement)[:, 3:].sum(axis=1), abs=1e-12)


@pytest.mark.parametrize("n", [1, 5, 60, 61, 1000, 54_321])
def test_bins_cover_all_ranks_once(n):
    bins = Bins.of(n, 60)
    assert bins.first[0] == 1
    assert bins.last[-1] == n
    assert np.array_equal(bins.first[1:], bins.last[:-1] + 1)
    assert (bins.width[:59] == 1).all()
    assert len(bins) < 60 + 30 * np.log(n + 2)
    assert np.array_equal(bins.place(bins.first), bins.place(bins.last))


def test_means_over_bins():
    bins = Bins.of(5000, 60)
    assert bins.means(lambda r: 3.0 * r) == pytest.approx(3.0 * bins.middle, rel=1e-12)
    exact = [np.mean(1 / np.arange(a, b + 1)) for a, b in zip(bins.first, bins.last)]
    assert bins.means(lambda r: 1 / r) == pytest.approx(exact, rel=1e-5)


def test_likelihood_of_single_ranks_is_exact_and_of_bins_a_mean():
    groups, _ = Groups.of(np.array([1, 3]), np.array([9, 9]), np.array([900, 900]),
                          replacement=False)  # fmt: skip
    bins = Bins.of(900, 60)
    found = groups.likelihood(bins)
    ranks = np.arange(1, 901)[:, None]
    full = np.exp(log_pmf(np.array([1, 3]), np.array(9), np.array(900), ranks, replacement=False))
    assert found[:60] == pytest.approx(full[:60])
    means = [full[a - 1 : b].mean(axis=0) for a, b in zip(bins.first, bins.last)]
    assert found == pytest.approx(np.array(means), abs=1e-3)


def test_an_exact_rank_lies_in_its_bin():
    groups, member = Groups.of(
        np.array([500, 2, 2]), np.array([900, 9, 800]), np.array([900, 900, 800]), replacement=False
    )
    bins = Bins.of(900, 60)
    column = groups.likelihood(bins)[:, member[0]]
    place = int(bins.place(np.array([500]))[0])
    assert column[place] == pytest.approx(1 / bins.width[place])
    assert np.count_nonzero(column) == 1
    assert groups.exact[member].tolist() == [True, False, True]


def test_groups_keep_the_number_of_targets_and_so_does_the_lump():
    rng = np.random.default_rng(0)
    r, sizes = rng.integers(1, 101, 5000), np.where(rng.random(5000) < 0.2, 200, 100)
    groups, member = Groups.of(r, sizes, np.full(5000, 10_000), replacement=False)
    assert np.array_equal(np.bincount(member), groups.counts)
    assert np.array_equal(groups.ranks[member], r)
    lumped, cell = groups.lumped(100, 25)
    assert lumped.total == groups.total == 5000
    assert (lumped.beyond > 0).sum() == 1
    one = lumped.counts[lumped.beyond > 0][0]
    assert one == np.count_nonzero((sizes == 100) & (r > 25))
    assert np.array_equal(np.bincount(cell, weights=groups.counts), lumped.counts)


def test_catalogues_of_about_one_size_are_one_class_and_leave_room_for_the_sample():
    rng = np.random.default_rng(0)
    catalogs = rng.integers(2000, 4000, 3000)
    groups, member = Groups.of(np.ones(3000, int), catalogs - 1, catalogs, replacement=False)
    assert (groups.catalogs[member] >= groups.sizes[member]).all()
    assert np.abs(groups.catalogs[member] / catalogs - 1).max() < 0.1
    groups, _ = Groups.of(np.ones(3000, int), np.full(3000, 50), catalogs, replacement=False)
    assert len(groups) < 10
