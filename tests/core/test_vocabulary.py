"""Vocabulary: ids of 64 bits, signed and unsigned, meet exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import DataError, IdTypeError
from fullrank.core.vocabulary import Vocabulary

HALF = 2**63
near = st.sets(st.integers(HALF - 4, HALF + 4) | st.integers(0, 4), min_size=1).map(sorted)
signed = st.lists(st.integers(-4, 4) | st.integers(HALF - 4, HALF - 1), min_size=1)


@given(near, signed)
def test_signed_ids_against_unsigned_ones(ids, values):
    vocab = Vocabulary(np.array(ids, np.uint64))
    want = [ids.index(x) if x in ids else -1 for x in values]
    assert vocab.encode(np.array(values, np.int64)).tolist() == want


@given(signed, near)
def test_unsigned_ids_against_signed_ones(ids, values):
    ids = sorted(set(ids))
    vocab = Vocabulary(np.array(ids, np.int64))
    want = [ids.index(x) if x in ids else -1 for x in values]
    assert vocab.encode(np.array(values, np.uint64)).tolist() == want


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.uint32])
def test_short_types_against_unsigned_ids(dtype):
    vocab = Vocabulary(np.array([3, HALF], np.uint64))
    assert vocab.encode(np.array([3, 5], dtype)).tolist() == [0, -1]
    if np.issubdtype(dtype, np.signedinteger):
        assert vocab.encode(np.array([-3, 3], dtype)).tolist() == [-1, 0]


@given(near, st.lists(st.integers(0, 4) | st.integers(HALF - 4, HALF - 1), min_size=1))
def test_union_holds_every_id(large, small):
    small = sorted(set(small))
    parts = [Vocabulary(np.array(large, np.uint64), "item"), Vocabulary(np.array(small, np.int64))]
    for order in (parts, parts[::-1]):
        found = Vocabulary.union(order)
        assert found.ids.tolist() == sorted({*large, *small})
        assert found.name == order[0].name


def test_union_of_what_no_type_holds_is_refused():
    parts = [Vocabulary.of([-1, 4], "user"), Vocabulary.of([HALF], "user")]
    with pytest.raises(DataError, match=rf"user ids reach from -1 to {HALF}.*put a letter"):
        Vocabulary.union(parts)
    with pytest.raises(IdTypeError, match="nothing would match"):
        Vocabulary.union([*parts[:1], Vocabulary.of(["a"], "user")])


def test_union_leaves_empty_parts_aside():
    none = Vocabulary(np.zeros(0, np.int64), "item")
    assert Vocabulary.union([none, Vocabulary.of(["b", "a"])]).ids.tolist() == ["a", "b"]
    assert len(Vocabulary.union([none, none])) == 0


@pytest.mark.parametrize("ids", [[-1, HALF], [2**64, 1], np.array([-1, HALF], object)])
def test_lists_of_what_no_type_holds_are_refused(ids):
    with pytest.raises(DataError, match=r"no 64-bit integer type holds both.*put a letter"):
        Vocabulary.of(ids)
    with pytest.raises(DataError, match="put a letter"):
        Vocabulary.of([1]).encode(ids)
    with pytest.raises(IdTypeError, match="float64"):
        Vocabulary.of([0.5, 1.0])


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 40), max_size=60),
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 40), max_size=60),
    st.booleans(),
)
def test_encode_finds_what_is_there(ids, asked, unsigned):
    dtype = np.int64
    if unsigned:
        ids, asked, dtype = [i + 2**63 for i in ids], [i + 2**63 for i in asked], np.uint64
    vocab = Vocabulary.of(np.array(ids, dtype), "item")
    place = {label: code for code, label in enumerate(sorted(set(ids)))}
    got = vocab.encode(np.array([*asked, *ids], dtype))
    assert got.tolist() == [place.get(label, -1) for label in (*asked, *ids)]


def test_ids_that_share_their_low_bits():
    """A table of places must not rely on the low bits of ids."""
    ids = np.arange(5000, dtype=np.int64) << 40
    vocab = Vocabulary.of(ids)
    assert vocab.encode(ids[::-1].copy()).tolist() == list(range(4999, -1, -1))
    assert vocab.encode(ids + 1).tolist() == [-1] * 5000
