"""``evaluate`` and ``compare``."""

import json

import numpy as np
import polars as pl
import pytest

from fullrank.experiment.evaluate import evaluate

SHAPE = {"value", "low", "high", "n_queries", "undefined", "best", "worst"}


@pytest.fixture
def score(cli, lists):
    def go(name, *more):
        recs, truth = lists / f"{name}.csv", lists / "truth.csv"
        return cli("evaluate", "--recs", recs, "--truth", truth, *more)

    return go


def test_evaluate_gives_the_shape_of_the_contract(score, lists):
    found = score("a", "-m", "ndcg@5", "-m", "recall@2,5", "--json").json()
    assert list(found["metrics"]) == ["NDCG@5", "Recall@2", "Recall@5"]
    assert all(set(entry) >= SHAPE for entry in found["metrics"].values())
    assert set(found) >= {"policies", "protocol", "provenance"}
    direct = evaluate(lists / "a.csv", lists / "truth.csv", ["ndcg@5", "recall@2,5"])
    for m in direct.measurements:
        assert found["metrics"][str(m.metric)]["value"] == m.estimate.value
        assert found["metrics"][str(m.metric)]["low"] == m.estimate.low


def test_evaluate_prints_values_counts_and_conventions(score):
    said = score("a", "-m", "ndcg@5")
    assert said.code == 0
    for text in ("NDCG@5", "95% interval", "30", "gain: 1 for every target", "rank column"):
        assert text in said.out
    assert "column 'rating'" in score("a", "-m", "ndcg@5", "--grade", "rating").out


def test_the_interval_of_each_metric_is_named_where_they_differ(cli, tmp_path):
    (tmp_path / "recs.csv").write_text("user_id,item_id\nu,a\nv,b\n")
    (tmp_path / "truth.csv").write_text("user_id,item_id,grade\nu,a,1\nu,b,1\nv,b,4\nv,c,1\n")
    files = ["--recs", tmp_path / "recs.csv", "--truth", tmp_path / "truth.csv"]
    said = cli("evaluate", *files, "-m", "mrr@1", "-m", "recall(rel=4)@1", "--grade", "grade")
    (line,) = [line for line in said.out.splitlines() if line.startswith("interval: ")]
    assert "interval: constant (MRR@1); none (Recall(rel=4)@1); protocol" in line
    same = cli("evaluate", *files, "-m", "mrr@1", "-m", "recall@1", "--grade", "grade").out
    assert "interval: " in same
    assert "(MRR@1)" not in same


