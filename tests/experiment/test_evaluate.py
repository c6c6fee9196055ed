"""Lists evaluated: every policy counted, slices, what is saved, what is warned of."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.experiment.worlds import no_constant

from fullrank.core.errors import DataError, FullrankError, IdTypeError, SpecError
from fullrank.experiment.evaluate import MOST_SEGMENTS, evaluate, read_saved
from fullrank.metrics import NDCG, Recall
from fullrank.stats import mean_interval

HALF = 1 / math.log2(3)  # the discount of the second place

D05 = {
    "recs": {"u1": ["a"], "u2": ["x", "b"], "u4": ["d"], "u9": ["a"]},
    "truth": {"u1": ["a"], "u2": ["b"], "u3": ["c"], "u4": ["d"]},
}


def value(found, metric):
    return next(m for m in found.measurements if str(m.metric) == metric).estimate.value


def test_users_without_recommendations_stay_in_the_mean():
    """D05."""
    found = evaluate(D05["recs"], D05["truth"], ["ndcg@2"])
    assert value(found, "NDCG@2") == pytest.approx((1 + HALF + 0 + 1) / 4)
    assert value(found, "NDCG@2") == pytest.approx(0.657732, abs=1e-6)
    counts = found.to_dict()["policies"]
    assert counts["users_without_recommendations"] == 1
    assert counts["users_without_truth"] == 1


def test_the_shape_of_the_result():
    found = evaluate(D05["recs"], D05["truth"], ["ndcg@2", "recall@1,2"]).to_dict()
    assert list(found["metrics"]) == ["NDCG@2", "Recall@1", "Recall@2"]
    assert {"value", "low", "high", "n_queries", "undefined", "best", "worst"} <= set(
        found["metrics"]["NDCG@2"]
    )
    assert set(found) >= {"metrics", "policies", "protocol", "provenance", "warnings"}
    json.loads(json.dumps(found), parse_constant=no_constant)


def test_several_cut_offs_at_once_are_those_one_by_one():
    recs, truth = {"u": list("bcad"), "v": list("ab")}, {"u": list("abc"), "v": list("c")}
    together = evaluate(recs, truth, ["ndcg@1,2,3", "recall@2"])
    for m in together.measurements:
        alone = evaluate(recs, truth, [m.metric])
        assert alone.measurements[0].to_dict() == m.to_dict()


def test_what_users_had_before_is_removed_from_lists_and_truth():
    recs, truth = {"u": ["a", "b", "c"]}, {"u": ["a", "b"]}
    train = {"u": ["a"]}
    removed = evaluate(recs, truth, ["recall@1", "mrr@3"], train=train)
    assert value(removed, "Recall@1") == 1.0  # b closes up to the first place, a is no target
    assert removed.ranked.counts["removed_seen"] == 1
    assert removed.ranked.counts["repeated_targets"] == 1
    kept = evaluate(recs, truth, ["recall@1"], train=train, keep_seen=True)
    assert value(kept, "Recall@1") == 0.5
    assert (removed.protocol["seen"], kept.protocol["seen"]) == ("removed", "kept")


def test_grades_and_depth_and_columns():
    recs = pl.DataFrame({"uid": [1, 1, 1], "iid": [7, 8, 9], "pos": [1, 2, 3]})
    truth = pl.DataFrame({"uid": [1, 1], "iid": [8, 5], "stars": [3.0, 1.0]})
    columns = {"user_id": "uid", "item_id": "iid", "rank": "pos"}
    found = evaluate(recs, truth, ["ndcg@3"], grade="stars", depth=3, columns=columns)
    ideal = 7 + HALF
    assert value(found, "NDCG@3") == pytest.approx(7 * HALF / ideal)
    assert found.protocol["grade"] == "stars"
    with pytest.raises(SpecError, match="depth"):
        evaluate(recs, truth, ["ndcg@4"], depth=3, columns=columns)


def test_outside_ids_are_hashed_for_the_protocol_alone(monkeypatch):
    monkeypatch.setattr("fullrank.core.vocabulary.hash_labels", lambda _: pytest.fail("hashed"))
    found = evaluate({"u": ["a"]}, {"u": ["a"]}, ["mrr@1"])
    assert value(found, "MRR@1") == 1.0
    monkeypatch.undo()
    assert next(iter(found.protocol)) == "targets"


def test_text_of_pandas_in_pieces():
    """Pieces of Arrow's memory that end within a list, and a rank column to set aside."""
    recs = pd.DataFrame(
        {"user_id": [f"u{i // 3}" for i in range(30)], "item_id": [f"i{i % 7}" for i in range(30)],
         "rank": [i % 3 + 1 for i in range(30)]}
    )  # fmt: skip
    truth = recs.iloc[::2][["user_id", "item_id"]]
    expected = evaluate(pl.DataFrame(recs.to_dict("list")), truth, ["ndcg@3", "map@3"])
    text = dict.fromkeys(("user_id", "item_id"), "string[pyarrow]")
    pieces = pd.concat([recs.iloc[:4].astype(text), recs.iloc[4:17].astype(text),
                        recs.iloc[17:].astype(text)])  # fmt: skip
    assert len(pieces["item_id"].array.__arrow_array__().chunks) == 3
    found = evaluate(pieces, truth.astype(text), ["ndcg@3", "map@3"])
    assert found.to_dict()["metrics"] == expected.to_dict()["metrics"]
    assert found.protocol == expected.protocol


