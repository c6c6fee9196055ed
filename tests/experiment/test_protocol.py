"""Clauses of the protocol: cold users, grades, catalogues, repeats, folds, ratings, filters."""

from math import comb

import numpy as np
import polars as pl
import pytest
from tests.experiment.worlds import bench, log, run_in

from fullrank.core.errors import DataError, FullrankError
from fullrank.experiment.bench import make_folds
from fullrank.experiment.leaderboard import entries, leaderboard, paired_tests
from fullrank.experiment.run import run
from fullrank.experiment.spec import read_spec
from fullrank.metrics import NDCG, RMSE, parse
from fullrank.report._protocol import split_terms

PLAIN = [{"name": "Popularity"}, {"name": "EASE", "settings": {"reg": 5.0}}]
FIXED = {"model": PLAIN, "tune": None}


def row(rows, **wanted):
    found = [r for r in rows if all(r[key] == value for key, value in wanted.items())]
    assert len(found) == 1, (wanted, len(found))
    return found[0]


def cell(results, model, data="small"):
    return results.of(data, model)[0]


def fold_of(folder):
    return make_folds(*read_spec(folder / "bench.toml"))[0]


def cold_ids(folder):
    """Users of the test without a row before it, from the plain table."""
    fold = fold_of(folder)
    known = set(fold.test_fit_rows.users.tolist())
    return {str(fold.split.data.user_vocab.ids[u]) for u in fold.split.test.users if u not in known}


def per_user(results, model, metric="ndcg@10"):
    found = cell(results, model)
    values = parse(metric).per_query(found.ranked)
    return dict(zip(found.queries["user_id"].to_list(), values.tolist()))


def test_cold_users_are_counted_and_shown_apart(tmp_path):
    results = run_in(tmp_path, **FIXED)
    cold = cold_ids(tmp_path)
    values = per_user(results, "EASE")
    assert 3 < len(cold) < len(values) - 3
    rows = leaderboard(results)
    found = {
        users: row(rows, model="EASE", users=users, metric="NDCG@10", seed=None)
        for users in ("all", "warm", "cold")
    }
    assert found["cold"]["n_users"] == len(cold)
    assert found["cold"]["value"] == pytest.approx(np.mean([values[u] for u in cold]))
    assert found["warm"]["value"] == pytest.approx(
        np.mean([v for u, v in values.items() if u not in cold])
    )
    assert found["all"]["value"] == pytest.approx(np.mean(list(values.values())))
    assert found["all"]["n_queries"] == len(values)
    tests = paired_tests(results)
    assert {test["users"] for test in tests} == {"all", "warm", "cold"}
    assert cell(results, "EASE").about["card"]["test"]["fit"]["train+valid"]["cold_users"] == len(
        cold
    )


def test_fallback_ranks_cold_users_by_popularity_and_nobody_else(tmp_path):
    apart = run_in(tmp_path / "apart", **FIXED)
    fallback = run_in(tmp_path / "fallback", **FIXED, ranking={"cold_users": "fallback"})
    cold = cold_ids(tmp_path / "apart")
    before, after = per_user(apart, "EASE"), per_user(fallback, "EASE")
    popular = per_user(apart, "Popularity")
    assert list(before) == list(after)
    assert {u: v for u, v in after.items() if u in cold} == {u: popular[u] for u in cold}
    assert all(after[u] == before[u] for u in before if u not in cold)
    assert any(after[u] != before[u] for u in cold)
    assert per_user(fallback, "Popularity") == popular
    counts = cell(fallback, "EASE").about["counts"]
    assert counts["cold_by_popularity"] == len(cold)
    others = cell(apart, "EASE").about["counts"]
    assert {k: v for k, v in counts.items() if k in others} == others


def test_cold_users_can_be_left_out_of_all_and_are_counted(tmp_path):
    results = run_in(tmp_path, **FIXED, ranking={"cold_users": "out"})
    cold = cold_ids(tmp_path)
    for model in ("Popularity", "EASE"):
        found = cell(results, model)
        assert not set(found.queries["user_id"]) & cold
        assert found.about["counts"]["cold_queries_left_out"] == len(cold)
    assert {r["users"] for r in leaderboard(results)} == {"all"}