def test_qrels_are_graded_by_definition(cli, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n")
    said = cli("evaluate", "--recs", tmp_path / "run", "--truth", tmp_path / "qrels", "-m", "mrr")
    assert "0.5000" in said.out
    assert "gain: relevance column of the qrels; order: rank column" in said.out


def test_reading_options_are_for_all_files_of_text(cli, tmp_path):
    rows = "nom;article\nRené;café\nRené;thé\n".encode("latin-1")
    (tmp_path / "recs.csv").write_bytes(rows)
    (tmp_path / "truth.csv").write_bytes(rows)
    (tmp_path / "plans.csv").write_bytes("nom;plan\nRené;a\n".encode("latin-1"))
    frame = pl.DataFrame({"nom": ["René", "René"], "article": ["café", "thé"]})
    frame.write_parquet(tmp_path / "recs.parquet")
    read = ["--read", "encoding=latin-1", "--read", "separator=';'", "--read", "format=delimited"]
    more = ["--columns", "user_id=nom,item_id=article", "-m", "mrr@2", "--json"]
    truth = ["--truth", tmp_path / "truth.csv"]
    by = ["--by", f"{tmp_path / 'plans.csv'}:plan"]
    for recs in ("recs.csv", "recs.parquet"):
        said = cli("evaluate", "--recs", tmp_path / recs, *truth, *by, *more, *read)
        assert said.code == 0, said.err
        assert set(said.json()["segments"]) == {"a"}
        assert said.json()["metrics"]["MRR@2"]["value"] == 1.0
    both = [tmp_path / "recs.csv", tmp_path / "recs.parquet"]
    assert cli("compare", *both, *truth, *more, *read).code == 0
    assert "not valid UTF-8" in cli("compare", *both, *truth, *more).err
    wrong = cli("evaluate", "--recs", tmp_path / "recs.csv", *truth, *more, "--read", "encding=x")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--read has no option 'encding'; did you mean 'encoding'" in wrong.err


def test_every_option_of_evaluate(score, lists):
    said = score(
        "a", "-m", "ndcg@5", "--train", lists / "train.csv", "--depth", "8", "--grade", "rating",
        "--by", f"{lists / 'users.csv'}:plan", "--per-query", lists / "out" / "a.parquet",
        "--dialects", "--level", "0.9", "--interval", "percentile", "--resamples", "200",
        "--seed", "3", "--columns", "user_id=user_id", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    found = said.json()
    assert set(found["segments"]) == {"free", "paid"}
    assert found["metrics"]["NDCG@5"]["level"] == 0.9
    assert "percentile" in found["metrics"]["NDCG@5"]["method"]
    assert found["policies"]["removed_seen"] > 0
    assert found["protocol_content"]["depth"] == 8
    assert {row["tool"] for row in found["dialects"]} >= {"trec"}
    assert pl.read_parquet(lists / "out" / "a.parquet").height == 30
    text = score(
        "a", "-m", "ndcg@5", "--by", f"{lists / 'users.csv'}:plan", "--dialects",
        "--train", lists / "train.csv", "--keep-seen",
    )  # fmt: skip
    assert "segment paid" in text.out
    assert "other tools" in text.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-m", "ndgc@5"], "did you mean 'ndcg'"),
        (["-m", "ndcg@9", "--depth", "8"], "depth"),
        (["-m", "ndcg@5", "--grade", "ratign"], "rating"),
        (["-m", "ndcg@5", "--by", "users.csv"], "--by takes FILE:COLUMN"),
        (["-m", "ndcg@5", "--by", "{}/users.csv:paln"], "did you mean 'plan'"),
        (["-m", "ndcg@5", "--columns", "user_id"], "role=name"),
        (["-m", "ndcg@5", "--columns", "user_id=uid"], "uid"),
        (["-m", "ndcg@5", "--interval", "best"], "best"),
        (["-m", "ndcg@5", "--resamples", "5"], "at least 100"),
        (["-m", "ndcg@5", "--level", "95"], "level"),
        (["-m", "ndcg@5", "--train", "{}/absent.csv"], "absent.csv"),
    ],
)
def test_options_that_evaluate_refuses(score, lists, more, message):
    said = score("a", *(text.format(lists) for text in more))
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.fixture
def saved(score, lists):
    """Per-query values of both systems, on disk."""
    for name in "ab":
        out = lists / f"{name}.parquet"
        assert score(name, "-m", "ndcg@5", "-m", "mrr@5", "--per-query", out).code == 0
    return lists / "a.parquet", lists / "b.parquet"


def test_compare_of_saved_values_and_of_lists_is_the_same(cli, lists, saved):
    files = cli("compare", *saved, "--json").json()
    direct = cli(
        "compare", lists / "a.csv", lists / "b.csv", "--truth", lists / "truth.csv",
        "-m", "ndcg@5", "-m", "mrr@5", "--json",
    ).json()  # fmt: skip
    assert files["tests"] == direct["tests"]
    assert set(files) == {
        "leaderboard", "tests", "protocol_differences", "other_protocol", "failures", "not_judged",
        "passed",
    }  # fmt: skip
    assert {"data", "model", "seed", "users", "metric", "value", "low", "high", "n_queries"} <= set(
        files["leaderboard"][0]
    )
    assert files["failures"] == []


