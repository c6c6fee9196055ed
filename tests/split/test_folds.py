"""Several splits of one data set: windows along the timeline, and random folds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import SpecError, SplitError
from fullrank.split import ExpandingWindow, KFold, SlidingWindow
from fullrank.testing.split import interactions, tied_world


def daily(n=100):
    return interactions(np.arange(n) % 7, np.arange(n) % 11, times=np.arange(n) * 86_400)


def days(split, part):
    return sorted((split.rows(part).times // 86_400).tolist())


def test_expanding_windows_by_hand():
    splits = ExpandingWindow(folds=2, test=0.1, valid=0.2).splits(daily())
    assert [split.recipe["fold"] for split in splits] == [0, 1]
    assert days(splits[0], "train") == list(range(60))
    assert days(splits[0], "valid") == list(range(60, 80))
    assert days(splits[0], "test") == list(range(80, 90))
    assert days(splits[0], "left_out") == list(range(90, 100))
    assert days(splits[1], "train") == list(range(70))
    assert days(splits[1], "test") == list(range(90, 100))
    with pytest.raises(SplitError, match="gives 2 folds here; use splits"):
        ExpandingWindow(folds=2).split(daily())


def test_sliding_windows_by_hand():
    by_days = SlidingWindow(folds=2, train="20d", test="1w", valid="72h").splits(daily())
    assert days(by_days[1], "test") == list(range(93, 100))
    assert days(by_days[1], "valid") == list(range(90, 93))
    assert days(by_days[1], "train") == list(range(70, 90))
    assert days(by_days[0], "train") == list(range(63, 83))
    by_share = SlidingWindow(folds=2, train=0.2, test=0.07, valid=0.03).splits(daily())
    assert [s.part.tolist() for s in by_share] == [s.part.tolist() for s in by_days]


@given(
    times=st.lists(st.integers(0, 40), min_size=20, max_size=80), valid=st.sampled_from([0, 0.1])
)
def test_windows_follow_each_other_whatever_the_ties(times, valid):
    data = interactions(range(len(times)), [0] * len(times), times=times)
    try:
        splits = SlidingWindow(folds=3, train=0.3, test=0.1, valid=valid).splits(data)
    except SplitError:  # a tie swallowed a window
        assert len(set(times)) < len(times)
        return
    tested = np.sum([split.part == 2 for split in splits], axis=0)
    last = splits[0].test.times.min()
    assert tested.tolist() == [int(t >= last) for t in times]
    for split in splits:
        held = split.valid if valid else split.test
        assert split.train.times.max() < held.times.min()
        assert held.times.max() <= split.test.times.max()


def test_windows_that_do_not_fit():
    with pytest.raises(SplitError, match=r"5 folds with test = 0\.2, valid = 0\.1 reach back"):
        ExpandingWindow(folds=5, test=0.2, valid=0.1).splits(daily())
    with pytest.raises(SplitError, match="train = '90d' reach back beyond the first of 100 rows"):
        SlidingWindow(folds=2, train="90d", test="7d").splits(daily())
    with pytest.raises(SpecError, match="lengths as shares or all as durations"):
        SlidingWindow(train=0.3, test="7d")
    with pytest.raises(SpecError, match="a share or a duration such as '7d'"):
        ExpandingWindow(test="7 days")


@pytest.mark.parametrize("per_user", [False, True])
@pytest.mark.parametrize("k", [2, 5])
def test_every_row_tests_once(k, per_user):
    data = interactions(**tied_world())
    splits = KFold(k=k, per_user=per_user, valid=0.1).splits(data, rng=2)
    assert np.all(np.sum([split.part == 2 for split in splits], axis=0) == 1)
    assert all(split.counts["valid"] == 40 for split in splits)
    sizes = [split.counts["test"] for split in splits]
    if not per_user:
        assert max(sizes) - min(sizes) <= 1
    else:
        by_user = np.array([np.bincount(s.test.users, minlength=data.n_users) for s in splits])
        assert np.all(by_user.max(axis=0) - by_user.min(axis=0) <= 1)


def test_folds_that_cannot_be():
    with pytest.raises(SplitError, match="2 rows don't fill 5 folds"):
        KFold().splits(interactions(["a", "b"], ["x", "y"]))
    with pytest.raises(SpecError, match="leave no row to train on"):
        KFold(k=2, valid=0.5)
    with pytest.raises(SpecError, match="whole number >= 2"):
        KFold(k=1)
