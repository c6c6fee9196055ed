"""The last or random rows of each user: plain references, ties, short users."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError, SpecError, SplitError
from fullrank.split import LeaveLast, LeaveRandom, RandomRows, UserTime
from fullrank.testing.split import interactions, tied_world

logs = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=50
)


def made(log):
    users, items, times = zip(*log)
    return interactions(users, items, times=times)


def slow_tail(log, n_valid, n_test, min_train):
    """By user, how many rows of each time are in each part; which of a tie is not said."""
    out, tied = Counter(), {1: 0, 2: 0}
    for user in {u for u, _, _ in log}:
        times = sorted(t for u, _, t in log if u == user)
        valid, test = n_valid(len(times)), n_test(len(times))
        if len(times) - valid - test < min_train:
            valid = test = 0
        codes = [0] * (len(times) - valid - test) + [1] * valid + [2] * test
        for code in (1, 2):
            if code in codes and codes[0] != code:
                first = codes.index(code)
                tied[code] += times[first] == times[first - 1]
        out.update((user, time, code) for time, code in zip(times, codes))
    return out, tied


def check_against_reference(split, expected, tied):
    data = split.data
    found = Counter(zip(data.user_ids.tolist(), data.times.tolist(), split.part.tolist()))
    assert found == expected
    for name, code in (("valid", 1), ("test", 2)):
        assert split.ties_at_cut.get(name, 0) == tied[code]


@given(log=logs, n=st.integers(1, 3), valid=st.integers(0, 2), min_train=st.integers(0, 2))
def test_leave_last_equals_the_slow_reference(log, n, valid, min_train):
    expected, tied = slow_tail(log, lambda _: valid, lambda _: n, min_train)
    strategy = LeaveLast(n=n, valid=valid, min_train=min_train)
    codes = {code for _, _, code in expected}
    if not {0, 2} <= codes or (valid and 1 not in codes):
        with pytest.raises(SplitError, match="part is empty"):
            strategy.split(made(log))
        return
    check_against_reference(strategy.split(made(log)), expected, tied)


@given(log=logs, test=st.sampled_from([0.2, 0.5]), valid=st.sampled_from([0.0, 0.1, 0.3]))
def test_user_time_equals_the_slow_reference(log, test, valid):
    share = lambda s: lambda m: int(s * m + 0.5 + 1e-9)
    expected, tied = slow_tail(log, share(valid), share(test), 1)
    strategy = UserTime(test=test, valid=valid)
    codes = {code for _, _, code in expected}
    if not {0, 2} <= codes or (valid and 1 not in codes):
        with pytest.raises(SplitError, match="part is empty"):
            strategy.split(made(log))
        return
    check_against_reference(strategy.split(made(log)), expected, tied)


def test_hand_worked_leave_last():
    data = interactions(list("aaaabbbcc"), list("wxyzwxywx"), times=[4, 1, 3, 2, 1, 2, 3, 1, 2])
    split = LeaveLast().split(data)
    by_part = {
        name: sorted(zip(split.rows(name).user_ids, split.rows(name).item_ids))
        for name in ("train", "valid", "test")
    }
    assert by_part["test"] == [("a", "w"), ("b", "y")]
    assert by_part["valid"] == [("a", "y"), ("b", "x")]
    assert ("c", "w") in by_part["train"]
    assert ("c", "x") in by_part["train"]
    assert "1 users have too few rows" in split.notes[0]
    assert "seed" not in split.recipe


def test_a_tie_is_drawn_and_no_item_is_favoured():
    n = 4_000
    users = np.repeat(np.arange(n), 3)
    items = np.tile([7, 8, 9], n)
    data = interactions(users, items, times=np.zeros(3 * n, int))
    split = LeaveLast(n=1, valid=0).split(data, rng=1)
    assert split.ties_at_cut == {"test": n}
    assert split.recipe["seed"] == 1
    assert "4,000 users have rows of one time on both sides of the test cut" in split.notes[0]
    share = np.bincount(split.test.items) / n
    # 4,000 draws at 1/3: standard deviation 0.0075
    assert np.all(np.abs(share - 1 / 3) < 5 * 0.0075)
    other = LeaveLast(n=1, valid=0).split(data, rng=2)
    assert split.fingerprint != other.fingerprint


def test_random_rows_are_drawn_evenly_and_exactly():
    data = interactions(**tied_world())
    hits = np.zeros(len(data))
    for seed in range(500):
        split = RandomRows(test=0.2, valid=0.1).split(data, rng=seed)
        assert split.counts["test"] == 80
        assert split.counts["valid"] == 40
        hits += split.part == 2
    # 500 draws at 0.2: standard deviation 8.9; 400 rows
    assert np.all(np.abs(hits - 100) < 5 * 8.95)
    per_user = RandomRows(test=0.5, valid=0, per_user=True).split(data)
    tested = np.bincount(per_user.test.users, minlength=data.n_users)
    assert tested.tolist() == ((data.user_counts + 1) // 2).tolist()


def test_identical_rows_are_drawn_one_by_one():
    data = interactions(["a"] * 100, ["x"] * 100, times=[1] * 100)
    split = RandomRows(test=0.3, valid=0).split(data)
    assert split.counts["test"] == 30


def test_leave_random_holds_out_as_many_as_asked():
    data = interactions(**tied_world())
    split = LeaveRandom(n=2, valid=1).split(data)
    able = data.user_counts >= 4
    tested = np.bincount(split.test.users, minlength=data.n_users)
    valid = np.bincount(split.valid.users, minlength=data.n_users)
    assert tested.tolist() == np.where(able, 2, 0).tolist()
    assert valid.tolist() == np.where(able, 1, 0).tolist()
    plain = interactions(["a", "a", "b"], ["x", "y", "z"])
    assert LeaveRandom(valid=0).split(plain).counts["test"] == 1


def test_a_larger_validation_part_leaves_the_test_part_alone():
    data = interactions(**tied_world())
    for make in (
        lambda v: LeaveRandom(n=1, valid=v, min_train=0),
        lambda v: RandomRows(0.1, v / 9),
    ):
        parts = [make(v).split(data, rng=3).part_fingerprints["test"] for v in (0, 1)]
        assert parts[0] == parts[1]


def test_what_is_refused():
    plain = interactions(["a", "a"], ["x", "y"])
    with pytest.raises(DataError, match="split LeaveLast needs a time for every row"):
        LeaveLast().split(plain)
    with pytest.raises(SpecError, match="n must be a whole number >= 1, got 0"):
        LeaveLast(n=0)
    with pytest.raises(SpecError, match="leave nothing to train on"):
        UserTime(test=0.5, valid=0.5)
    with pytest.raises(SplitError, match="test part is empty"):
        LeaveRandom().split(plain)


def test_places_in_a_sequence_are_times_enough_within_a_user():
    data = interactions(["a"] * 3 + ["b"] * 3, list("xyzxyz"), times=[0, 1, 2] * 2,
                        time_unit="order")  # fmt: skip
    split = LeaveLast().split(data)
    assert set(split.test.item_ids) == {"z"}
    assert set(split.card()["test"]["fit"]["train"]["leaks"]) == {"own_future_rows", "own_future"}