def test_bounds_of_ties_are_saved_and_read_back(cli, score, lists):
    """What is saved compares as the lists do, ties included."""
    tied = pl.read_csv(lists / "a.csv").with_columns(score=(10 - pl.col("rank")) // 3).drop("rank")
    tied.write_csv(lists / "tied.csv")
    metrics = ["-m", "ndcg@5", "-m", "mrr@5"]
    for name in ("b", "tied"):
        out = lists / f"{name}.parquet"
        assert score(name, *metrics, "--per-query", out).code == 0
        assert score(name, *metrics, "--per-query", out.with_suffix(".csv.out.csv")).code == 0
    files = cli("compare", lists / "b.parquet", lists / "tied.parquet", "--json").json()
    direct = cli(
        "compare", lists / "b.csv", lists / "tied.csv", "--truth", lists / "truth.csv", *metrics,
        "--json",
    ).json()  # fmt: skip
    assert files == direct
    row = next(r for r in files["leaderboard"] if r["model"] == "tied")
    assert row["worst"] < row["value"] < row["best"]
    plain = ["user_id", "query_id", "NDCG@5", "MRR@5"]
    assert pl.read_parquet(lists / "b.parquet").columns == plain
    assert pl.read_parquet(lists / "tied.parquet").columns == [
        *plain[:3], "NDCG@5|best", "NDCG@5|worst", "MRR@5", "MRR@5|best", "MRR@5|worst"
    ]  # fmt: skip
    assert pl.read_csv(lists / "tied.csv.out.csv").columns == plain
    one = cli("compare", lists / "b.parquet", lists / "tied.parquet", "-m", "mrr@5")
    assert one.code == 0
    assert "|best" not in one.out
    unknown = cli("compare", lists / "b.parquet", lists / "tied.parquet", "-m", "recall@5")
    assert unknown.code == 2
    assert "|best" not in unknown.err


def test_compare_prints_differences_and_the_family(cli, saved):
    said = cli("compare", *saved)
    assert said.code == 0
    assert "b - a" in said.out
    assert "Holm over 2 comparisons (1 model against a, all metrics, all users, lists)" in said.out
    assert "test: paired t by user" in said.out
    assert "pairs: 30 queries of 30 users" in said.out
    assert "effect: Cohen's d_z" in said.out
    assert "BCa bootstrap by user, 10,000 resamples" in said.out
    assert "nan" not in said.out.lower()


def test_compare_with_itself_says_no_difference(cli, saved):
    """D10."""
    said = cli("compare", saved[0], saved[0])
    assert said.code == 0
    assert "1 (no difference)" in said.out
    assert "0.0000 [0.0000, 0.0000]" in said.out
    assert "nan" not in said.out.lower()
    found = cli("compare", saved[0], saved[0], "--json").json()
    assert [row["p"] for row in found["tests"]] == [1.0, 1.0]
    assert len({row["model"] for row in found["leaderboard"]}) == 2


def test_compare_of_one_user(cli, tmp_path):
    for name, item in (("a", 1), ("b", 2)):
        pl.DataFrame({"user_id": [1], "item_id": [item]}).write_csv(tmp_path / f"{name}.csv")
    files = [tmp_path / "a.csv", tmp_path / "b.csv", "--truth", tmp_path / "a.csv", "-m", "mrr@2"]
    said = cli("compare", *files)
    assert said.code == 0
    assert "nan" not in said.out.lower()
    assert "-1.0000 [no interval]" in said.out
    judged = cli("compare", *files, "--json", "--fail-if", "mrr@2 < baseline")
    assert judged.code == 0  # one user's difference is no evidence
    assert judged.json()["failures"] == []
    (text,) = judged.json()["not_judged"]
    assert "b: 'MRR@2 < baseline' is not judged: no interval (users: 1)" in text
    assert f"fullrank: warning: {text}\n" in judged.err
    assert judged.json()["passed"] == []
    assert "not judged" in cli("compare", *files, "--fail-if", "mrr@2 < 0.5").err
    point = cli("compare", *files, "--json", "--fail-if", "mrr@2 < baseline", "--on", "value")
    assert (point.code, point.json()["not_judged"]) == (1, [])


@pytest.mark.parametrize(
    ("conditions", "on", "code"),
    [
        (["ndcg@5 < baseline - 0.9"], "interval", 0),
        (["ndcg@5 < baseline + 0.9"], "interval", 1),
        (["ndcg@5 < baseline + 0.9"], "value", 1),
        (["ndcg@5 > 0.99", "mrr@5 < 0.001"], "interval", 0),
        (["ndcg@5 > 0.99", "mrr@5 > 0.001"], "interval", 1),
    ],
)
def test_fail_if_is_exit_1_with_the_numbers(cli, saved, conditions, on, code):
    options = [part for text in conditions for part in ("--fail-if", text)]
    said = cli("compare", *saved, *options, "--on", on)
    assert said.code == code
    assert bool(said.err) is bool(code)
    assert "b - a" in said.out
    found = cli("compare", *saved, *options, "--on", on, "--json")
    assert found.code == code
    assert bool(found.json()["failures"]) is bool(code)
    if code:
        assert "was to fail" in said.err
    told = [line for line in said.out.splitlines() if line.startswith("passed: ")]
    assert found.json()["passed"] == told
    if not code:
        assert len(told) == len(conditions)
        how = {"interval": "the whole interval", "value": "the point"}[on]
        assert f", judged by {how}, holds for none of: " in told[0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--fail-if", "ndcg@5 <= 0.1"], "can't read the condition"),
        (["--fail-if", "recall@5 < 0.1"], "Recall@5, which was not compared"),
        (["--test", "anova"], "anova"),
        (["--correction", "bonferroni"], "bonferroni"),
        (["--baseline", "c"], "no system 'c'"),
        (["--on", "points"], "points"),
        (["-m", "recall@5"], "holds no Recall@5"),
    ],
)
def test_options_that_compare_refuses(cli, saved, more, message):
    said = cli("compare", *saved, *more)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


