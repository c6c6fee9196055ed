"""Systems side by side: pairs, families, protocols, and conditions that fail a release."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.experiment.worlds import no_constant, run_in
from tests.report.stores import make_results, ranks_of

from fullrank.core.errors import DataError, FullrankError, ProtocolError, SpecError
from fullrank.experiment.compare import compare
from fullrank.experiment.condition import Condition
from fullrank.experiment.evaluate import evaluate
from fullrank.experiment.leaderboard import leaderboard, paired_tests
from fullrank.metrics import NDCG
from fullrank.stats import compare_pairs

TRUTH = {f"u{n}": [f"i{n % 7}", f"i{(n + 3) % 7}"] for n in range(20)}


def lists(seed):
    rng = np.random.default_rng(seed)
    return {f"u{n}": [f"i{j}" for j in rng.permutation(10)] for n in range(20)}


def saved(path, values, metric="NDCG@10"):
    """A saved evaluation with given per-user values."""
    users = [f"u{n}" for n in range(len(values))]
    lists = {user: ["a"] for user in users}
    evaluate(lists, lists, ["ndcg@10"]).save(path)
    meta = pl.read_parquet_metadata(path)["fullrank"]
    table = pl.DataFrame({"user_id": users, "query_id": [0] * len(users), metric: values})
    table.write_parquet(path, metadata={"fullrank": meta})
    return path


def only(found):
    assert len(found.tests) == 1
    return found.tests[0]


def plain(found):
    return json.loads(json.dumps(found.to_dict(), allow_nan=False), parse_constant=no_constant)


STIFF = {"name": "BiasOnly", "label": "stiff", "settings": {"reg_user": 1e3, "reg_item": 1e3}}
FIVE = [0.5, 0.7, 0.2, 0.9, 0.4]


def test_a_run_against_itself_shows_no_difference(tmp_path):
    """D10 (i)."""
    a, b = saved(tmp_path / "a.parquet", FIVE), saved(tmp_path / "b.parquet", FIVE)
    row = only(compare([a, b]))
    assert (row["difference"], row["p"], row["p_adjusted"]) == (0.0, 1.0, 1.0)
    assert (row["wins"], row["ties"], row["losses"]) == (0, 5, 0)
    assert (row["low"], row["high"]) == (0.0, 0.0)
    assert row["note"] == "no difference"
    plain(compare([a, b]))


@pytest.mark.parametrize("test", ["auto", "t", "sign_flip", "wilcoxon"])
def test_equal_differences_are_no_certainty(tmp_path, test):
    """D10 (ii): a plain paired t-test says p = 9e-64 here."""
    a = saved(tmp_path / "a.parquet", FIVE)
    b = saved(tmp_path / "b.parquet", [x + 0.1 for x in FIVE])
    row = only(compare([a, b], test=test))
    assert row["difference"] == pytest.approx(0.1)
    assert row["p"] == pytest.approx(2 / 32)
    plain(compare([a, b], test=test))


def test_one_user_gives_no_p_value_below_one_and_no_nan(tmp_path):
    a, b = saved(tmp_path / "a.parquet", [0.5]), saved(tmp_path / "b.parquet", [0.75])
    found = compare([a, b])
    row = only(found)
    assert row["difference"] == 0.25
    assert (row["low"], row["high"]) == (None, None)
    assert row["p"] in (None, 1.0)
    plain(found)


def test_systems_with_different_gaps_are_compared_on_all_users_of_the_truth():
    """D05."""
    easy = {f"u{n}": TRUTH[f"u{n}"] for n in range(5)}
    fair = {user: items[:1] for user, items in TRUTH.items()}
    found = compare([easy, fair], truth=TRUTH, metrics=["recall@2"], labels=["easy", "fair"])
    values = {row["model"]: row["value"] for row in found.leaderboard}
    assert values == {"easy": 0.25, "fair": 0.5}
    assert {row["n_queries"] for row in found.leaderboard} == {20}


def test_lists_stores_of_values_and_plain_arithmetic_agree(tmp_path):
    names = []
    for seed in range(3):
        evaluate(lists(seed), TRUTH, ["ndcg@5", "recall@3"]).save(tmp_path / f"s{seed}.parquet")
        names.append(tmp_path / f"s{seed}.parquet")
    files = compare(names)
    direct = compare([lists(n) for n in range(3)], truth=TRUTH, metrics=["ndcg@5", "recall@3"])
    keep = ("difference", "low", "high", "p", "p_adjusted", "wins", "losses", "effect_size")
    assert [[t[k] for k in keep] for t in files.tests] == [
        [t[k] for k in keep] for t in direct.tests
    ]
    a, b = ((NDCG @ 5).per_query(evaluate(lists(n), TRUTH, ["mrr@1"]).ranked) for n in (1, 0))
    row = files.tests[0]
    assert (row["model"], row["baseline"], row["metric"]) == ("s1", "s0", "NDCG@5")
    assert row["difference"] == pytest.approx((a - b).mean())
    assert row["wins"] == (a > b).sum()
    reference = compare_pairs(a, b, bounds=(-1.0, 1.0))
    assert row["p"] == reference.p_value
    t = only(compare(names[:2], metrics=["ndcg@5"], test="t"))
    assert t["p"] == pytest.approx(stats.ttest_rel(a, b).pvalue)


@pytest.mark.parametrize(("correction", "name"), [("holm", "Holm"), ("bh", "Benjamini-Hochberg")])
def test_p_values_are_adjusted_over_a_family_that_has_a_name(correction, name):
    systems = [lists(n) for n in range(4)]
    found = compare(systems, truth=TRUTH, metrics=["ndcg@5", "mrr@5"], correction=correction)
    assert len(found.tests) == 6
    p = np.array([row["p"] for row in found.tests])
    assert {row["family"] for row in found.tests} == {
        f"{name} over 6 comparisons (3 models against system 1, all metrics, all users, lists)"
    }
    order = np.argsort(p)
    if correction == "holm":
        expected = np.minimum(np.maximum.accumulate((6 - np.arange(6)) * p[order]), 1)
    else:
        expected = stats.false_discovery_control(p)[order]
    got = np.array([row["p_adjusted"] for row in found.tests])[order]
    assert got == pytest.approx(expected)


def test_another_baseline_can_be_named():
    systems = [lists(n) for n in range(3)]
    found = compare(systems, truth=TRUTH, metrics=["mrr@5"], labels=["a", "b", "c"], baseline="c")
    assert [(row["model"], row["baseline"]) for row in found.tests] == [("a", "c"), ("b", "c")]
    with pytest.raises(SpecError, match="no system 'd'"):
        compare(systems, truth=TRUTH, metrics=["mrr@5"], labels=["a", "b", "c"], baseline="d")


def test_other_protocols_are_refused_with_what_differs(tmp_path):
    evaluate(lists(0), TRUTH, ["ndcg@5"]).save(tmp_path / "a.parquet")
    evaluate(lists(1), TRUTH, ["ndcg@5"], depth=10).save(tmp_path / "b.parquet")
    fewer = {user: items for user, items in TRUTH.items() if user not in ("u3", "u8")}
    evaluate(lists(2), fewer, ["ndcg@5"]).save(tmp_path / "c.parquet")
    a, b, c = (tmp_path / f"{name}.parquet" for name in "abc")
    with pytest.raises(ProtocolError, match=r"different protocols: depth: None and 10; .*--force"):
        compare([a, b])
    with pytest.raises(ProtocolError, match=r"targets: .* and "):
        compare([a, c])
    forced = compare([a, c], force=True)
    assert len(forced.differs) == 1
    assert forced.differs[0].startswith("targets: ")
    assert only(forced)["n_users"] == 18  # those that both have
    assert plain(forced)["protocol_differences"] == list(forced.differs)


def test_other_training_rows_are_another_protocol(tmp_path):
    recs = [lists(0), lists(1)]
    had = {f"u{n}": [f"i{(n + 1) % 10}", "i9"] for n in range(15)}
    rest = {"u3": had["u3"][::-1], **had, "elsewhere": ["i0"]}  # order and strangers don't matter
    same = pl.DataFrame([(u, i) for u, items in rest.items() for i in items * 2], orient="row")
    same.columns = ["user_id", "item_id"]
    fewer = {**had, "u3": ["i9"]}
    protocols = {}
    for name, train in {"a": had, "same": same, "fewer": fewer, "none": None}.items():
        found = evaluate(recs[len(protocols) % 2], TRUTH, ["ndcg@5"], train=train)
        found.save(tmp_path / f"{name}.parquet")
        protocols[name] = found.protocol_id
    assert protocols["a"] == protocols["same"]
    assert len(set(protocols.values())) == 3
    files = {name: tmp_path / f"{name}.parquet" for name in protocols}
    compare([files["a"], files["same"]])
    with pytest.raises(ProtocolError, match=r"different protocols: .*train: '[0-9a-f]{32}' and '"):
        compare([files["a"], files["fewer"]])
    with pytest.raises(ProtocolError, match="seen: 'removed' and 'kept'"):
        compare([files["a"], files["none"]])
    kept = [evaluate(recs[0], TRUTH, ["ndcg@5"], train=t, keep_seen=True) for t in (had, fewer)]
    assert {found.protocol_id for found in kept} == {protocols["none"]}  # nothing was removed


def test_systems_without_a_common_query_or_metric(tmp_path):
    one = saved(tmp_path / "a.parquet", [0.5, 0.5])
    evaluate({"x": ["a"]}, {"x": ["a"]}, ["ndcg@10"]).save(tmp_path / "b.parquet")
    with pytest.raises(DataError, match="share no query"):
        compare([one, tmp_path / "b.parquet"], force=True)
    other = saved(tmp_path / "c.parquet", [0.5, 0.5], metric="MRR@5")
    with pytest.raises(SpecError, match="no metric in common"):
        compare([one, other])
    with pytest.raises(SpecError, match=r"holds no MRR@5.*NDCG@10"):
        compare([one, one], metrics=["mrr@5"])


def test_labels_are_unique(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    a, b = saved(tmp_path / "x/s.parquet", FIVE), saved(tmp_path / "y/s.parquet", FIVE[::-1])
    found = compare([a, b, a])
    labels = [row["model"] for row in found.leaderboard]
    assert labels == [str(a), str(b), f"{a} (2)"]
    with pytest.raises(SpecError, match="2 labels for 3 systems"):
        compare([a, b, a], labels=["p", "q"])


def test_stores_are_compared_model_by_model(tmp_path):
    models = [{"name": "Popularity"}, {"name": "EASE", "settings": {"reg": 5.0}}]
    results = run_in(tmp_path / "a", model=models, tune=None, baseline="EASE")
    found = compare([tmp_path / "a" / "store"])
    assert {(t["model"], t["baseline"]) for t in found.tests} == {("Popularity", "EASE")}
    assert found.tests == paired_tests(results)
    assert {row["users"] for row in found.leaderboard} == {"all", "warm", "cold"}
    others = [{"name": "ItemKNN"}, {"name": "EASE", "settings": {"reg": 5.0}}]
    run_in(tmp_path / "b", model=others, tune=None)
    both = compare([tmp_path / "a" / "store", tmp_path / "b" / "store"], metrics=["ndcg@5"])
    assert {t["baseline"] for t in both.tests} == {f"{tmp_path / 'a' / 'store'}: EASE"}
    assert len({row["model"] for row in both.leaderboard}) == 4
    same = next(t for t in both.tests if t["model"].endswith("b/store: EASE"))
    assert (same["difference"], same["p"]) == (0.0, 1.0)
    run_in(tmp_path / "c", model=others, tune=None, ranking={"cold_users": "fallback"})
    with pytest.raises(ProtocolError, match=r"ranking\.cold_users: 'apart' and 'fallback'"):
        compare([tmp_path / "a" / "store", tmp_path / "c" / "store"])


def test_rating_metrics_of_stores_are_compared_by_row_as_in_a_run(tmp_path):
    models = [{"name": "Popularity"}, {"name": "BiasOnly"}, STIFF]
    metrics = ["ndcg@10", "rmse"]
    results = run_in(tmp_path / "a", model=models, tune=None, metrics=metrics)
    store = tmp_path / "a" / "store"
    found = compare([store])
    assert found.tests == paired_tests(results)
    assert found.leaderboard == leaderboard(results)
    assert found.warnings == ("RMSE: left out for Popularity, as no ratings are predicted there",)
    row = only(compare([store], metrics=["rmse"], users=()))
    assert (row["metric"], row["baseline"], row["scale"]) == ("RMSE", "BiasOnly", "loss per row")
    run_in(tmp_path / "b", model=models[:1], tune=None, metrics=metrics[:1])
    other = tmp_path / "b" / "store"
    with pytest.raises(SpecError, match=r"RMSE: left out, as no system here predicts ratings"):
        compare([other, other], metrics=["rmse"])
    both = compare([store, other], metrics=["mae", "mrr@5"])
    assert {row["metric"] for row in both.tests} == {"MAE", "MRR@5"}


def test_metrics_that_not_all_have_are_named(tmp_path):
    one = evaluate(lists(0), TRUTH, ["ndcg@5", "recall@3"])
    one.save(tmp_path / "a.parquet")
    evaluate(lists(1), TRUTH, ["ndcg@5"]).save(tmp_path / "b.parquet")
    found = compare([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert found.warnings == ("Recall@3: left out, as not every system has it",)


def test_a_data_set_of_a_store_with_several_is_chosen(tmp_path):
    store = tmp_path / "store"
    make_results(store, {"a": ranks_of(0.1, 30, 1), "b": ranks_of(0.3, 30, 2)}, data=("one", "two"))
    with pytest.raises(SpecError, match=r"2 data sets \(one, two\); name one with --data"):
        compare([store])
    with pytest.raises(SpecError, match=r"no data set 'tow'.*did you mean 'two'"):
        compare([store], data="tow")
    assert {row["data"] for row in compare([store], data="two").tests} == {"two"}


def test_seeds_are_averaged_query_by_query(tmp_path):
    run_in(tmp_path, model=[{"name": "Popularity"}, {"name": "Random"}], tune=None, seeds=[1, 2, 3])
    found = compare([tmp_path / "store"], metrics=["auc"])
    rows = [r for r in found.leaderboard if r["model"] == "Random" and r["users"] == "all"]
    assert [row["seed"] for row in rows] == [None, 1, 2, 3]
    values = [row["value"] for row in rows]
    assert values[0] == pytest.approx(np.mean(values[1:]))
    assert rows[0]["seed_spread"] == pytest.approx(np.std(values[1:], ddof=1))


def test_inputs_that_are_no_systems(tmp_path):
    a = saved(tmp_path / "a.parquet", FIVE)
    with pytest.raises(FullrankError, match=r"absent\.parquet"):
        compare([a, tmp_path / "absent.parquet"])
    with pytest.raises(SpecError, match="at least two systems"):
        compare([a])
    with pytest.raises(SpecError, match="--truth"):
        compare([lists(0), lists(1)], metrics=["ndcg@5"])
    with pytest.raises(SpecError, match="-m ndcg@10"):
        compare([lists(0), lists(1)], truth=TRUTH)
    with pytest.raises(SpecError, match="--keep-seen is for lists"):
        compare([a, a], keep_seen=True, train=None, columns={})
    with pytest.raises(SpecError, match="--truth is for lists"):
        compare([a, a], truth=TRUTH)
    assert compare([a, a], keep_seen=False, grade=None, columns={}).tests
    for option in ({"test": "anova"}, {"correction": "bonferroni"}, {"level": 2.0}):
        with pytest.raises(SpecError):
            compare([a, a], **option)


@pytest.mark.parametrize(
    ("text", "metric", "sign", "limit", "margin"),
    [
        ("ndcg@10 < baseline", "NDCG@10", "<", None, 0.0),
        ("  NDCG@10<BASELINE ", "NDCG@10", "<", None, 0.0),
        ("ndcg@10 < baseline - 0.01", "NDCG@10", "<", None, -0.01),
        ("meanrank > baseline + 5", "MeanRank", ">", None, 5.0),
        ("recall@20 < 0.3", "Recall@20", "<", 0.3, 0.0),
        ("recall@20 < .3", "Recall@20", "<", 0.3, 0.0),
        ("ndcg(gain=linear)@10 > 1e-3", "NDCG(gain=linear)@10", ">", 0.001, 0.0),
    ],
)
def test_the_grammar_of_conditions(text, metric, sign, limit, margin):
    found = Condition.parse(text)
    assert Condition.parse(str(found)) == found
    assert (str(found.metric), found.sign) == (metric, sign)
    assert (found.limit, found.margin) == (limit, margin)


@pytest.mark.parametrize(
    "text",
    ["", "ndcg@10", "ndcg@10 <= 0.3", "ndcg@10 < base", "ndcg@10 < baseline * 2", "< 0.3",
     "ndcg@10 < baseline - x", "nothing@10 < 0.3", "ndcg@10 < 0.3.1"],
)  # fmt: skip
def test_what_is_no_condition(text):
    with pytest.raises(SpecError):
        Condition.parse(text)


@pytest.fixture
def pair(tmp_path):
    """A baseline and a system that is worse by about 0.03, between -0.33 and 0.27."""
    rng = np.random.default_rng(0)
    base = 0.3 + 0.4 * rng.random(40)
    differences = -0.03 + 0.3 * rng.uniform(-1, 1, 40)
    a = saved(tmp_path / "a.parquet", base.tolist())
    b = saved(tmp_path / "b.parquet", (base + differences).tolist())
    found = compare([a, b])
    row = only(found)
    assert row["low"] < -0.02 > row["difference"]
    assert row["high"] > 0
    return found


@pytest.mark.parametrize(
    ("text", "interval", "value"),
    [
        ("ndcg@10 < baseline", False, True),
        ("ndcg@10 > baseline", False, False),
        ("ndcg@10 < baseline - 0.02", False, True),
        ("ndcg@10 < baseline - 0.5", False, False),
        ("ndcg@10 < baseline + 0.5", True, True),
        ("ndcg@10 > baseline - 0.5", True, True),
        ("ndcg@10 < 0.1", False, False),
        ("ndcg@10 < 0.9", True, True),
    ],
)
def test_a_condition_judges_the_interval_or_the_point(pair, text, interval, value):
    condition = Condition.parse(text)
    assert bool(condition.failures(pair)) is interval
    assert bool(condition.failures(pair, "interval")) is interval
    assert bool(condition.failures(pair, "value")) is value


def test_a_failure_says_its_numbers(pair):
    (text,) = Condition.parse("ndcg@10 < baseline").failures(pair, "value")
    row = only(pair)
    numbers = f"{row['difference']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"
    assert text == f"b: NDCG@10 difference against a is {numbers}, and < 0 was to fail"
    with pytest.raises(SpecError, match="MRR@5, which was not compared; add -m MRR@5"):
        Condition.parse("mrr@5 < baseline").failures(pair)


def test_lower_is_better_is_the_writers_to_say():
    recs = {"u": ["a", "b", "c"], "v": ["a", "b", "c"], "w": ["a", "b", "c"]}
    worse = {user: ["b", "c", "a"] for user in recs}
    frame = [
        pl.DataFrame(
            [(u, i, -float(n)) for u, items in part.items() for n, i in enumerate(items)],
            schema=["user_id", "item_id", "score"],
            orient="row",
        )
        for part in (recs, worse)
    ]
    truth = {user: ["a"] for user in recs}
    found = compare(frame, truth=truth, metrics=["meanrank"])
    row = only(found)
    assert row["higher_is_better"] is False
    assert row["difference"] == 2.0
    assert Condition.parse("meanrank > baseline").failures(found, "value")
    assert not Condition.parse("meanrank < baseline").failures(found, "value")
    assert not Condition.parse("meanrank > baseline + 2").failures(found, "value")


def test_an_undefined_metric_passes_no_check(tmp_path):
    truth = pl.DataFrame({"user_id": ["u", "v"], "item_id": ["a", "a"], "g": [1.0, 1.0]})
    two = [{"u": ["a"], "v": ["a"]}, {"u": ["b"], "v": ["a"]}]
    found = compare(two, truth=truth, metrics=["recall(rel=4)@2"], grade="g")
    assert only(found)["difference"] is None
    condition = Condition.parse("recall(rel=4)@2 < baseline")
    assert condition.failures(found)
    assert condition.not_judged(found) == []
    plain(found)
