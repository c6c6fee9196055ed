"""Lists as arrays of codes: the ranks of a table, in whatever order and by any threads."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError, SpecError
from fullrank.core.ranked import TargetRanks
from fullrank.core.vocabulary import Vocabulary
from fullrank.rank import ranks_from_codes, ranks_from_lists

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
