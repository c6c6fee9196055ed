"""Users that models were not fitted on: roles, fold-in, refit."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SpecError, SplitError
from fullrank.split import UnseenUsers
from fullrank.testing.split import interactions, tied_world


def test_roles_are_of_whole_users():
    data = interactions(**tied_world())
    split = UnseenUsers(test=6, valid=4, fold_in=0.5).split(data, rng=3)
    users = {name: set(split.rows(name).users) for name in split.counts}
    assert len(users["test"]) == len(users["test_history"]) == 6
    assert len(users["valid"]) == 4
    assert users["test"] == users["test_history"]
    assert users["valid"] == users["valid_history"]
    assert not users["train"] & (users["test"] | users["valid"])
    shown = np.bincount(split.rows("test_history").users, minlength=data.n_users)
    asked = np.bincount(split.test.users, minlength=data.n_users)
    held = shown + asked > 0
    expected = np.clip((data.user_counts[held] + 1) // 2, 1, data.user_counts[held] - 1)
    assert shown[held].tolist() == expected.tolist()


def test_the_refit_takes_all_rows_of_validation_users_and_none_of_test_users():
    data = interactions(**tied_world())
    split = UnseenUsers(test=0.2, valid=0.2).split(data)
    refit = split.fit_rows("train+valid")
    n = split.counts
    assert len(refit) == n["train"] + n["valid"] + n["valid_history"]
    assert not set(refit.users) & set(split.test.users)
    queries = split.queries("test")
    assert int(queries.history_counts.sum()) == n["test_history"]
    tuning = split.queries("valid")
    assert int(tuning.history_counts.sum()) == n["valid_history"]
    card = split.card()["test"]["fit"]["train+valid"]
    assert card["users_not_fitted"] == len(queries)
    assert card["cold_users"] == card["rows_of_cold_users"] == 0


def test_by_time_shows_the_earliest_rows():
    data = interactions(**tied_world())
    split = UnseenUsers(test=0.3, valid=0, by="time").split(data)
    shown, asked = split.rows("test_history"), split.test
    for user in np.unique(asked.users):
        last = shown.times[shown.users == user].max()
        assert last <= asked.times[asked.users == user].min()
    tied = sum(
        shown.times[shown.users == u].max() == asked.times[asked.users == u].min()
        for u in np.unique(asked.users)
    )
    assert split.ties_at_cut == {"test": tied}


def test_users_with_one_row_train():
    data = interactions(["a", "b", "b", "c", "c", "d", "d"], list("wxyxyzw"))
    for seed in range(20):
        split = UnseenUsers(test=1, valid=1).split(data, rng=seed)
        assert "a" in set(split.train.user_ids)


def test_what_is_refused():
    data = interactions(["a", "b", "b", "c", "c"], list("wxyxy"))
    with pytest.raises(SplitError, match="3 test and 0 validation users leave none of 3"):
        UnseenUsers(test=3, valid=0).split(data)
    with pytest.raises(SplitError, match="part is empty"):
        UnseenUsers(test=0.1, valid=0).split(data)
    with pytest.raises(SpecError, match="test must be a whole number >= 1, got 0"):
        UnseenUsers(test=0)
    with pytest.raises(SpecError, match="by must be one of random, time, got 'date'"):
        UnseenUsers(by="date")
