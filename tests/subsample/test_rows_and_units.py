"""Samplers of rows, users and items against hand-worked samples and plain references."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.subsample.worlds import LOW, rows, world

from fullrank.core.errors import DataError
from fullrank.core.interactions import NO_TIME
from fullrank.core.random import derive, hash_elements
from fullrank.split._draws import row_draws as plain_draws
from fullrank.subsample import subsample
from fullrank.subsample._draws import places_within_users, row_draws
from fullrank.subsample._select import as_fraction, asked_rows, whole_units

TRAIN = world(2)


def kept_by_user(train, sample):
    return np.bincount(train.users[sample.rows], minlength=train.n_users)


def test_draws_of_rows_are_those_of_the_hash_of_elements():
    assert np.array_equal(row_draws(TRAIN, 7, "a"), plain_draws(TRAIN, 7, "a"))
    assert len(np.unique(row_draws(TRAIN, 7, "a"))) == len(TRAIN)


def test_places_within_users_against_a_sort():
    draws = row_draws(TRAIN, 7, "a")
    for times, major in ((None, np.zeros(len(TRAIN))), (TRAIN.times, TRAIN.times)):
        found = places_within_users(TRAIN, draws, times)
        for user in range(TRAIN.n_users):
            mine = np.flatnonzero(TRAIN.users == user)
            order = mine[np.lexsort((draws[mine], major[mine]))]
            assert found[order].tolist() == list(range(len(mine)))


@pytest.mark.parametrize(
    ("n", "keep", "rows_kept"),
    [(10, 0.1, 1), (10, 0.01, 1), (1000, 0.29, 290), (7, 0.4, 3), (600, 0.8, 480), (3, 0.5, 2)],
)
def test_sizes_are_those_of_decimals(n, keep, rows_kept):
    """All but floor(q n): of 1,000 rows 0.29 are 290, though 0.71 * 1000 is below 710 in floats."""
    assert asked_rows(n, as_fraction(keep)) == rows_kept


def test_random_rows_are_chosen_evenly():
    """Each row with chance p: a chi-squared of 600 rows in 400 samples, and no pair is favoured."""
    times = sum(
        np.isin(
            np.arange(len(TRAIN)), subsample(TRAIN, "RandomInteractions", 0.3, s, floor=LOW).rows
        )
        for s in range(400)
    )
    chi = ((times - 120) ** 2 / (400 * 0.3 * 0.7)).sum()
    assert abs(chi - 600) < 5 * np.sqrt(2 * 600)


@pytest.mark.parametrize("name", ["Stratified", "Temporal"])
def test_every_user_keeps_the_same_share(name):
    counts, total = TRAIN.user_counts, np.zeros(TRAIN.n_users)
    for seed in range(200):
        kept = kept_by_user(TRAIN, subsample(TRAIN, name, 0.3, seed, floor=LOW))
        assert (np.abs(kept - 0.3 * counts) < 1.2).all()  # the bound of the keys is near 0.3
        total += kept
    # Up or down without bias: the deviation of a mean of 200 roundings is at most 0.5 / 14.
    assert (np.abs(total / 200 - 0.3 * counts) < 5 * 0.5 / np.sqrt(200)).all()


def test_temporal_keeps_the_latest():
    train = rows([1] * 5 + [2] * 5, list(range(10)), times=[3, 1, 5, 4, 2, 1, 2, 3, 4, 5])
    sample = subsample(train, "Temporal", 0.4, floor=LOW)
    times = sample.train.times
    for user in (0, 1):
        kept = times[sample.train.users == user]
        assert set(kept) == set(range(6 - len(kept), 6))


def test_temporal_draws_rows_of_one_time():
    train = rows([1] * 40, list(range(40)), times=[0] * 40)
    one, other = (subsample(train, "Temporal", 0.5, seed, floor=LOW).rows for seed in (0, 1))
    assert 8 <= len(np.intersect1d(one, other)) <= 15 or not np.array_equal(one, other)


def test_temporal_needs_times():
    with pytest.raises(DataError, match=r"Temporal keeps the latest rows, .* no time column"):
        subsample(rows([1, 2], [1, 2]), "Temporal", 0.5)
    with pytest.raises(DataError, match="1 of 2 rows have no time"):
        subsample(rows([1, 2], [1, 2], times=[NO_TIME, 3]), "Temporal", 0.5)


@pytest.mark.parametrize("name", ["Stratified", "Temporal"])
@pytest.mark.parametrize(
    ("n", "keep", "left"), [(7, 0.4, 2), (1, 0.4, 0), (1, 0.8, 0), (10, 0.1, 1)]
)
def test_the_published_rule_removes_the_ceiling(name, n, keep, left):
    """Of 7 rows ceil(0.6 * 7) = 5 go; a single one always goes. The other user is there to stay."""
    train = rows([1] * n + [2] * 100, list(range(n)) + list(range(100)), list(range(n + 100)))
    kept = kept_by_user(train, subsample(train, name, keep, size="faithful", floor=LOW))
    assert kept.tolist() == [left, round(100 * keep)]


def test_temporal_is_as_published_the_latest():
    train = rows([1] * 7, list(range(7)), times=[5, 6, 0, 1, 2, 3, 4])
    sample = subsample(train, "Temporal", 0.4, size="faithful", floor=LOW)
    assert sorted(sample.train.times) == [5, 6]


@pytest.mark.parametrize("name", ["RandomUsers", "HeadUsers"])
@pytest.mark.parametrize("keep", [0.8, 0.5, 0.3])
def test_users_go_whole_as_published(name, keep):
    """Removed rows in [q |T|, q |T| + max n_u)."""
    sample = subsample(TRAIN, name, keep, size="faithful", floor=LOW)
    gone, asked = len(TRAIN) - len(sample.rows), (1 - keep) * len(TRAIN)
    assert asked <= gone < asked + TRAIN.user_counts.max()
    kept = kept_by_user(TRAIN, sample)
    assert ((kept == 0) | (kept == TRAIN.user_counts)).all()


@pytest.mark.parametrize(("name", "side"), [("HeadUsers", "user"), ("HeadItems", "item")])
def test_heads_are_the_most_active(name, side):
    counts = getattr(TRAIN, f"{side}_counts")
    sample = subsample(TRAIN, name, 0.5, size="whole", floor=LOW)
    kept = np.bincount(getattr(TRAIN, f"{side}s")[sample.rows], minlength=len(counts)) > 0
    assert counts[kept].min() >= counts[~kept].max()


def test_random_users_are_the_first_by_hash():
    """Ours by hand: users in order of their hashes until the rows are met."""
    seed = derive(derive(5, "subsample"), "RandomUsers", "users")
    order = np.argsort(hash_elements(seed, TRAIN.user_vocab.hashes))
    sample = subsample(TRAIN, "RandomUsers", 0.4, 5, floor=LOW)
    kept, left = kept_by_user(TRAIN, sample), 240
    for user in order:
        assert kept[user] == min(TRAIN.user_counts[user], left)
        left -= kept[user]


def test_more_users_change_few_draws():
    """A user's draw is its own: users that join push out no more than they bring."""
    some = TRAIN.take(TRAIN.users < 40)
    draws = [
        subsample(one, "RandomUsers", 0.5, 1, size="whole", floor=LOW) for one in (some, TRAIN)
    ]
    few, more = (set(one.train.user_ids) for one in draws)
    assert len(few & more) >= min(len(few), len({u for u in more if u in set(some.user_ids)})) - 1


def test_whole_units_by_hand():
    keys = np.array([0, 0, 0, 1, 2, 2, 2, 2])
    for size, fewer, nearest in ((3, 3, 3), (2, 0, 3), (1, 0, 3), (5, 4, 4), (7, 4, 8), (8, 8, 8)):
        assert whole_units(keys, size).sum() == fewer
        assert whole_units(keys, size, nearest=True).sum() == nearest


def test_fractions_are_decimals():
    assert as_fraction(0.1) == Fraction(1, 10)


def test_chunks_and_threads_change_no_draw(monkeypatch):
    draws = row_draws(TRAIN, 7, "a")
    places = places_within_users(TRAIN, draws, TRAIN.times)
    monkeypatch.setattr("fullrank.subsample._draws._ROWS", 7)
    monkeypatch.setattr("fullrank.subsample._draws._RAGGED", 7)
    monkeypatch.setenv("FULLRANK_THREADS", "3")
    assert np.array_equal(row_draws(TRAIN, 7, "a"), draws)
    assert np.array_equal(places_within_users(TRAIN, draws, TRAIN.times), places)
