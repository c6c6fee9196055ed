"""Draws hang on the seed and on outside ids, never on codes, on other rows, or on their order."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.data.filters import Users
from fullrank.split import KFold
from fullrank.split._draws import occurrences, row_draws, user_draws
from fullrank.testing.split import interactions, tied_world


def test_occurrences_count_earlier_rows_of_the_pair():
    data = interactions(list("aabab"), list("xyxxx"), times=[3, 2, 1, 1, 1])
    # canonical order: a-x at 1, a-y at 2, a-x at 3, b-x at 1 twice
    assert occurrences(data).tolist() == [0, 0, 1, 0, 1]
    assert occurrences(data.take(np.zeros(5, bool))).tolist() == []


def test_identical_rows_have_draws_of_their_own():
    data = interactions(["a"] * 50, ["x"] * 50)
    assert len(np.unique(row_draws(data, 1))) == 50


def test_a_draw_does_not_change_when_other_users_leave():
    data = interactions(**tied_world())
    some = np.isin(data.users, np.arange(5, 15))
    fewer = data.take(some).compact()
    assert np.array_equal(row_draws(fewer, 7, "s"), row_draws(data, 7, "s")[some])
    assert np.array_equal(user_draws(fewer, 7), user_draws(data, 7)[5:15])
    assert not np.array_equal(row_draws(data, 7, "s"), row_draws(data, 7, "t"))


def test_a_sample_of_users_outlives_those_who_were_not_in_it():
    data = interactions(**tied_world())
    chosen = np.unique(Users(n=6).apply(data).user_ids)
    others = np.setdiff1d(data.user_vocab.ids, chosen)
    fewer = data.take(~np.isin(data.user_ids, others[::2])).compact()
    assert np.array_equal(np.unique(Users(n=6).apply(fewer).user_ids), chosen)


def test_users_with_one_row_are_spread_over_the_folds():
    data = interactions(np.arange(3_000), [0] * 3_000)
    sizes = [s.counts["test"] for s in KFold(k=3, per_user=True).splits(data)]
    # 3,000 users at 1/3: standard deviation 25.8
    assert sizes == pytest.approx([1_000] * 3, abs=5 * 25.8)