def test_other_protocols_need_force_and_say_what_differs(cli, score, lists, saved):
    other = lists / "c.parquet"
    assert score("b", "-m", "ndcg@5", "--depth", "8", "--per-query", other).code == 0
    said = cli("compare", saved[0], other)
    assert said.code == 2
    assert "depth: None and 8" in said.err
    forced = cli("compare", saved[0], other, "--force", "--json")
    assert forced.code == 0
    assert "fullrank: warning: protocols differ in depth: None and 8" in forced.err
    assert forced.json()["protocol_differences"] == ["depth: None and 8"]
    assert forced.json()["other_protocol"] == ["c"]
    table = cli("compare", saved[0], other, "--force").out
    assert "c † - a" in table
    assert "† another protocol: only the 30 queries that all share" in table


def test_a_store_is_compared_model_by_model(cli, tmp_path):
    from tests.experiment.worlds import run_in

    models = [{"name": "Popularity"}, {"name": "Random"}]
    run_in(tmp_path, model=models, tune=None)
    said = cli("compare", tmp_path / "store", "--fail-if", "ndcg@10 < baseline", "--json")
    found = said.json()
    assert {row["model"] for row in found["tests"]} == {"Random"}
    assert said.code == (1 if found["failures"] else 0)
    assert json.loads(said.out)["failures"] == found["failures"]
    assert {row["users"] for row in found["leaderboard"] + found["tests"]} == {"all"}
    cold = cli("compare", tmp_path / "store", "--users", "cold", "--json").json()
    assert {row["users"] for row in cold["leaderboard"] + cold["tests"]} == {"all", "cold"}
    unknown = cli("compare", tmp_path / "store", "--users", "cool")
    assert (unknown.code, "did you mean 'cold'" in unknown.err) == (2, True)


def test_how_differences_are_resampled(cli, saved):
    options = ["--interval", "percentile", "--resamples", "500", "--seed"]
    first, again, other = (
        cli("compare", *saved, *options, seed, "--json").json()["tests"] for seed in (1, 1, 2)
    )
    assert first == again
    assert first[0]["low"] != other[0]["low"]
    assert "percentile bootstrap by user, 500 resamples" in first[0]["method"]
    said = cli("compare", *saved, "--users", "cold")
    assert (said.code, "no cold users" in said.err) == (2, True)
    said = cli("compare", *saved, "--data", "x")
    assert (said.code, "there is no store here" in said.err) == (2, True)


@pytest.fixture
def tied(tmp_path):
    """Two users: one with a tie at the top, one whose truth was had before."""
    recs = {"user_id": ["u", "u", "v"], "item_id": ["a", "b", "a"], "score": [0.5, 0.5, 0.1]}
    pl.DataFrame(recs).write_csv(tmp_path / "tied.csv")
    pl.DataFrame({"user_id": ["u", "v"], "item_id": ["a", "b"]}).write_csv(tmp_path / "truth.csv")
    return ["--recs", tmp_path / "tied.csv", "--truth", tmp_path / "truth.csv"]


