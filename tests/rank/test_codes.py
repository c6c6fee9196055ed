"""Codes of ids equal those of a vocabulary, for ids close together, far apart, and text."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fullrank.core.vocabulary import Vocabulary
from fullrank.rank._codes import codes_of, distinct_ids

RNG = np.random.default_rng(0)
COLUMNS = {
    "close": RNG.integers(-50, 3000, 5000),
    "far apart": RNG.integers(-(2**62), 2**62, 5000),
    "ends": np.array([-(2**63), 2**63 - 1, 0, -1, 1, 0]),
    "many": RNG.integers(0, 2**40, 200_000),
    "unsigned close": RNG.integers(0, 90, 500).astype(np.uint64),
    "unsigned": np.array([2**64 - 1, 0, 2**63, 2**63 - 1, 0, 2**64 - 2], dtype=np.uint64),
    "runs of text": np.repeat([f"user {i}" for i in RNG.permutation(300)], 12).astype(object),
    "runs of text after others": np.array(
        [f"user {i}" for i in range(100)] + ["user 7"] * 900, dtype=object
    ),
    "text": np.array(["b", "a", "é", "", "a b", "b"] * 5, dtype=object),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_equal_to_a_vocabulary(name, threads, monkeypatch):
    monkeypatch.setenv("FULLRANK_THREADS", threads)
    monkeypatch.setattr("fullrank.rank._codes._PIECE", 1000)
    monkeypatch.setattr("fullrank.rank._codes._HEAD", 100)
    values = COLUMNS[name]
    text = values.dtype == object
    # Two chunks, as files come.
    parts = [
        pl.Series("id", part, dtype=pl.String if text else None)
        for part in (values[:7], values[7:])
    ]
    column = pl.concat([p for p in parts if len(p)], rechunk=False)
    vocab = Vocabulary.of(values)
    np.testing.assert_array_equal(distinct_ids(column), vocab.ids)
    np.testing.assert_array_equal(codes_of(column, vocab), vocab.encode(values))
    some = Vocabulary(vocab.ids[::3])
    np.testing.assert_array_equal(codes_of(column, some), some.encode(values))


@pytest.mark.parametrize("ids", [[5, 2**62], [10, 11]])
def test_ids_beyond_the_vocabulary_have_no_code(ids):
    vocab = Vocabulary.of(ids)
    column = pl.Series([-(2**63), 2**63 - 1, ids[0], 0, ids[1], 9, 12])
    assert codes_of(column, vocab).tolist() == [-1, -1, 0, -1, 1, -1, -1]


def test_signed_ids_in_an_unsigned_vocabulary():
    vocab = Vocabulary(np.array([1, 2**63], dtype=np.uint64))
    assert codes_of(pl.Series([-1, 1, 2]), vocab).tolist() == [-1, 0, -1]