def test_policies_make_different_protocols(tmp_path):
    found = set()
    for cold in ("apart", "fallback", "out"):
        results = run_in(tmp_path / cold, **FIXED, ranking={"cold_users": cold})
        found.update(results.protocol_ids("small"))
    assert len(found) == 3


def test_random_is_at_chance_level(tmp_path):
    """Recall@k = k / n, hit rate from the hypergeometric, MRR@1 = targets / n, per query."""
    results = run_in(
        tmp_path,
        model=[{"name": "Random"}],
        tune=None,
        seeds=list(range(1, 41)),
        metrics=["recall@5", "hitrate@5", "mrr@1", "auc"],
        ranking={"catalogue": "all"},
    )
    found = cell(results, "Random").ranked
    n, t = found.n_candidates.astype(int), np.diff(found.indptr).astype(int)
    chance = {
        "Recall@5": 5 / n,
        "HitRate@5": np.array([1 - comb(a - b, 5) / comb(a, 5) for a, b in zip(n, t)]),
        "MRR@1": t / n,
        "AUC": np.full(len(n), 0.5),
    }
    (entry,) = entries(results)
    for metric, expected in chance.items():
        got = row(leaderboard(results), metric=metric, users="all", seed=None)
        assert got["low"] <= expected.mean() <= got["high"]
        assert (got["seeds"], got["seed_spread"] > 0) == (40, True)
        rest = entry.averaged[parse(metric)].per_query - expected
        assert abs(rest.mean()) < 3.3 * rest.std(ddof=1) / np.sqrt(len(rest))
        assert rest.std(ddof=1) < 0.1


def test_grades_are_taken_from_the_named_column_only(tmp_path):
    plain = run_in(tmp_path / "plain", **FIXED, metrics=["ndcg@10"])
    graded = run_in(
        tmp_path / "graded",
        **FIXED,
        metrics=["ndcg@10", "recall(rel=4)@5"],
        data=[{"name": "small", "path": "log.csv", "grade": "rating"}],
    )
    assert set(cell(plain, "EASE").ranked.gains) == {1.0}
    found = cell(graded, "EASE").ranked
    truth = {(u, i): r for u, i, r, _ in log().iter_rows()}
    users = found.user_ids[np.repeat(np.arange(len(found)), np.diff(found.indptr))]
    items = found.item_vocab.ids[found.items]
    assert [truth[u, i] for u, i in zip(users, items)] == found.gains.tolist()
    assert NDCG.value(found) != NDCG.value(cell(plain, "EASE").ranked)
    assert graded.protocol_ids("small") != plain.protocol_ids("small")


def test_an_unknown_grade_column_is_said_before_any_fit(tmp_path):
    data = [{"name": "small", "path": "log.csv", "grade": "ratign"}]
    with pytest.raises(FullrankError, match="ratign"):
        run(bench(tmp_path, **FIXED, data=data), tmp_path / "store")
    assert not list(tmp_path.glob("store/cells/*"))


def test_a_catalogue_from_a_file(tmp_path):
    path = bench(tmp_path, **FIXED, ranking={"catalogue": "shop.csv"})
    pl.DataFrame({"item_id": [*range(100, 118), 999]}).write_csv(tmp_path / "shop.csv")
    results = run(path, tmp_path / "store")
    found = cell(results, "EASE")
    assert found.about["counts"]["catalogue_items"] == 18
    assert found.about["counts"]["unknown_catalogue_items"] == 1
    ranked = found.ranked
    outside = ranked.item_vocab.ids[ranked.items] >= 118
    assert outside.any()
    assert (~outside).any()
    assert np.array_equal(outside, ~ranked.ranked)
    assert ranked.n_candidates.max() <= 18
    assert found.about["counts"]["unranked_targets"] == outside.sum()
    before = results.protocol_ids("small")
    pl.DataFrame({"item_id": list(range(100, 117))}).write_csv(tmp_path / "shop.csv")
    again = run(path, tmp_path / "store")
    assert again.protocol_ids("small") != before  # an edited file is another protocol
    assert again.fresh == 2