def test_ties_have_bounds_and_no_order_helps():
    recs = pl.DataFrame({"user_id": ["u"] * 5, "item_id": list("abcde"), "score": [0.5] * 5})
    for target in "ae":  # D02
        found = evaluate(recs, {"u": [target]}, ["hr@1", "hr@3", "mrr@5", "ndcg@3", "ndcg@5"])
        values = [m.estimate.value for m in found.measurements]
        assert values == pytest.approx([0.2, 0.6, 0.456667, 0.426186, 0.589692], abs=1e-6)
        assert [(m.worst, m.best) for m in found.measurements][:2] == [(0.0, 1.0), (0.0, 1.0)]


def test_undefined_users_are_counted_and_not_zero():
    found = evaluate(
        {"u": ["a"], "v": ["b"]}, {"u": ["a"], "v": ["b"]}, ["mrr@2"], train={"v": ["b"]}
    )
    (only,) = found.measurements
    assert (only.estimate.value, only.estimate.n_queries, only.estimate.undefined) == (1.0, 1, 1)


def test_nothing_but_undefined_users_is_null_and_not_nan():
    truth = pl.DataFrame({"user_id": ["v"], "item_id": ["b"], "stars": [1.0]})
    found = evaluate({"v": ["b"]}, truth, ["recall(rel=4)@2"], grade="stars").to_dict()
    assert found["metrics"]["Recall(rel=4)@2"]["value"] is None
    assert found["metrics"]["Recall(rel=4)@2"]["undefined"] == 1
    json.loads(json.dumps(found), parse_constant=no_constant)


def test_one_user_has_a_value_and_no_interval():
    found = evaluate({"u": ["a"]}, {"u": ["a"]}, ["mrr@2"]).to_dict()["metrics"]["MRR@2"]
    assert found["value"] == 1.0
    assert (found["low"], found["high"]) == (None, None)
    assert any("one user" in text.lower() for text in found["assumptions"])


@pytest.fixture
def lists():
    rng = np.random.default_rng(4)
    recs = {f"u{n}": [f"i{j}" for j in rng.permutation(20)[:5]] for n in range(30)}
    truth = {f"u{n}": [f"i{j}" for j in rng.permutation(20)[:3]] for n in range(30)}
    return recs, truth


def test_intervals_are_those_of_the_statistics(lists):
    found = evaluate(*lists, ["ndcg@5"], level=0.9, method="percentile", resamples=300, seed=7)
    values = (NDCG @ 5).per_query(found.ranked)
    alone = mean_interval(values, level=0.9, method="percentile", resamples=300, rng=7)
    got = found.measurements[0].estimate
    assert (got.low, got.high, got.level) == (alone.low, alone.high, 0.9)


def test_slices_by_segment(lists):
    groups = [("a", "b", None)[n % 3] for n in range(30)]
    table = pl.DataFrame({"user_id": [f"u{n}" for n in range(29)] + ["stranger"], "plan": groups})
    found = evaluate(*lists, ["recall@5"], by=(table, "plan"))
    assert list(found.by_segment) == ["(none)", "a", "b"]  # u29 has no row and group None
    values = (Recall @ 5).per_query(found.ranked)
    users = found.ranked.user_ids
    for name, start in (("a", 0), ("b", 1)):
        mask = np.isin(users, [f"u{n}" for n in range(start, 29, 3)])
        (got,) = found.by_segment[name]
        assert got.estimate.value == pytest.approx(values[mask].mean())
        assert got.estimate.n_users == mask.sum()
    shown = found.to_dict()["segments"]
    assert shown["a"]["Recall@5"]["value"] == found.by_segment["a"][0].estimate.value
    assert sum(part["Recall@5"]["n_users"] for part in shown.values()) == 30


