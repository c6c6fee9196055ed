"""Interactions: canonical order, fingerprint, matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.core.vocabulary import Vocabulary

USERS, ITEMS = Vocabulary.of(list("abc"), "user"), Vocabulary.of([10, 20, 30], "item")


def make(rows, **more):
    """Interactions of (user, item, value, time, tag, size) rows."""
    u, i, v, t, tag, size = ([row[j] for row in rows] for j in range(6))
    return Interactions(
        np.array(u, np.int32),
        np.array(i, np.int32),
        USERS,
        ITEMS,
        np.array(v, float),
        np.array(t, np.int64),
        extras={"tag": np.array(tag, object), "size": np.array(size, np.int64)},
        **more,
    )


rows_of_few_values = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 1),
        st.sampled_from("xy"), st.integers(0, 1),
    ),
    min_size=1, max_size=25,
)  # fmt: skip


@given(rows_of_few_values, st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_rows(rows, random):
    first = make(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)
    second = make(shuffled)
    for name in ("users", "items", "values", "times"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for name in ("tag", "size"):
        np.testing.assert_array_equal(first.extras[name], second.extras[name])
    assert first.fingerprint == second.fingerprint
    got = zip(first.users, first.times, first.items, first.values)
    assert sorted((r[0], r[3], r[1], r[2]) for r in rows) == list(got)
    assert first._is_canonical()


@given(rows_of_few_values)
def test_fingerprint_sees_every_column(rows):
    base = make(rows).fingerprint
    for column, other in ((0, 2), (1, 2), (2, 5), (3, 5), (4, "z"), (5, 7)):
        if rows[0][column] != other:
            changed = list(rows[0])
            changed[column] = other
            assert make([tuple(changed), *rows[1:]]).fingerprint != base
    assert make([*rows, rows[0]]).fingerprint != base


def test_fingerprint_is_free_of_unused_ids():
    data = make([(0, 2, 1, 1, "x", 0), (2, 2, 1, 1, "x", 0)])
    assert data.compact().n_users == 2
    assert data.compact().fingerprint == data.fingerprint


def test_fingerprint_is_what_it_was():
    """Stored results are found by it: a change here orphans every store."""
    assert make([(0, 0, 4, 100, "x", 1)]).fingerprint == "22c266a2ae1069140de80b1797299125"


def test_csr_weights():
    data = make([(0, 0, 5, 2, "x", 0), (0, 0, 3, 1, "x", 0), (1, 2, 4, 1, "x", 0)])
    assert data.csr().toarray().tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert data.csr("count").toarray()[0, 0] == 2
    assert data.csr("values").toarray()[0, 0] == 5  # the last in time
    assert data.csr() is data.csr()
    with pytest.raises(SpecError, match="did you mean 'count'"):
        data.csr("counts")


def test_user_slices():
    data = make([(2, 0, 1, 1, "x", 0), (0, 1, 1, 9, "x", 0), (0, 2, 1, 3, "x", 0)])
    assert data.user_indptr.tolist() == [0, 2, 2, 3]
    assert data.items[: data.user_indptr[1]].tolist() == [2, 1]  # oldest first
    assert data.user_ids.tolist() == ["a", "a", "c"]


def test_take_keeps_vocabularies_and_writes_the_recipe():
    data = make([(0, 0, 1, 1, "x", 0), (1, 1, 2, 2, "y", 1)])
    part = data.take(np.array([False, True]), {"step": "test"})
    assert (len(part), part.n_users, part.recipe) == (1, 3, ({"step": "test"},))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"values": np.array([np.nan])}, r"finite, got nan for user 'a' and item 10"),
        ({"users": np.array([3], np.int32)}, r"users must lie in \[0, 3\)"),
        ({"users": np.array([0], np.int64)}, "int32"),
        ({"times": np.zeros(2, np.int64)}, "shape"),
    ],
)
def test_bad_columns(change, match):
    columns = {"users": np.array([0], np.int32), "items": np.array([0], np.int32), **change}
    with pytest.raises(DataError, match=match):
        Interactions(user_vocab=USERS, item_vocab=ITEMS, **columns)


def test_missing_times_are_refused_with_the_remedy():
    codes = np.array([0, 1], np.int32)
    none = Interactions(codes, codes, USERS, ITEMS)
    with pytest.raises(DataError, match="no time column"):
        none.require_times("GlobalTime")
    some = Interactions(codes, codes, USERS, ITEMS, times=np.array([5, NO_TIME]))
    with pytest.raises(DataError, match="1 of 2 rows have none; drop them"):
        some.require_times("GlobalTime")