def test_fit_and_all_are_different_catalogues(tmp_path):
    path = bench(tmp_path, **FIXED)
    late = pl.DataFrame({"user_id": ["u00"], "item_id": [777], "rating": [5], "timestamp": [9**9]})
    pl.concat([log(), late]).write_csv(tmp_path / "log.csv")
    fit = cell(run(path, tmp_path / "fit"), "EASE")
    bench(tmp_path, **FIXED, ranking={"catalogue": "all"})
    everything = cell(run(path, tmp_path / "all"), "EASE")
    assert fit.about["counts"]["catalogue_items"] == 36
    assert everything.about["counts"]["catalogue_items"] == 37
    place = fit.ranked.item_vocab.ids[fit.ranked.items] == 777
    assert fit.ranked.ranked[place].tolist() == [False]
    assert everything.ranked.ranked[place].tolist() == [True]
    items = fit.table("items")
    assert items.filter(pl.col("item_id") == 777)["rows"].to_list() == [0]  # a cold item


def test_users_may_only_get_what_they_are_eligible_for(tmp_path):
    path = bench(tmp_path, **FIXED, ranking={"eligible": "stock.csv"})
    users = sorted(set(log()["user_id"]))
    pairs = [(u, 100 + j) for n, u in enumerate(users) for j in range(36) if (j + n) % 2]
    pl.DataFrame(pairs, schema=["user_id", "item_id"], orient="row").write_csv(
        tmp_path / "stock.csv"
    )
    ranked = cell(run(path, tmp_path / "store"), "EASE").ranked
    owners = ranked.user_ids[np.repeat(np.arange(len(ranked)), np.diff(ranked.indptr))]
    allowed = [(u, i) in set(pairs) for u, i in zip(owners, ranked.item_vocab.ids[ranked.items])]
    assert ranked.ranked.tolist() == allowed
    assert 0 < sum(allowed) < len(allowed)
    assert ranked.n_candidates.max() <= 18
    pl.DataFrame(pairs[:18], schema=["user_id", "item_id"], orient="row").write_csv(
        tmp_path / "stock.csv"
    )
    with pytest.raises(DataError, match=r"no eligible item \(first: 'u\d\d'\)"):
        run(path, tmp_path / "store")


def repeated_log():
    """Each user's first four rows come again at their end."""
    frame = log().sort("user_id", "timestamp")
    again = frame.group_by("user_id", maintain_order=True).head(4)
    return pl.concat([frame, again.with_columns(timestamp=pl.lit(1001 * 86_400, pl.Int64))])


@pytest.mark.parametrize("repeats", ["drop", "keep"])
def test_repeats_are_dropped_or_evaluated(tmp_path, repeats):
    split = {"strategy": "LeaveLast", "n": 4, "valid": 1, "repeats": repeats}
    path = bench(tmp_path, **FIXED, split=split)
    repeated_log().write_csv(tmp_path / "log.csv")
    if repeats == "drop":
        with pytest.raises(FullrankError, match="keep"):  # nothing is left to evaluate
            run(path, tmp_path / "store")
        return
    found = cell(run(path, tmp_path / "store"), "EASE")
    assert found.about["counts"]["repeated_targets"] == len(found.ranked.items)
    assert found.ranked.ranked.all()
    assert set(found.ranked.n_candidates) == {found.about["counts"]["catalogue_items"]}
    assert found.about["protocol"]["queries"]["repeats"] == "keep"