@pytest.mark.parametrize(
    ("table", "column", "error", "message"),
    [
        ({"user_id": ["u1"], "plan": ["a"]}, "paln", SpecError, "did you mean 'plan'"),
        (
            {"user_id": ["u1", "u1"], "plan": ["a", "b"]},
            "plan",
            DataError,
            "'u1' has more than one",
        ),
        ({"user_id": ["zz"], "plan": ["a"]}, "plan", DataError, "no user of the segments.*'zz'"),
        ({"user_id": [1, 2], "plan": ["a", "b"]}, "plan", IdTypeError, "integer"),
        ({"user": ["u1"], "plan": ["a"]}, "plan", DataError, "expected .*user_id"),
    ],
)
def test_segments_that_are_none(lists, table, column, error, message):
    with pytest.raises(error, match=message):
        evaluate(*lists, ["recall@5"], by=(pl.DataFrame(table), column))


def test_a_column_of_ids_is_no_segment(lists):
    n = MOST_SEGMENTS + 1
    table = pl.DataFrame({"user_id": [f"u{j}" for j in range(n)], "id": list(range(n))})
    with pytest.raises(SpecError, match=f"{n} values, more than {MOST_SEGMENTS}"):
        evaluate(*lists, ["recall@5"], by=(table, "id"))


def test_saved_values_come_back(lists, tmp_path):
    found = evaluate(*lists, ["ndcg@5", "recall@5"])
    found.save(tmp_path / "per.parquet")
    about, table = read_saved(tmp_path / "per.parquet")
    assert about["protocol"] == dict(found.protocol)
    assert table.columns == ["user_id", "query_id", "NDCG@5", "Recall@5"]
    assert np.array_equal(table["NDCG@5"].to_numpy(), (NDCG @ 5).per_query(found.ranked))
    found.save(tmp_path / "per.csv")
    assert pl.read_csv(tmp_path / "per.csv").height == 30
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "other.parquet")
    assert read_saved(tmp_path / "other.parquet") is None
    assert read_saved(tmp_path / "per.csv") is None


def test_lists_that_may_have_been_cut_are_warned_of(lists):
    recs, truth = lists
    assert evaluate(recs, truth, ["ndcg@5"]).warnings == ()
    (text,) = evaluate(recs, truth, ["ndcg@5,10"]).warnings
    assert "every list has 5 items and NDCG@10 looks further" in text
    assert "--depth 5" in text
    shorter = {**recs, "u0": recs["u0"][:2]}
    assert evaluate(shorter, truth, ["ndcg@10"]).warnings == ()


def test_no_hit_at_all_is_warned_of_with_a_plain_id():
    (text,) = evaluate({7: [1, 2]}, {7: [3]}, ["ndcg@2"]).warnings
    assert "no held-out item is in any list" in text
    assert "such as 3 in" in text
    assert "int64" not in text


def test_ids_of_two_types_are_an_error_that_shows_one_of_each():
    """D06."""
    with pytest.raises(IdTypeError, match=r"user_id is text.*'1'.*integers.*1"):
        evaluate({"1": ["10", "11"]}, {1: [10, 12]}, ["recall@2"])


def test_messages_print_ids_plainly():
    recs = pl.DataFrame({"user_id": [7, 7], "item_id": [1, 2], "rank": [1, 1]})
    with pytest.raises(DataError, match="user 7 have the same rank"):
        evaluate(recs, {7: [1]}, ["ndcg@2"])
    nan = pl.DataFrame({"user_id": [7], "item_id": [1], "score": [float("nan")]})
    with pytest.raises(DataError, match="user 7, item 1"):
        evaluate(nan, {7: [1]}, ["ndcg@2"])


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        ([], {}, "at least one metric"),
        (["rmse"], {}, "lists have none"),
        (["hitrate"], {}, "cut-off"),
        (["ndcg@2"], {"depth": 0}, "depth must be 1 or more"),
        (["ndcg@2"], {"level": 1.5}, "level"),
        (["ndcg@2"], {"method": "bootstrap"}, "unknown interval method"),
        (["ndcg@2"], {"resamples": 3}, "at least 100"),
    ],
)
def test_options_that_can_not_be(metrics, options, message):
    with pytest.raises(FullrankError, match=message):
        evaluate(D05["recs"], D05["truth"], metrics, **options)


def test_the_protocol_follows_the_targets_and_not_their_order(lists):
    recs, truth = lists
    one = evaluate(recs, truth, ["ndcg@5"])
    turned = {user: truth[user][::-1] for user in reversed(truth)}
    assert evaluate(recs, turned, ["ndcg@5"]).protocol_id == one.protocol_id
    assert evaluate(dict(list(recs.items())[:9]), truth, ["mrr@2"]).protocol_id == one.protocol_id
    fewer = {user: items for user, items in truth.items() if user != "u3"}
    other = {**truth, "u3": ["i19", "i18"]}
    ids = {evaluate(recs, t, ["ndcg@5"]).protocol_id for t in (truth, fewer, other)}
    assert len(ids) == 3
    assert evaluate(recs, truth, ["ndcg@5"], depth=5).protocol_id not in ids
