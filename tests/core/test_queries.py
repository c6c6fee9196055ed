"""Queries: what the constructor settles, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SplitError
from fullrank.core.queries import Queries
from fullrank.core.vocabulary import Vocabulary

USERS, ITEMS = Vocabulary.of(np.array(["u", "v"]), "user"), Vocabulary.of(np.arange(10, 16), "item")
GOOD = {
    "users": np.array([0, 1], np.int32),
    "history_indptr": np.array([0, 1, 2]),
    "history_items": np.array([5, 5], np.int32),
    "target_indptr": np.array([0, 3, 4]),
    "target_items": np.array([0, 2, 4, 1], np.int32),
    "target_gains": np.array([1.0, 2.0, 3.0, 4.0]),
}


def made(**changed):
    return Queries(**GOOD | changed, user_vocab=USERS, item_vocab=ITEMS)


def test_targets_out_of_order_are_sorted_with_their_gains():
    items = np.array([4, 0, 2, 1], np.int32)
    queries = made(target_items=items, target_gains=np.array([3.0, 1.0, 2.0, 4.0]))
    assert queries.target_items.tolist() == GOOD["target_items"].tolist()
    assert queries.target_gains.tolist() == GOOD["target_gains"].tolist()
    assert items.tolist() == [4, 0, 2, 1]
    falling = made(target_indptr=np.array([0, 2, 4]), target_items=np.array([2, 3, 0, 1], np.int32))
    assert falling.target_items.tolist() == [2, 3, 0, 1]


@pytest.mark.parametrize("items", [[2, 2, 4, 1], [2, 4, 2, 1]])
def test_a_target_twice_in_a_query_is_refused(items):
    match = r"more than once for 1 queries .first: user 'u', item 12., .*highest gain"
    with pytest.raises(SplitError, match=match):
        made(target_items=np.array(items, np.int32))


def test_a_target_of_two_queries_is_fine():
    assert made(target_items=np.array([0, 2, 4, 4], np.int32)).targets(1).tolist() == [4]
    empty = made(target_indptr=np.array([0, 0, 0]), target_items=np.zeros(0, np.int32),
                 target_gains=np.zeros(0))  # fmt: skip
    assert empty.target_counts.tolist() == [0, 0]


def test_lists_are_merged():
    queries = Queries.from_lists(
        np.array([0], np.int32), [[5]], [[3, 1, 3]], user_vocab=USERS, item_vocab=ITEMS
    )
    assert queries.target_items.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"target_indptr": np.array([0, 5, 4])}, "target_indptr must .* never fall"),
        ({"history_indptr": np.array([0, 2])}, r"history_indptr must have shape \(3,\)"),
        ({"target_items": np.array([0, 2, 4, 6], np.int32)}, r"target_items must lie in \[0, 6\)"),
        ({"users": np.array([0, 2], np.int32)}, r"users must lie in \[0, 2\).*0…2"),
        ({"target_gains": np.ones(3)}, r"target_gains has shape \(3,\), expected \(4,\)"),
        ({"target_gains": np.array([1.0, 1.0, -1.0, 1.0])}, "gains must be finite and >= 0"),
        ({"history_values": np.ones(1)}, "one for each of history_items"),
        ({"history_times": np.ones(3, np.int64)}, "one for each of history_items"),
        ({"times": np.ones(1, np.int64)}, "times has shape .* one for each of users"),
        ({"query_ids": np.ones(1, np.int64)}, "query_ids has shape .* one for each of users"),
        ({"repeats": "mask"}, "repeats must be 'drop' or 'keep', got 'mask'"),
        ({"history_items": np.array([4, 5], np.int32)}, "overlap for 1 queries .first: user 'u'"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changed, match):
    with pytest.raises(SplitError, match=match):
        made(**changed)