def test_several_data_sets_get_a_leaderboard_each(tmp_path):
    data = [{"name": "small", "path": "log.csv"}, {"name": "other", "path": "other.csv"}]
    path = bench(tmp_path, **FIXED, data=data)
    log(seed=9).write_csv(tmp_path / "other.csv")
    results = run(path, tmp_path / "store")
    assert results.data == ("small", "other")
    rows = leaderboard(results)
    values = {
        name: row(rows, data=name, model="EASE", users="all", metric="NDCG@10")["value"]
        for name in results.data
    }
    assert values["small"] != values["other"]
    assert {test["data"] for test in paired_tests(results)} == {"small", "other"}
    families = {test["family"] for test in paired_tests(results) if test["users"] == "all"}
    assert len(families) == 2


@pytest.mark.parametrize(
    "split",
    [
        {"strategy": "KFold", "k": 3, "valid": 0.2},
        {"strategy": "SlidingWindow", "folds": 3, "train": 0.4, "test": 0.15, "valid": 0.1},
        {"strategy": "ExpandingWindow", "folds": 2, "test": 0.15, "valid": 0.1},
    ],
)
def test_folds_are_pooled_query_by_query(tmp_path, split):
    results = run_in(tmp_path, split=split, seeds=[1])
    folds = make_folds(*read_spec(tmp_path / "bench.toml"))
    assert len(folds) == split.get("k", split.get("folds"))
    cells = results.of("small", "EASE")
    assert [c.about["fold"] for c in cells] == list(range(len(folds)))
    assert len({c.about["protocol_id"] for c in cells}) == len(folds)
    assert len({c.about["tuning"]["key"] for c in cells}) == len(folds)
    values = np.concatenate([(NDCG @ 10).per_query(c.ranked) for c in cells])
    users = np.concatenate([c.queries["user_id"].to_numpy() for c in cells])
    got = row(leaderboard(results), model="EASE", users="all", metric="NDCG@10")
    assert got["value"] == pytest.approx(np.nanmean(values))
    assert got["n_queries"] + got["undefined"] == len(values)
    assert got["n_users"] == len(set(users[~np.isnan(values)]))  # the unit of resampling
    if split["strategy"] == "KFold":
        assert sum(len(c.ranked.items) for c in cells) == len(log())