def test_dialects_of_equal_scores(cli, tied):
    said = cli("evaluate", *tied, "-m", "recall@1", "-m", "ndcg@5", "--dialects", "--json")
    assert said.code == 0, said.err
    rows = {(row["metric"], row["tool"]): row for row in said.json()["dialects"]}
    assert rows["Recall@1", "fullrank"]["value"] == 0.25
    assert rows["NDCG@5", "sklearn"]["value"] == pytest.approx((1 + 1 / np.log2(3)) / 4)
    trec = rows["Recall@1", "trec"]
    assert trec["value"] is None
    assert "by document id" in trec["why"]
    text = cli("evaluate", *tied, "-m", "recall@1", "--dialects")
    assert text.code == 0
    assert "by document id" in text.out
    assert "nan" not in text.out.lower()
    refused = cli("evaluate", *tied, "-m", "recall(dialect=trec)@1", "--json")
    assert (refused.code, refused.out) == (2, "")
    assert "give a rank column" in refused.err


def test_what_json_cannot_hold_leaves_nothing_on_stdout(capsys):
    from fullrank.cli._output import print_json

    with pytest.raises(ValueError, match="JSON"):
        print_json({"fine": 1, "value": float("nan")})
    assert capsys.readouterr().out == ""


def test_large_integer_ids_on_one_side(cli, tmp_path):
    pl.DataFrame({"user_id": [1, 1], "item_id": [3, 4]}).write_csv(tmp_path / "recs.csv")
    (tmp_path / "truth.csv").write_text(f"user_id,item_id\n1,3\n1,{2**64 - 1}\n")
    files = ["--recs", tmp_path / "recs.csv", "--truth", tmp_path / "truth.csv"]
    assert cli("evaluate", *files, "-m", "recall@2", "--json").json()["metrics"]["Recall@2"][
        "value"
    ] == 0.5  # fmt: skip
    pl.DataFrame({"user_id": [1, 1], "item_id": [-3, 4]}).write_csv(tmp_path / "recs.csv")
    said = cli("evaluate", *files, "-m", "recall@2", "--json")
    assert (said.code, said.out) == (2, "")
    assert "put a letter before each" in said.err


def test_large_ids_of_segments(cli, tmp_path):
    large = 2**63 + 5
    (tmp_path / "recs.csv").write_text(f"user_id,item_id\n{large},3\n7,4\n")
    (tmp_path / "plans.csv").write_text(f"user_id,plan\n{large},a\n7,b\n")
    said = cli(
        "evaluate", "--recs", tmp_path / "recs.csv", "--truth", tmp_path / "recs.csv",
        "-m", "recall@2", "--by", f"{tmp_path / 'plans.csv'}:plan", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert set(said.json()["segments"]) == {"a", "b"}


def test_text_ids_of_a_typed_table_of_segments_stay_text(cli, tmp_path):
    pl.DataFrame({"user_id": ["1", "2"], "item_id": [3, 4]}).write_parquet(tmp_path / "r.parquet")
    pl.DataFrame({"user_id": ["1", "2"], "plan": ["a", "b"]}).write_parquet(tmp_path / "p.parquet")
    said = cli(
        "evaluate", "--recs", tmp_path / "r.parquet", "--truth", tmp_path / "r.parquet",
        "-m", "recall@2", "--by", f"{tmp_path / 'p.parquet'}:plan", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert set(said.json()["segments"]) == {"a", "b"}


def test_labels_with_line_breaks_are_shown_on_one_line(cli, score, lists):
    users = pl.DataFrame({"user_id": list(range(1, 31)), "plan": ["a\nb", "[red]c", "d\x1b"] * 10})
    users.write_parquet(lists / "users.parquet")
    said = score("a", "-m", "ndcg@5", "--by", f"{lists / 'users.parquet'}:plan")
    titles = [line for line in said.out.splitlines() if line.startswith("segment")]
    assert sorted(titles) == ["segment [red]c", "segment a\\nb", "segment d\\x1b"]
    for name in ("x\ny", "z"):
        assert score("a", "-m", "ndcg@5", "--per-query", lists / f"{name}.parquet").code == 0
    found = cli("compare", lists / "z.parquet", lists / "x\ny.parquet", "--fail-if", "ndcg@5 < 9")
    assert "x\\ny - z" in found.out
    family = cli("compare", lists / "x\ny.parquet", lists / "z.parquet").out.splitlines()[-1]
    assert "1 model against x\\ny, all metrics" in family
    assert found.code == 1
    assert found.err.count("\n") == 1
