"""Codes of id columns, and of columns against a vocabulary that stands."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from fullrank.data.encode import encode_column, encode_known

columns = st.lists(st.text(max_size=3), min_size=1, max_size=30) | st.lists(
    st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9), min_size=1, max_size=30
)


def series(labels):
    return pl.Series(labels, dtype=pl.String if isinstance(labels[0], str) else pl.Int64)


@given(columns)
def test_codes_follow_the_sorted_ids(labels):
    codes, vocab = encode_column(series(labels), "user")
    want = sorted(set(labels))
    assert vocab.ids.tolist() == want
    assert codes.tolist() == [want.index(label) for label in labels]
    assert codes.dtype == np.int32


@given(columns, st.data())
def test_known_ids(labels, data):
    kept = data.draw(st.lists(st.sampled_from(labels), min_size=1))
    _, vocab = encode_column(series(kept), "user")
    place = {label: code for code, label in enumerate(vocab.ids.tolist())}
    assert encode_known(series(labels), vocab).tolist() == [place.get(x, -1) for x in labels]
