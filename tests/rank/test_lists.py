"""Lists to ranks: policies counted, ties kept, plain Python agrees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rank.reference_lists import ranks_of

from fullrank.core.errors import DataError, IdTypeError, SpecError
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.metrics import AUC, MAP, NDCG, HitRate, MeanRank, Precision, Recall
from fullrank.rank import ranks_from_lists


def mean(metric, ranked):
    return float(np.nanmean(metric.per_query(ranked)))


LIST = ["user_id", "item_id", "score"]


def table(rows, columns):
    return pl.DataFrame(rows, schema=columns, orient="row")


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    by = draw(st.sampled_from(["rank", "score"]))
    recs, truth, train = [], [], []
    for u in range(draw(st.integers(1, 6))):
        n = int(rng.integers(0, 12))
        items = rng.integers(0, 15, n)
        if by == "rank":
            keys = rng.choice(np.arange(1, 30), n, replace=False)
        else:
            keys = rng.integers(0, 4, n) / 2
        recs += [(f"u{u}", f"i{i}", float(k)) for i, k in zip(items, keys)]
        targets = rng.choice(15, int(rng.integers(1, 6)), replace=False)
        truth += [(f"u{u}", f"i{i}") for i in targets]
        had = [i for i in rng.choice(15, 4, replace=False) if i not in targets]
        train += [(f"u{u}", f"i{i}") for i in had]
    rng.shuffle(recs)
    depth = draw(st.sampled_from([None, 1, 5, 40]))
    return by, recs, truth, train if draw(st.booleans()) else [], depth


@given(cases())
def test_lists_equal_plain_python(case):
    by, recs, truth, train, depth = case
    if not recs:
        return
    if by == "score":  # within a tie the first of two equal items in file order is the hit
        recs = sorted(set(recs))
    ranked = ranks_from_lists(
        table(recs, ["user_id", "item_id", by]),
        table(truth, ["user_id", "item_id"]),
        train=table(train, ["user_id", "item_id"]) if train else None,
        depth=depth,
    )
    for q, user in enumerate(ranked.user_ids):
        targets = {i for u, i in truth if u == user}
        seen = {i for u, i in train if u == user}
        want = ranks_of([(i, k) for u, i, k in recs if u == user], targets, seen, depth, by)
        part = ranked[np.array([q])]
        got = {
            i: (int(b), int(w))
            for i, b, w in zip(ranked.item_vocab.ids[part.items], part.best, part.worst)
            if b != UNRANKED
        }
        assert got == want
        assert len(part.items) == len(targets)


def test_d01_ndcg_never_above_one():
    truth = table([("u", "a", 1), ("u", "b", 4), ("u", "c", 2)], ["user_id", "item_id", "grade"])
    first = ranks_from_lists({"u": ["b", "c", "a"]}, truth, grade="grade")
    linear = NDCG(gain="linear")
    assert mean(linear @ 2, first) == pytest.approx(1.0, abs=1e-12)
    second = ranks_from_lists({"u": ["a", "b"]}, truth, grade="grade")
    assert mean(linear @ 2, second) == pytest.approx(0.669672, abs=5e-7)
    assert mean(NDCG @ 2, second) == pytest.approx(0.619433, abs=5e-7)
    assert mean(linear, second) == pytest.approx(0.611559, abs=5e-7)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
def test_d02_constant_scores_are_chance_in_any_input_order(order):
    recs = table([("u", f"i{j}", 0.5) for j in order], ["user_id", "item_id", "score"])
    ranked = ranks_from_lists(recs, {"u": ["i0"]})
    assert mean(HitRate @ 1, ranked) == pytest.approx(0.2)
    assert mean(NDCG @ 3, ranked) == pytest.approx(0.426186, abs=5e-7)
    assert mean(NDCG @ 5, ranked) == pytest.approx(0.589692, abs=5e-7)


@pytest.mark.parametrize("form", ["mapping", "frame", "file"])
def test_d03_repeated_items_count_once(form, tmp_path):
    def given_as(items):
        if form == "mapping":
            return {"u": items}
        frame = table(
            [("u", item, r) for r, item in enumerate(items, 1)], ["user_id", "item_id", "rank"]
        )
        if form == "file":
            frame.write_csv(tmp_path / "recs.csv")
            return tmp_path / "recs.csv"
        return frame.to_pandas()

    ranked = ranks_from_lists(given_as(["p", "q", "p"]), {"u": ["p", "r"]})
    assert mean(Recall @ 3, ranked) == 0.5
    assert mean(Precision @ 3, ranked) == pytest.approx(1 / 3)
    assert mean(MAP @ 3, ranked) == 0.5
    assert mean(NDCG @ 3, ranked) == pytest.approx(0.613147, abs=5e-7)
    assert ranked.counts["repeated_recommendations"] == 1
    ranked = ranks_from_lists(given_as(["p"] * 5), {"u": ["p"]})
    assert (mean(Recall @ 5, ranked), mean(Precision @ 5, ranked)) == (1, 0.2)
    assert mean(NDCG @ 5, ranked) == 1


def test_d04_precision_keeps_dividing_by_k():
    recs = {"u": ["a", "x1", "x2", "x3", "x4", "b", "x5", "x6", "x7", "x8"]}
    ranked = ranks_from_lists(recs, {"u": ["a", "b"]})
    assert [mean(m, ranked) for m in Precision @ [1, 2, 5, 10, 20]] == [1, 0.5, 0.2, 0.2, 0.1]
    assert [mean(m, ranked) for m in Recall @ [1, 2, 5, 10, 20]] == [0.5, 0.5, 0.5, 1, 1]


def test_d05_the_truth_says_who_is_evaluated():
    recs = {"u1": ["a"], "u2": ["x", "b"], "u4": ["d"], "u9": ["a"]}
    truth = {"u1": ["a"], "u2": ["b"], "u3": ["c"], "u4": ["d"]}
    ranked = ranks_from_lists(recs, truth)
    assert mean(NDCG @ 2, ranked) == pytest.approx(0.657732, abs=5e-7)
    assert ranked.counts["users_without_recommendations"] == 1
    assert ranked.counts["users_without_truth"] == 1


def test_d06_text_ids_against_integers_name_one_of_each():
    recs = table([("1", "10"), ("1", "11")], ["user_id", "item_id"])
    truth = table([(1, 10), (1, 12)], ["user_id", "item_id"])
    with pytest.raises(IdTypeError, match=r"such as '1'.*such as 1"):
        ranks_from_lists(recs, truth)


@pytest.mark.parametrize("dtype", ["int32", "uint64", "Int64", "category"])
def test_d06_integers_of_any_kind_match(dtype):
    recs = pd.DataFrame({"user_id": [1, 1], "item_id": [10, 11]}).astype({"item_id": dtype})
    truth = pd.DataFrame({"user_id": [1, 1], "item_id": [10, 12]})
    assert mean(Recall @ 2, ranks_from_lists(recs, truth)) == 0.5


def test_no_user_in_common_is_an_error_not_a_table_of_zeros():
    with pytest.raises(DataError, match="no user of the lists is in the truth"):
        ranks_from_lists({"a": ["x"]}, {"b": ["x"]})


def test_seen_items_leave_and_the_list_closes_up():
    recs = {"u": ["s1", "a", "s2", "b"]}
    ranked = ranks_from_lists(recs, {"u": ["a", "b", "s2"]}, train={"u": ["s1", "s2"]})
    assert ranked.best.tolist() == [1, 2]
    assert ranked.counts["removed_seen"] == 2
    assert ranked.counts["repeated_targets"] == 1
    kept = ranks_from_lists(
        recs, {"u": ["a", "b", "s2"]}, train={"u": ["s1", "s2"]}, keep_seen=True
    )
    assert kept.best.tolist() == [2, 3, 4]


def test_ranks_from_zero_and_gaps():
    frame = table([("u", "a", 0), ("u", "b", 3)], ["user_id", "item_id", "rank"])
    ranked = ranks_from_lists(frame, {"u": ["a", "b"]})
    assert ranked.best.tolist() == [1, 4]
    assert ranked.counts["ranks_counted_from_0"] == 2


def test_depth():
    recs = {"u": ["a", "b", "c"], "v": ["a"]}
    truth = {"u": ["c"], "v": ["a"]}
    ranked = ranks_from_lists(recs, truth, depth=2)
    assert ranked.best.tolist() == [UNRANKED, 1]
    assert (ranked.counts["short_lists"], ranked.counts["beyond_depth"]) == (1, 1)
    with pytest.raises(SpecError, match="depth"):
        (NDCG @ 3).per_query(ranked)
    with pytest.raises(SpecError, match="depth must be"):
        ranks_from_lists(recs, truth, depth=0)


def test_auc_and_mean_rank_need_scores():
    truth = {"u": ["a"]}
    with pytest.raises(SpecError):
        AUC.per_query(ranks_from_lists({"u": ["b", "a"]}, truth, depth=2))
    scored = table(
        [("u", "a", 1.0), ("u", "b", 2.0), ("u", "c", 0.0)], ["user_id", "item_id", "score"]
    )
    ranked = ranks_from_lists(scored, truth)
    assert mean(AUC, ranked) == 0.5
    assert mean(MeanRank, ranked) == 2


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (table([("u", "a", 1), ("u", "b", 1)], ["user_id", "item_id", "rank"]), "same rank"),
        (table([("u", "a", 3e9)], ["user_id", "item_id", "rank"]), "a whole number from 1"),
        (table([("u", "a", 1.5)], ["user_id", "item_id", "rank"]), "a whole number from 1"),
        (table([("u", "a", float("nan"))], ["user_id", "item_id", "score"]), "NaN"),
        ({"u": "abc"}, "expected a list"),
        ({"u": ["a", 1]}, "one kind"),
    ],
)
def test_lists_that_cannot_be_used(frame, match):
    with pytest.raises(DataError, match=match):
        ranks_from_lists(frame, {"u": ["a"]})


def test_grades_that_cannot_be_used():
    truth = table([("u", "a", -1.0)], ["user_id", "item_id", "grade"])
    with pytest.raises(DataError, match=r"-1.0 \(user 'u', item 'a'\)"):
        ranks_from_lists({"u": ["a"]}, truth, grade="grade")
    with pytest.raises(SpecError, match="did you mean 'grade'"):
        ranks_from_lists({"u": ["a"]}, truth, grade="grad")


def test_other_column_names():
    recs = table([("u", "a", 1)], ["uu", "ii", "pos"])
    truth = table([("u", "a")], ["uu", "ii"])
    names = {"user_id": "uu", "item_id": "ii", "rank": "pos"}
    assert ranks_from_lists(recs, truth, columns=names).best.tolist() == [1]
    with pytest.raises(SpecError, match="no file has the column"):
        ranks_from_lists(recs, truth, columns={"user_id": "nope"})


def test_class_method_is_the_same_function():
    assert TargetRanks.from_lists({"u": ["x", "a"]}, {"u": ["a"]}).best.tolist() == [2]


def test_targets_missing_from_scored_lists_are_no_others_in_auc():
    scored = table([("u", "a", 0.9), ("u", "b", 0.5), ("u", "c", 0.1)], LIST)
    ranked = ranks_from_lists(scored, {"u": ["b", "z"]})
    assert ranked.n_candidates.tolist() == [3]
    assert mean(AUC, ranked) == 0.25  # b beats c of the others a, c; z beats none
    assert mean(MeanRank, ranked) == (2 + 4) / 2
