"""Ids of lists, truth and training rows over common codes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fullrank.core.errors import DataError
from fullrank.metrics import Recall
from fullrank.rank import ranks_from_lists


def table(rows, columns):
    return pl.DataFrame(rows, schema=columns, orient="row")


def mean(metric, ranked):
    return float(np.nanmean(metric.per_query(ranked)))


@pytest.mark.parametrize("large", ["recs", "truth", "train"])
def test_integer_ids_beyond_int64_on_one_side(large):
    """Beyond 2^53 a float can't tell neighbours apart."""
    top = 2**63 - 1
    sides = {
        "recs": [(1, top), (1, 4)],
        "truth": [(1, top), (1, 5)],
        "train": [(1, top - 1), (1, 6)],
    }
    sides[large].append((2**63, 2**63 + 1))
    frames = {
        name: table(
            rows,
            {"user_id": pl.UInt64, "item_id": pl.UInt64}
            if name == large
            else {"user_id": pl.Int64, "item_id": pl.Int64},
        )
        for name, rows in sides.items()
    }
    ranked = ranks_from_lists(frames["recs"], frames["truth"], train=frames["train"])
    first = ranked[np.array([0])]
    assert first.user_ids.tolist() == [1]
    assert mean(Recall @ 2, first) == 0.5
    assert ranked.counts.get("repeated_targets", 0) == 0


def test_ids_that_no_integer_type_holds_are_refused():
    with pytest.raises(DataError, match="item ids reach from -1 to 9223372036854775808"):
        ranks_from_lists({1: [-1]}, {1: [2**63]})
