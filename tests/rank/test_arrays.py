"""Lists as arrays of codes: the ranks of a table, in whatever order and by any threads."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError, SpecError
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.vocabulary import Vocabulary
from fullrank.rank import ranks_from_codes, ranks_from_lists
from fullrank.rank._coded import list_starts

COLUMNS = ("users", "indptr", "best", "worst", "gains", "n_candidates")


def world(seed: int, n_users: int = 40, n_items: int = 60) -> dict[str, np.ndarray]:
    """Lists of unequal length with repeated items, and held-out items that come twice."""
    rng = np.random.default_rng(seed)
    users = np.sort(rng.integers(0, n_users, 500)).astype(np.int32)
    held = np.sort(rng.integers(0, n_users, 120)).astype(np.int32)
    return {
        "users": users, "items": rng.integers(0, n_items, len(users)).astype(np.int32),
        "target_users": held, "target_items": rng.integers(0, n_items, len(held)).astype(np.int32),
        "gains": rng.integers(0, 4, len(held)).astype(np.float64),
    }  # fmt: skip


def from_table(given_: dict[str, np.ndarray], depth: int | None) -> TargetRanks:
    recs = pl.DataFrame({"user_id": given_["users"], "item_id": given_["items"]})
    held = {"user_id": given_["target_users"], "item_id": given_["target_items"]}
    truth = pl.DataFrame(held | {"grade": given_["gains"]})
    return ranks_from_lists(recs, truth, grade="grade", depth=depth)


def same(left: TargetRanks, right: TargetRanks) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    np.testing.assert_array_equal(left.user_ids, right.user_ids)
    ids = [ranked.item_vocab.ids[ranked.items] for ranked in (left, right)]
    np.testing.assert_array_equal(*ids)
    assert left.counts == right.counts


@given(st.integers(0, 2**32), st.sampled_from([None, 3, 100]), st.booleans())
def test_equal_to_a_table(seed, depth, shuffled):
    codes = world(seed)
    expected = from_table(codes, depth)
    if shuffled:  # whole users, so that the order within a list stays
        order = np.argsort((codes["users"] * 17) % 41, kind="stable")
        codes |= {name: codes[name][order] for name in ("users", "items")}
    same(ranks_from_codes(**codes, depth=depth), expected)


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_threads_and_tasks_change_nothing(threads, monkeypatch):
    codes = world(5)
    expected = ranks_from_codes(**codes)
    monkeypatch.setenv("FULLRANK_THREADS", threads)
    monkeypatch.setattr("fullrank.rank._coded._ROWS", 7)
    monkeypatch.setattr("fullrank.rank._coded._TASKS", 13)
    same(ranks_from_codes(**codes), expected)


def test_vocabularies_name_who_is_meant():
    users, items = Vocabulary.of(["a", "b", "c"]), Vocabulary.of(["x", "y", "z"])
    ranked = ranks_from_codes([0, 2, 2], [1, 0, 1], [2], [1], user_vocab=users, item_vocab=items)
    assert ranked.user_ids.tolist() == ["c"]
    assert ranked.best.tolist() == [2]
    assert ranked.counts["users_without_truth"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": np.array([1])}, "users and items have 500 and 1"),
        ({"items": np.full(500, -1)}, "items must be codes from 0"),
        ({"items": np.full(500, 2**40)}, "items must be codes from 0"),
        ({"users": np.full(500, 0.5)}, "users must be a one-dimensional array of integer"),
        ({"gains": np.full(120, -1.0)}, "gains must be 120 finite numbers"),
        ({"gains": np.full(120, np.nan)}, "gains must be 120 finite numbers"),
        ({"user_vocab": Vocabulary.of([5, 6])}, "beyond the vocabulary"),
        ({"target_users": np.zeros(0, int), "target_items": np.zeros(0, int), "gains": None},
         "nobody can be evaluated"),
    ],
)  # fmt: skip
def test_what_is_refused(change, message):
    with pytest.raises(DataError, match=message):
        ranks_from_codes(**world(1) | change)


def test_a_depth_that_is_none():
    with pytest.raises(SpecError, match="depth must be 1"):
        ranks_from_codes([0], [0], [0], [0], depth=0)


def in_order(users, keys, n_users):
    """``list_starts`` in plain NumPy."""
    rises = len(users) == 0 or (users[0] >= 0 and users[-1] < n_users)
    rises = rises and not (np.diff(users) < 0).any()
    if len(keys):
        rises = rises and not ((np.diff(users) == 0) & (np.diff(keys) < 0)).any()
    return np.searchsorted(users, np.arange(n_users + 1)) if rises else None


@given(st.integers(0, 2**32), st.booleans(), st.booleans(), st.integers(1, 9))
def test_starts_of_lists(seed, keyed, broken, rows):
    rng = np.random.default_rng(seed)
    n_users, n = int(rng.integers(1, 12)), int(rng.integers(0, 60))
    users = np.sort(rng.integers(0, n_users, n)).astype(np.int32)
    if broken and n:
        users[rng.integers(0, n)] = rng.integers(-1, n_users + 2)
    keys = rng.integers(0, 50, n if keyed else 0).astype(np.int32)
    if keyed and seed % 4:
        keys = keys[np.lexsort((keys, users))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fullrank.rank._coded._ROWS", rows)
        found, expected = list_starts(users, keys, n_users), in_order(users, keys, n_users)
    assert (found is None) == (expected is None)
    if expected is not None and n:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("targets", [3, 16, 17, 90])
def test_targets_come_in_the_order_of_their_ranks(graded, targets):
    """Also where so many are missed that they are sorted afterwards."""
    rng = np.random.default_rng(targets)
    recs = np.concatenate([rng.permutation(300)[:40] for _ in range(8)]).astype(np.int32)
    held = np.concatenate([rng.permutation(300)[:targets] for _ in range(8)]).astype(np.int32)
    users, owners = (np.repeat(np.arange(8, dtype=np.int32), n) for n in (40, targets))
    gains = rng.integers(0, 3, len(held)).astype(np.float64) if graded else None
    ranked = ranks_from_codes(users, recs, owners, held, gains=gains)
    for u in range(8):
        listed = {item: rank for rank, item in enumerate(recs[users == u].tolist(), 1)}
        worth = np.ones(len(held)) if gains is None else gains
        own = zip(held[owners == u].tolist(), worth[owners == u].tolist(), strict=True)
        expected = sorted((listed.get(item, UNRANKED), -gain, item) for item, gain in own)
        row = slice(ranked.indptr[u], ranked.indptr[u + 1])
        columns = (ranked.best[row], -ranked.gains[row], ranked.items[row])
        assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected
        assert np.array_equal(ranked.best[row], ranked.worst[row])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_column_out_of_order_may_end_low(dtype):
    """The last user of either column need not be the highest one."""
    users, items = np.array([3, 0, 1], dtype), np.array([5, 6, 7], dtype)
    ranked = ranks_from_codes(users, items, np.array([0, 1], dtype), np.array([6, 7], dtype))
    assert ranked.best.tolist() == [1, 1]
    assert ranked.counts["users_without_truth"] == 1
    ranked = ranks_from_codes(
        np.sort(users), items, np.array([3, 0], dtype), np.array([7, 5], dtype)
    )
    assert ranked.best.tolist() == [1, 1]
    with pytest.raises(DataError, match="users must be codes from 0"):
        ranks_from_codes(np.array([-1, 0], dtype), items[:2], users, items)
    with pytest.raises(DataError, match="target_users must be codes from 0"):
        ranks_from_codes(users, items, np.array([0, -1], dtype), items[:2])