def test_rating_metrics_stand_beside_ranking_metrics(tmp_path):
    stiff = {"reg_user": 1000.0, "reg_item": 1000.0}
    models = [
        {"name": "BiasOnly"},
        {"name": "BiasOnly", "label": "stiff", "settings": stiff},
        {"name": "Popularity"},
    ]
    results = run_in(tmp_path, model=models, tune=None, metrics=["rmse", "ndcg@10", "mae"])
    found = cell(results, "BiasOnly").predictions
    errors = found.predicted - found.observed
    rows = leaderboard(results)
    rmse = row(rows, model="BiasOnly", users="all", metric="RMSE")
    assert rmse["value"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert rmse["value"] == pytest.approx(RMSE.value(found))
    assert rmse["low"] < rmse["value"] < rmse["high"]
    assert rmse["n_queries"] == len(errors) == fold_of(tmp_path).split.counts["test"]
    mae = row(rows, model="BiasOnly", users="all", metric="MAE")
    assert mae["value"] == pytest.approx(np.mean(np.abs(errors)))
    assert not [r for r in rows if r["model"] == "Popularity" and r["metric"] == "RMSE"]
    assert row(rows, model="Popularity", users="all", metric="NDCG@10")
    truth = {(u, i): float(r) for u, i, r, _ in log().iter_rows()}
    table = cell(results, "BiasOnly").table("predictions")
    assert all(truth[u, i] == o for u, i, _, o in table.iter_rows())
    tests = {(t["model"], t["metric"]): t for t in paired_tests(results) if t["users"] == "all"}
    assert set(tests) == {
        ("stiff", "RMSE"), ("stiff", "MAE"), ("stiff", "NDCG@10"), ("Popularity", "NDCG@10")
    }  # fmt: skip
    stiff = cell(results, "stiff").predictions
    found = tests["stiff", "RMSE"]
    loss = np.mean((stiff.predicted - stiff.observed) ** 2 - errors**2)
    assert found["difference"] == pytest.approx(loss)
    assert found["higher_is_better"] is False
    assert found["scale"] == "loss per row"


def test_filters_before_the_split_and_on_training_rows(tmp_path):
    plain = run_in(tmp_path / "plain", **FIXED)
    filters = {"before": [{"binarise": {"at": 4}}], "train": [{"activity": {"min_user": 5}}]}
    results = run_in(tmp_path / "filtered", **FIXED, filters=filters)
    about = cell(results, "EASE").about
    assert about["protocol"]["filters"]["before"] == filters["before"]
    fold = fold_of(tmp_path / "filtered")
    assert len(fold.split.data) == (log()["rating"] >= 4).sum()
    counts = np.bincount(fold.test_fit_rows.users)
    assert counts[counts > 0].min() >= 5
    assert about["fitted_rows"] == len(fold.test_fit_rows) < fold.split.counts["train"] + 300
    assert results.protocol_ids("small") != plain.protocol_ids("small")
    unfiltered = run_in(tmp_path / "before", **FIXED, filters={"before": filters["before"]})
    test_rows = [cell(r, "EASE").about["card"]["parts"]["test"] for r in (results, unfiltered)]
    assert test_rows[0] == test_rows[1]  # what is evaluated stays as it was


def test_the_seed_of_filters_draws_the_sample(tmp_path):
    def users(name, **filters):
        path = bench(tmp_path / name, **FIXED, filters=filters)
        (fold,) = make_folds(*read_spec(path))
        return set(fold.split.data.user_vocab.ids)

    sample = [{"users": {"share": 0.5}}]
    one = users("a", before=sample, seed=1)
    assert len(one) == 24
    assert users("b", before=sample, seed=1) == one
    assert users("c", before=sample, seed=2) != one


def test_unseen_users_have_a_history_and_are_not_cold(tmp_path):
    split = {"strategy": "UnseenUsers", "test": 0.3, "valid": 0.2, "fold_in": 0.5}
    results = run_in(tmp_path, **FIXED, split=split)
    assert {r["users"] for r in leaderboard(results)} == {"all"}
    fold = fold_of(tmp_path)
    assert not set(fold.test_fit_rows.users) & set(fold.test_queries.users)
    assert (fold.test_queries.history_counts > 0).all()
    card = cell(results, "EASE").about["card"]["test"]["fit"]["train+valid"]
    assert (card["cold_users"], card["users_not_fitted"]) == (0, len(fold.test_queries))
    terms = dict(split_terms(results, "small"))
    assert terms["Cold in the test"].startswith("0 users (0 rows) without a history")
    assert terms["Folded in"].startswith(f"{len(fold.test_queries)} users")


def test_a_benchmark_without_times_or_values(tmp_path):
    path = bench(tmp_path, **FIXED, split={"strategy": "LeaveRandom", "valid": 0})
    log().select("user_id", "item_id").write_csv(tmp_path / "log.csv")
    results = run(path, tmp_path / "store")
    assert cell(results, "EASE").about["protocol"]["queries"]["history"] == "train"
    assert len(cell(results, "EASE").ranked) == 48


def test_bundled_data_can_be_named(tmp_path):
    filters = {"before": [{"users": {"n": 300}}]}
    results = run_in(tmp_path, **FIXED, data=[{"name": "online-retail"}], filters=filters)
    assert "CC BY" in results.cells[0].about["source"]["licence"]
    assert results.cells[0].about["source"]["citation"]


def test_one_file_under_two_names_is_two_data_sets(tmp_path):
    data = [{"name": name, "path": "log.csv"} for name in ("first", "second")]
    results = run_in(tmp_path, **FIXED, data=data)
    assert results.data == ("first", "second")
    assert results.protocol_ids("first") == results.protocol_ids("second")
    rows = [row for row in leaderboard(results) if row["seed"] is None]
    values = {name: [r["value"] for r in rows if r["data"] == name] for name in results.data}
    assert values["first"] == values["second"]
