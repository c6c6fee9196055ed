"""The Split itself: card, proof, filters of training rows, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fullrank.core.errors import DataError, SplitError
from fullrank.data.filters import Binarise, Core, NFilter, Users
from fullrank.split import (
    GlobalTime,
    LeaveLast,
    RandomRows,
    Split,
    UnseenUsers,
    with_train_filter,
)
from fullrank.testing.split import interactions, tied_world


def small():
    """Train a-x, a-y, b-x; valid b-z, c-x; test a-x (a repeat), b-w, d-x, d-x (twice), c-y."""
    split = interactions(
        list("aabbcabddc"),
        list("xyxzxxwxxy"),
        times=[1, 2, 3, 4, 5, 6, 6, 8, 9, 10],
        values=[5, 1, 5, 5, 5, 5, 5, 5, 5, 5],
    )
    part = np.select([split.times <= 3, split.times <= 5], [0, 1], 2).astype(np.int8)
    return Split(split, part, {"strategy": "by hand"})


def test_card_by_hand():
    card = small().card()
    assert {name: part["rows"] for name, part in card["parts"].items()} == {
        "train": 3,
        "valid": 2,
        "test": 5,
    }
    assert card["parts"]["train"] == {
        "rows": 3,
        "users": 2,
        "items": 2,
        "first": "1970-01-01T00:00:01Z",
        "last": "1970-01-01T00:00:03Z",
    }
    assert card["test"]["targets"] == {
        "queries": 4,
        "without_targets": 1,
        "total": 3,
        "mean": 0.75,
        "median": 1.0,
        "max": 1,
        "repeated": 1,
        "duplicates": 1,
    }
    on_train, on_both = card["test"]["fit"]["train"], card["test"]["fit"]["train+valid"]
    counts = ("cold_users", "cold_items", "rows_of_cold_users", "rows_of_cold_items")
    assert [on_train[name] for name in counts] == [2, 1, 3, 1]
    assert [on_both[name] for name in counts] == [1, 1, 2, 1]
    assert card["valid"]["fit"]["train"]["cold_items"] == 1
    assert on_both["leaks"]["global_future_rows"] == 0


def test_leaks_by_hand():
    data = interactions(list("aaabbb"), list("xyzxyz"), times=[1, 2, 3, 4, 5, 6])
    split = Split(data, np.array([0, 2, 0, 0, 0, 2], np.int8), {})
    leaks = split.card()["test"]["fit"]["train"]["leaks"]
    # test rows at 2 and 6; fitted rows at 1, 3, 4, 5
    assert leaks == {
        "own_future_rows": 1,
        "own_future": 0.5,
        "global_future_rows": 3,
        "global_future": 0.75,
        "mean_future": 0.375,
    }
    tied = interactions(list("ab"), list("xy"), times=[5, 5])
    at_once = Split(tied, np.array([0, 2], np.int8), {}).card()["test"]["fit"]["train"]["leaks"]
    assert set(at_once.values()) == {0}
    bare = Split(interactions(list("ab"), list("xy")), np.array([0, 2], np.int8), {})
    assert bare.card()["test"]["fit"]["train"]["leaks"] is None


def test_leave_last_leaks_across_users_and_a_global_cut_does_not():
    data = interactions(**tied_world())
    last = LeaveLast().split(data).card()["test"]["fit"]["train+valid"]["leaks"]
    assert last["own_future_rows"] == 0
    assert last["mean_future"] > 0
    cut = GlobalTime().split(data).card()["test"]["fit"]["train+valid"]["leaks"]
    assert set(cut.values()) == {0}
    random = RandomRows().split(data).card()["test"]["fit"]["train+valid"]["leaks"]
    assert random["own_future"] > 0.5


def test_repeats_are_dropped_or_kept_as_the_strategy_says():
    data = interactions(**tied_world())
    drop = GlobalTime().split(data)
    keep = GlobalTime(repeats="keep").split(data)
    assert drop.card()["test"]["targets"]["repeated"] > 0
    n = drop.queries("test").target_counts.sum() + drop.queries("test").counts["repeated_targets"]
    assert keep.queries("test").target_counts.sum() == n
    assert drop.fingerprint != keep.fingerprint
    with pytest.raises(SplitError, match="repeats must be 'drop' or 'keep'"):
        GlobalTime(repeats="yes").split(data)


def test_broken_splits_are_found_out():
    split = small()
    with pytest.raises(SplitError, match=r"unknown codes \[9\]"):
        replace(split, part=np.where(split.part == 1, 9, split.part).astype(np.int8)).verify()
    with pytest.raises(SplitError, match=r"5 rows of test are fitted with fit='train.valid'"):
        replace(split, refit=np.ones(10, bool)).verify()
    part = split.part.copy()
    part[0] = 4
    with pytest.raises(SplitError, match="1 users have fold-in rows and are fitted"):
        replace(split, part=part).verify()
    data = interactions(list("abc"), list("xyz"))
    with pytest.raises(SplitError, match=r"fold-in rows but no targets .first: 'c'"):
        Split(data, np.array([0, 2, 4], np.int8), {}).verify()
    with pytest.raises(SplitError, match=r"part must be int8 \[3\], got int64"):
        Split(data, np.array([0, 2, 4]), {})
    with pytest.raises(SplitError, match="no part 'tset'; did you mean 'test'"):
        split.rows("tset")
    with pytest.raises(SplitError, match="fit must be 'train' or"):
        split.fit_rows("all")
    with pytest.raises(SplitError, match="can't be both fitted and evaluated"):
        split.queries("valid", fit="train+valid")


def test_training_filters_touch_training_rows_only():
    split = small()
    out = with_train_filter(split, [Binarise(at=2)])
    assert np.array_equal(out.part == 2, split.part == 2)
    assert np.array_equal(out.part == 1, split.part == 1)
    assert out.counts["left_out"] == 1
    assert list(out.train.item_ids) == ["x", "x"]
    assert out.recipe["train_filters"] == [{"filter": "binarise", "at": 2, "column": "values"}]
    assert "leave 2 of 3" in out.notes[0]
    out.verify()
    assert out.fingerprint != split.fingerprint
    assert with_train_filter(split, []) is split


def test_the_refit_filters_train_and_valid_afresh():
    split = small()
    out = with_train_filter(split, [NFilter(users=2, items=1)])
    # train: a has x, y; b only x. With valid: b has x, z; c only x.
    assert list(zip(out.train.user_ids, out.train.item_ids)) == [("a", "x"), ("a", "y")]
    refit = out.fit_rows("train+valid")
    assert sorted(zip(refit.user_ids, refit.item_ids)) == [
        ("a", "x"),
        ("a", "y"),
        ("b", "x"),
        ("b", "z"),
    ]
    history = out.queries("test").history_counts.tolist()
    assert history == [2, 2, 0, 0]
    assert out.queries("valid").history_counts.tolist() == [0, 0]
    twice = with_train_filter(out, [Binarise(at=2)])
    assert [step["filter"] for step in twice.recipe["train_filters"]] == ["nfilter", "binarise"]
    assert len(twice.fit_rows("train+valid")) == 3


def test_training_filters_on_unseen_users_and_by_seed():
    split = UnseenUsers(test=0.2, valid=0.2).split(interactions(**tied_world()))
    out = with_train_filter(split, [Core(4, 2)])
    out.verify()
    assert out.counts["test_history"] == split.counts["test_history"]
    halves = {with_train_filter(split, [Users(share=0.5)], rng=s).fingerprint for s in range(4)}
    assert len(halves) == 4
    with pytest.raises(DataError, match="leaves none of"):
        with_train_filter(split, [Core(500, 500)])


def test_global_time_on_movielens(real_data):
    """What a cut by time does to ML-1M: half of the validation users are new, and ties abound."""
    import polars as pl

    frame = pl.read_parquet(real_data / "ml-1m-pos4" / "interactions.parquet")
    data = interactions(
        frame["user_id"].to_numpy(), frame["item_id"].to_numpy(), times=frame["timestamp"]
    )
    split = GlobalTime(test=0.1, valid=0.1).split(data)
    card = split.card()
    rows = {name: part["rows"] for name, part in card["parts"].items()}
    assert rows == {"train": 460_224, "valid": 57_529, "test": 57_528}
    users = {name: part["users"] for name, part in card["parts"].items()}
    assert (users["valid"], users["test"]) == (1_088, 1_220)
    valid, test = card["valid"]["fit"], card["test"]["fit"]
    assert valid["train"]["cold_users"] == 597  # 55 % of 1,088
    assert test["train"]["cold_users"] == 231  # 19 % of 1,220
    assert test["train+valid"]["cold_users"] == 63  # 5 %
    assert split.ties_at_cut == {"valid": 2, "test": 0}
    _, sizes = np.unique(data.times, return_counts=True)
    assert sizes[sizes > 1].sum() / len(data) == pytest.approx(0.6746, abs=1e-4)
    last = LeaveLast().split(data)
    assert last.ties_at_cut == {"valid": 1_903, "test": 1_903}
