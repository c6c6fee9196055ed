"""The figures of ``data info``, against hand-worked values and plain references."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.vocabulary import Vocabulary
from fullrank.data import describe, read
from fullrank.data.summary import format_time, gini, ids_alike, sparkline


def test_a_small_log_by_hand() -> None:
    frame = {
        "user_id": ["u", "u", "u", "v", "v", "w"],
        "item_id": ["a", "b", "a", "a", "a", "c"],
        "rating": [1.0, 2.0, 3.0, 4.0, 4.0, 5.0],
        "timestamp": [86_400, 86_400, 90_000, 172_800, 172_800, None],
    }
    s = describe(read(frame))
    assert (s.rows, s.users.n, s.items.n, s.pairs) == (6, 3, 3, 4)
    assert s.density == 4 / 9
    assert s.repeated_pairs == 2
    assert s.duplicate_rows == 1  # v-a twice with equal rating and time
    assert s.missing_times == 1
    assert s.tied_times == 4 / 5  # two of u and two of v, of five known
    assert (s.first_time, s.last_time) == ("1970-01-02T00:00:00Z", "1970-01-03T00:00:00Z")
    assert s.values == (1.0, 19 / 6, 5.0)
    assert s.values_sketch == "▄▄▄█▄"
    assert (s.users.most, s.users.median, s.users.mean) == (3, 2, 2)
    # Rows by user 1, 2, 3: mean absolute difference 8/9, over twice the mean 2.
    assert s.users.gini == pytest.approx(2 / 9)
    assert s.users.sketch == "▄█"  # one user with 1 row, two with 2 or 3
    assert json.loads(json.dumps(s.to_dict()))["users"]["most"] == 3


def test_a_log_without_times_and_values() -> None:
    s = describe(read({"user_id": [1], "item_id": [2]}))
    assert s.time_unit is None
    assert s.tied_times is None
    assert s.values is None
    assert s.times_sketch == ""
    assert s.users.gini == 0


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20))
def test_gini_is_the_mean_difference(counts: list[int]) -> None:
    array = np.array(counts)
    if array.sum() == 0:
        assert math.isnan(gini(array))
        return
    plain = np.abs(array[:, None] - array[None, :]).mean() / (2 * array.mean())
    assert gini(array) == pytest.approx(plain)


def test_ids_that_look_alike() -> None:
    vocab = Vocabulary.of(["a", "A ", "1", "1.0", "01", "b", "10", "x  y", "X y"])
    n, groups = ids_alike(vocab)
    assert n == 3
    assert sorted(sorted(group) for group in groups) == [
        ["01", "1", "1.0"],
        ["A ", "a"],
        ["X y", "x  y"],
    ]
    assert ids_alike(Vocabulary.of([1, 10])) == (0, [])


def test_sparkline() -> None:
    assert sparkline(np.array([0, 1, 8])) == " ▁█"
    assert sparkline(np.array([0, 0])) == ""


def test_times_as_text() -> None:
    assert format_time(1_700_000_000_000, "ms") == "2023-11-14T22:13:20Z"
    assert format_time(-1, "s") == "1969-12-31T23:59:59Z"
    assert format_time(7, "order") == "7"
    assert format_time(2**62, "s") == f"{2**62} s"


def test_filmtrust_has_three_repeated_pairs(real_data: Path) -> None:
    s = describe(read(real_data / "filmtrust" / "native" / "ratings.txt"))
    assert s.repeated_pairs == 3


def test_ml_1m_ties(real_data: Path) -> None:
    s = describe(read(real_data / "ml-1m-pos4" / "interactions.parquet"))
    assert s.rows == 575_281
    assert s.missing_times == 0
    assert s.tied_times is not None
    assert 0.5 < s.tied_times < 0.8
