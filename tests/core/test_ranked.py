"""TargetRanks: the order of targets, whatever comes in; parts as views."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.errors import ScoreError
from fullrank.core.ragged import as_indptr, rows_of
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.vocabulary import Vocabulary

COLUMNS = ("best", "worst", "gains", "items")


def ranked(lengths: list[int], **columns: np.ndarray) -> TargetRanks:
    q = len(lengths)
    ids = Vocabulary(np.arange(1000), "id")
    return TargetRanks(
        users=np.arange(q, dtype=np.int32),
        query_ids=np.zeros(q, np.int64),
        indptr=as_indptr(lengths),
        n_candidates=np.zeros(q, np.int32),
        user_vocab=ids,
        item_vocab=ids,
        **columns,
    )


def drawn(lengths: list[int], seed: int, *, nan: bool = False) -> dict[str, np.ndarray]:
    rng, t = np.random.default_rng(seed), sum(lengths)
    best = rng.integers(1, 4, t).astype(np.int32)
    best[rng.random(t) < 0.2] = UNRANKED
    gains = rng.integers(0, 3, t).astype(np.float64)
    if nan:
        gains[rng.random(t) < 0.2] = np.nan
    worst = np.where(best == UNRANKED, UNRANKED, best + rng.integers(0, 5, t)).astype(np.int32)
    return {
        "best": best, "worst": worst, "gains": gains,
        "items": rng.integers(0, 4, t).astype(np.int32),
    }  # fmt: skip


@given(st.lists(st.integers(0, 90), max_size=12), st.integers(0, 2**31), st.booleans())
def test_order_is_that_of_one_stable_sort(lengths: list[int], seed: int, nan: bool) -> None:
    given_ = drawn(lengths, seed, nan=nan)
    before = {name: column.copy() for name, column in given_.items()}
    found = ranked(lengths, **given_)
    rows = rows_of(found.indptr)
    order = np.lexsort((before["items"], -before["gains"], before["best"], rows))
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), before[name][order])
        np.testing.assert_array_equal(given_[name], before[name])  # what came in stays as it was


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_many_queries_in_threads(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank.core.ranked._TARGETS", 500)
    monkeypatch.setenv("FULLRANK_THREADS", threads)
    lengths = np.random.default_rng(1).integers(0, 80, 300).tolist()
    columns = drawn(lengths, 2)
    rows = rows_of(as_indptr(lengths))
    order = np.lexsort((columns["items"], -columns["gains"], columns["best"], rows))
    found = ranked(lengths, **columns)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), columns[name][order])


def test_targets_in_order_are_not_copied_and_read_only_ones_are() -> None:
    columns = {
        "best": np.array([1, 2], np.int32), "worst": np.array([1, 2], np.int32),
        "gains": np.ones(2), "items": np.array([0, 1], np.int32),
    }  # fmt: skip
    assert ranked([2], **columns).best is columns["best"]
    columns["best"].flags.writeable = False
    assert ranked([2], **columns).best.flags.writeable


@pytest.mark.parametrize(("best", "worst"), [([0], [1]), ([3], [2]), ([2, 1, -1], [2, 1, 5])])
def test_ranks_that_are_none_are_refused(best: list[int], worst: list[int]) -> None:
    with pytest.raises(ScoreError, match="1-based"):
        TargetRanks.of([best], worst=[worst])


@given(st.lists(st.integers(0, 5), max_size=12), st.data())
def test_a_part_is_what_its_rows_give(lengths: list[int], data: st.DataObject) -> None:
    whole = ranked(lengths, **drawn(lengths, 3))
    first = data.draw(st.integers(0, len(lengths)))
    last = data.draw(st.integers(first, len(lengths)))
    part, picked = whole.part(first, last), whole[np.arange(first, last)]
    for field in fields(TargetRanks):
        left, right = getattr(part, field.name), getattr(picked, field.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right)
        else:
            assert left == right


@pytest.mark.parametrize("indptr", [[0, 3, 2], [0, 2], [0, 1, 3], [1, 1, 2]])
def test_an_indptr_that_cuts_nothing_is_refused(indptr):
    ids = Vocabulary(np.arange(9), "id")
    with pytest.raises(
        ScoreError, match=r"indptr must have shape .3,., .* never fall and end at 2"
    ):
        TargetRanks(
            np.zeros(2, np.int32), np.zeros(2, np.int64), np.array(indptr),
            np.ones(2, np.int32), np.ones(2, np.int32), np.ones(2), np.zeros(2, np.int32),
            np.zeros(2, np.int32), ids, ids,
        )  # fmt: skip
