"""Filters other than the core: hand-worked rows, row order, recipes, refusals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import NO_TIME
from fullrank.data.filters import (
    Activity,
    Binarise,
    Core,
    DropMissingTime,
    Duplicates,
    Event,
    NFilter,
    Users,
    Values,
    Window,
    apply_all,
    kept_rows,
)
from fullrank.testing.split import interactions, tied_world

LOG = {
    "users": ["a", "a", "a", "b", "b", "c"],
    "items": ["x", "x", "y", "x", "z", "z"],
    "values": [3.0, 5.0, 4.0, 1.0, 4.0, 2.0],
    "times": [10, 20, 20, 30, 40, 50],
    "kind": ["view", "buy", "view", "view", "buy", "view"],
}
ALL = [
    Activity(min_user=2),
    Binarise(at=3),
    Core(2, 2),
    DropMissingTime(),
    Duplicates("last"),
    Event(column="split", keep=["train"]),
    NFilter(3, 3),
    Users(n=7),
    Values(min=2, max=4),
    Window(start=1_002_000_000, end="2001-12-01"),
]


def kept(filter_, rng=0, **changes):
    data = filter_.apply(interactions(**{**LOG, **changes}), rng)
    return [f"{u}{i}{v:g}" for u, i, v in zip(data.user_ids, data.item_ids, data.values)]


def as_rows(data):
    return Counter(zip(data.user_ids, data.item_ids, data.values.tolist(), data.times.tolist()))


@pytest.mark.parametrize("filter_", ALL, ids=str)
def test_row_order_does_not_matter(filter_):
    columns = tied_world()
    order = np.random.default_rng(1).permutation(len(columns["users"]))
    shuffled = {name: column[order] for name, column in columns.items()}
    one, other = (filter_.apply(interactions(**c), rng=4) for c in (columns, shuffled))
    assert as_rows(one) == as_rows(other)
    assert one.fingerprint == other.fingerprint
    step = one.recipe[-1]
    assert step["filter"] == filter_.name
    assert (step["rows_before"], step["rows_after"]) == (400, len(one))
    assert 0 < len(one) <= 400


def test_every_registered_filter_is_in_the_list_above():
    from fullrank.data import filters

    assert sorted({type(f).__name__ for f in ALL}) == list(filters.REGISTRY)


def test_binarise_keeps_values_at_and_above():
    assert kept(Binarise(at=4)) == ["ax5", "ay4", "bz4"]
    with pytest.raises(DataError, match="no value reaches 6, the highest of 6 is 5"):
        kept(Binarise(at=6))
    with pytest.raises(DataError, match="these data have none"):
        Binarise(at=4).apply(interactions(["a"], ["x"]))
    with pytest.raises(DataError, match="needs numbers"):
        kept(Binarise(at=4, column="kind"))


def test_values_are_inclusive_at_both_ends():
    assert kept(Values(min=2, max=4)) == ["ax3", "ay4", "bz4", "cz2"]
    with pytest.raises(SpecError, match="min or max"):
        Values()


@pytest.mark.parametrize(
    ("keep", "expected"), [("first", "ax3"), ("last", "ax5"), ("max", "ax5"), ("min", "ax3")]
)
def test_duplicates_keep_the_row_that_was_asked_for(keep, expected):
    assert kept(Duplicates(keep)) == sorted(
        [expected, "ay4", "bx1", "bz4", "cz2"], key=lambda r: r[0]
    )


def test_duplicates_by_value_differ_from_those_by_time():
    falling = [5.0, 3.0, 4.0, 1.0, 4.0, 2.0]
    assert "ax3" in kept(Duplicates("last"), values=falling)
    assert "ax5" in kept(Duplicates("first"), values=falling)
    assert "ax5" in kept(Duplicates("max"), values=falling)


def test_duplicates_of_one_time_follow_the_documented_order():
    tied = [10, 10, 20, 30, 40, 50]
    assert "ax3" in kept(Duplicates("first"), times=tied)
    assert "ax5" in kept(Duplicates("last"), times=tied)


def test_duplicates_without_times_never_follow_the_file():
    with pytest.raises(DataError, match="user 'a' and item 'x' have rows that differ"):
        kept(Duplicates("last"), times=None)
    alike = interactions(["a", "a", "b"], ["x", "x", "x"])
    assert len(Duplicates("first").apply(alike)) == 2
    with pytest.raises(SpecError, match="one of first, last, max, min, got 'newest'"):
        Duplicates("newest")


def test_a_window_is_half_open():
    assert kept(Window(start=20, end=40)) == ["ax5", "ay4", "bx1"]
    assert kept(Window(end="1970-01-01T00:00:20")) == ["ax3"]
    assert kept(Window(start="1970-01-01T01:00:40+01:00")) == ["bz4", "cz2"]
    early, late = Window(end=30), Window(start=30)
    data = interactions(**LOG)
    assert np.array_equal(early.mask(data), ~late.mask(data))


def test_a_window_needs_times_and_dates():
    with pytest.raises(DataError, match="1 of 6 rows have none; drop them"):
        kept(Window(start=1), times=[NO_TIME, 20, 20, 30, 40, 50])
    with pytest.raises(SpecError, match=r"'31\.12\.2001'"):
        Window(start="31.12.2001")
    with pytest.raises(SpecError, match="places in a sequence"):
        kept(Window(start="2001-01-01"), time_unit="order")


def test_activity_counts_rows_on_both_sides_at_once():
    assert kept(Activity(min_user=2, max_user=2)) == ["bx1", "bz4"]
    assert kept(Activity(min_item=3)) == ["ax3", "ax5", "bx1"]
    assert kept(Activity(max_item=2)) == ["ay4", "bz4", "cz2"]
    with pytest.raises(SpecError, match="min_user must be a whole number >= 0, got -1"):
        Activity(min_user=-1)


def test_drop_missing_time_and_event():
    assert len(kept(DropMissingTime(), times=[NO_TIME, NO_TIME, 20, 30, 40, 50])) == 4
    with pytest.raises(DataError, match="no time column"):
        kept(DropMissingTime(), times=None)
    assert kept(Event("kind", keep="buy")) == ["ax5", "bz4"]
    with pytest.raises(DataError, match="never holds 'by'; did you mean 'buy'"):
        kept(Event("kind", keep=["by"]))
    with pytest.raises(SpecError, match="no column 'knd'"):
        kept(Event("knd", keep=["buy"]))


@given(n=st.integers(1, 24), more=st.integers(0, 5), seed=st.integers(0, 2**40))
def test_samples_of_users_are_nested_and_whole(n, more, seed):
    data = interactions(**tied_world())
    n_users = data.n_users
    small = Users(n=min(n, n_users)).mask(data, seed)
    large = Users(n=min(n + more, n_users)).mask(data, seed)
    assert not np.any(small & ~large)
    assert len(np.unique(data.users[small])) == min(n, n_users)
    assert not np.intersect1d(data.users[small], data.users[~small]).size


def test_samples_of_users_by_share():
    data = interactions(**tied_world())
    assert len(np.unique(Users(share=0.5).apply(data).users)) == (data.n_users + 1) // 2
    picked = [frozenset(Users(n=5).apply(data, rng).user_ids) for rng in range(5)]
    assert len(set(picked)) == 5
    assert Users(n=5).apply(data, 3).recipe[-1]["seed"] == 3
    with pytest.raises(DataError, match="only 25 users"):
        Users(n=26).apply(data)
    with pytest.raises(SpecError, match="either n or share"):
        Users()


def test_users_are_drawn_evenly():
    data = interactions([f"u{i}" for i in range(10)], ["x"] * 10)
    drawn = Counter(u for seed in range(2_000) for u in Users(n=3).apply(data, seed).user_ids)
    # 2,000 draws at 3/10: standard deviation 20.5, so 5 of them is 102
    assert all(abs(drawn[f"u{i}"] - 600) < 102 for i in range(10))


def test_filters_follow_each_other():
    data = interactions(**LOG)
    steps = [Binarise(at=2), Duplicates("max"), NFilter(users=2, items=1)]
    out = apply_all(data, steps, compact=True)
    assert [step["filter"] for step in out.recipe] == ["binarise", "duplicates", "nfilter"]
    assert sorted(zip(out.user_ids, out.item_ids)) == [("a", "x"), ("a", "y")]
    assert (out.n_users, out.n_items) == (1, 2)
    loose = apply_all(data, steps)
    assert (loose.n_users, loose.n_items) == (3, 3)
    rows = kept_rows(data, steps)
    assert data.take(rows).fingerprint == out.fingerprint
    assert apply_all(data, [], compact=True) is data
