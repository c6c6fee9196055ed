"""k-core: the largest part in which every user and item has enough distinct partners."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError
from fullrank.data.filters import Core, NFilter
from fullrank.testing.split import interactions

D09 = "u1-a u1-b u2-a u2-b u3-b u3-c u4-c u4-d u5-d"


def pairs_of(text):
    return [tuple(pair.split("-")) for pair in text.split()]


def made(pairs):
    return interactions([u for u, _ in pairs], [i for _, i in pairs])


def rows_of(data):
    return sorted(zip(data.user_ids.tolist(), data.item_ids.tolist()))


def slow_core(pairs, k_users, k_items):
    """Plain reference: drop whoever is short, until nobody is."""
    left = list(pairs)
    while True:
        users, items = {}, {}
        for u, i in set(left):
            users[u] = users.get(u, 0) + 1
            items[i] = items.get(i, 0) + 1
        kept = [(u, i) for u, i in left if users[u] >= k_users and items[i] >= k_items]
        if len(kept) == len(left):
            return sorted(kept)
        left = kept


def test_core_of_the_public_fault():
    data = Core(users=2, items=2).apply(made(pairs_of(D09)))
    assert rows_of(data) == pairs_of("u1-a u1-b u2-a u2-b")
    assert data.recipe[-1] == {
        "filter": "core",
        "users": 2,
        "items": 2,
        "rows_before": 9,
        "rows_after": 4,
    }


def test_a_repeated_row_makes_nobody_more_active():
    data = Core(users=2, items=2).apply(made(pairs_of(D09 + " u5-d")))
    assert rows_of(data) == pairs_of("u1-a u1-b u2-a u2-b")


def test_all_rows_of_a_kept_pair_stay():
    data = Core(users=2, items=2).apply(made(pairs_of(D09 + " u1-a")))
    assert rows_of(data) == pairs_of("u1-a u1-a u1-b u2-a u2-b")


def test_an_empty_core_is_an_error_with_figures():
    with pytest.raises(
        DataError, match=r"core\(users = 3, items = 3\) leaves none of 9 rows .5 users, 4 items"
    ):
        Core(users=3, items=3).apply(made(pairs_of(D09)))


def test_one_pass_of_the_n_filter_breaks_its_own_result():
    data = NFilter(users=2, items=2).apply(made(pairs_of(D09)))
    assert rows_of(data) == pairs_of("u1-a u1-b u2-a u2-b u3-b u3-c u4-c u4-d")
    assert data.item_counts[data.item_vocab.encode(["d"])[0]] == 1


@given(
    pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=80),
    k_users=st.integers(0, 4),
    k_items=st.integers(0, 4),
)
def test_core_equals_the_slow_reference(pairs, k_users, k_items):
    data = made(pairs)
    expected = slow_core(pairs, k_users, k_items)
    kept = data.take(Core(users=k_users, items=k_items).mask(data))
    assert rows_of(kept) == expected


@given(pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=60))
def test_core_is_a_fixed_point(pairs):
    data = made(pairs)
    once = data.take(Core(2, 2).mask(data))
    assert Core(2, 2).mask(once).all()


def test_a_long_chain_unravels_in_linear_time():
    # A path: each round takes one pair from its only open end, so rounds grow with the rows.
    n = 20_000
    users = np.repeat(np.arange(n), 2)[:-1]
    items = np.append(np.repeat(np.arange(1, n), 2), n)
    users = np.concatenate([users, [n, n, n + 1, n + 1]])
    items = np.concatenate([items, [n + 1, n + 2, n + 1, n + 2]])
    kept = Core(2, 2).apply(interactions(users, items))
    assert rows_of(kept) == [(n, n + 1), (n, n + 2), (n + 1, n + 1), (n + 1, n + 2)]


@pytest.mark.parametrize("name", ["ml-1m-pos4", "lastfm-2k"])
def test_views_of_published_studies(real_data, name):
    """The 5- and 10-filter views of Sun et al. 2020, table of data sets, to the row."""
    import polars as pl

    frame = pl.read_parquet(real_data / name / "interactions.parquet")
    data = interactions(frame["user_id"].to_numpy(), frame["item_id"].to_numpy())
    published = {
        ("ml-1m-pos4", 5): (574_376, 6_034, 3_125),
        ("ml-1m-pos4", 10): (571_549, 5_950, 2_811),
        ("lastfm-2k", 5): (71_411, 1_874, 2_828),
        ("lastfm-2k", 10): (62_984, 1_867, 1_530),
    }
    for n in (5, 10):
        view = NFilter(n, n).apply(data).compact()
        assert (len(view), view.n_users, view.n_items) == published[name, n]
