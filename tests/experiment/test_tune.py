"""Settings are chosen on validation only, within one budget that is never started afresh."""

import json

import numpy as np
import pytest
from tests.experiment.worlds import bench, log, run_in, spec

from fullrank.core.errors import DataError, FullrankError, SpecError, SplitError
from fullrank.experiment.bench import make_folds
from fullrank.experiment.results import Results
from fullrank.experiment.run import run
from fullrank.experiment.tune import Search
from fullrank.metrics import MRR, NDCG, Recall
from fullrank.models import EASE
from fullrank.rank import rank

REG = {"reg": {"low": 0.1, "high": 1000.0, "log": True}}
SPIES = "tests.experiment.spies"


def ease(**tune):
    return {
        "model": [{"name": "Popularity"}, {"name": "EASE", "search": REG}],
        "tune": {"metric": "ndcg@10", **tune},
    }


def tuning(results, model="EASE"):
    return next(cell.about["tuning"] for cell in results.cells if cell.about["model"] == model)


def trials(folder):
    found = sorted((folder / "store").glob("tune/*/trial-*.json"))
    return [json.loads(path.read_text()) for path in found]


def test_the_first_trial_has_the_models_defaults_so_that_no_budget_ends_below_them(tmp_path):
    run_in(tmp_path / "a", **ease(trials=2))
    first, second = trials(tmp_path / "a")
    assert first["settings"] == {"reg": EASE().reg}
    assert second["settings"] != first["settings"]
    run_in(tmp_path / "b", **ease(trials=2, first="drawn"))
    assert trials(tmp_path / "b")[0]["settings"] != first["settings"]
    assert trials(tmp_path / "b")[1]["settings"] != first["settings"]


def test_the_budget_is_of_the_study(tmp_path, capsys):
    """D13: 6 trials asked for, stopped after 3, the same command again, and once more; then 8."""
    path = bench(tmp_path, **ease(trials=6))

    class StopError(Exception):
        pass

    def stop(step):
        if step.fresh == 3:
            raise StopError

    with pytest.raises(StopError):
        run(path, tmp_path / "store", progress=stop)
    three = trials(tmp_path)
    assert len(three) == 2  # Popularity's cell is the first of the three steps
    assert run(path, tmp_path / "store").fresh == 5
    six = trials(tmp_path)
    assert [trial["number"] for trial in six] == [0, 1, 2, 3, 4, 5]
    assert six[:2] == three
    assert run(path, tmp_path / "store").fresh == 0
    assert trials(tmp_path) == six
    raised = run(bench(tmp_path, **ease(trials=8)), tmp_path / "store")
    assert trials(tmp_path)[:6] == six
    assert len(trials(tmp_path)) == 8
    assert tuning(raised)["trials"] == 8
    assert raised.fresh in (2, 3)  # a cell more where the new trials won
    assert tuning(run(bench(tmp_path, **ease(trials=6)), tmp_path / "store"))["trials"] == 6
    drawn = [trial["settings"]["reg"] for trial in trials(tmp_path)]
    assert len(set(drawn)) == 8


def test_raising_the_budget_equals_having_asked_for_it(tmp_path):
    run_in(tmp_path / "a", **ease(trials=3))
    late = run_in(tmp_path / "a", **ease(trials=12))
    early = run_in(tmp_path / "b", **ease(trials=12))
    strip = ("number", "settings", "value", "error")
    assert [[t[k] for k in strip] for t in trials(tmp_path / "a")] == [
        [t[k] for k in strip] for t in trials(tmp_path / "b")
    ]
    assert [c.folder.name for c in late.cells] == [c.folder.name for c in early.cells]


def test_settings_are_chosen_by_their_value_on_warm_validation_users(tmp_path):
    results = run_in(tmp_path, **ease(trials=5))
    (fold,) = make_folds(spec(**ease(trials=5)), tmp_path)
    split = fold.split
    queries = split.queries("valid", fit="train")
    warm = queries[queries.history_counts > 0]
    assert 0 < len(warm) < len(queries)
    for trial in trials(tmp_path):
        model = EASE(**trial["settings"]).fit(split.train)
        ranked = rank(model, warm, catalogue=split.train.item_counts > 0).targets
        assert trial["value"] == (NDCG @ 10).value(ranked)
    best = max(trials(tmp_path), key=lambda trial: trial["value"])
    cell = results.of("small", "EASE")[0]
    assert cell.about["settings"] == best["settings"]
    assert tuning(results) | {"seconds": 0, "key": ""} == {
        "key": "",
        "trials": 5,
        "failed": 0,
        "pruned": 0,
        "best": best["number"],
        "value": best["value"],
        "seconds": 0,
    }
    assert fold.valid_queries.counts["cold_queries_left_out"] == len(queries) - len(warm)


def test_all_validation_users_can_be_chosen_by(tmp_path):
    (fold,) = make_folds(spec(**ease(trials=2, users="all")), _with_log(tmp_path))
    assert len(fold.valid_queries) == len(fold.split.queries("valid", fit="train"))


def _with_log(folder):
    log().write_csv(folder / "log.csv")
    return folder


@pytest.mark.parametrize("refit", ["train", "train+valid"])
def test_the_final_fit_takes_what_the_protocol_says(tmp_path, refit):
    results = run_in(tmp_path, **ease(trials=2, refit=refit))
    split = make_folds(spec(), tmp_path)[0].split
    rows = split.counts["train"] + (split.counts["valid"] if refit == "train+valid" else 0)
    assert {cell.about["fitted_rows"] for cell in results.cells} == {rows}
    assert results.cells[0].about["protocol"]["queries"]["history"] == refit


def test_trials_that_a_model_refuses_are_recorded_and_counted(tmp_path):
    space = {"size": {"low": 0.0, "high": 1.0}}
    results = run_in(
        tmp_path,
        model=[{"name": f"{SPIES}:Picky", "search": space}],
        tune={"metric": "ndcg@10", "trials": 8},
    )
    found = trials(tmp_path)
    failed = [trial for trial in found if trial["value"] is None]
    assert 0 < len(failed) < 8
    assert all(trial["settings"]["size"] < 0.5 for trial in failed)
    assert failed[0]["error"] == f"size {failed[0]['settings']['size']:.3f} is too small"
    assert tuning(results, "Picky")["failed"] == len(failed)
    assert tuning(results, "Picky")["trials"] == 8
    assert results.cells[0].about["settings"]["size"] >= 0.5


def test_numbers_that_a_model_does_not_survive_fail_the_trial(tmp_path):
    space = {"size": {"low": 0.0, "high": 1.0}}
    run_in(tmp_path, model=[{"name": f"{SPIES}:Singular", "search": space}])
    errors = {trial["error"] for trial in trials(tmp_path)}
    assert "LinAlgError: Singular matrix" in errors


def test_nothing_but_failed_trials_is_an_error(tmp_path):
    space = {"size": {"low": 0.0, "high": 0.4}}
    path = bench(tmp_path, model=[{"name": f"{SPIES}:Picky", "search": space}])
    for _ in range(2):  # and stays one
        with pytest.raises(SpecError, match=r"all 4 trials of 'Picky' failed.*size .* too small"):
            run(path, tmp_path / "store")
    assert len(trials(tmp_path)) == 4


@pytest.mark.parametrize("search", [None, {"count": ["users", "rows"]}])
def test_a_slip_in_a_plugin_is_told_as_one(tmp_path, search):
    model = {"name": f"{SPIES}:Broken", **({"search": search} if search else {})}
    with pytest.raises(FullrankError, match=r"model 'Broken' \(.*\) failed: KeyError: 'lost'"):
        run_in(tmp_path, model=[model])


def test_a_budget_in_seconds_is_resumed_too(tmp_path):
    settings = ease(seconds=0.4)
    first = run_in(tmp_path, **settings)
    done = trials(tmp_path)
    spent = [trial["resources"]["trial_seconds"] for trial in done]
    assert sum(spent) >= 0.4 > sum(spent[:-1])
    assert tuning(first)["trials"] == len(done)
    assert run_in(tmp_path, **settings).fresh == 0
    assert trials(tmp_path) == done
    assert run_in(tmp_path, **ease(seconds=0.6)).fresh >= 1
    assert trials(tmp_path)[: len(done)] == done


def test_a_finite_space_ends_a_budget_in_seconds(tmp_path):
    model = [{"name": "Popularity", "search": {"count": ["users", "rows"]}}]
    run_in(tmp_path, model=model, tune={"metric": "ndcg@10", "seconds": 600})
    assert {trial["settings"]["count"] for trial in trials(tmp_path)} == {"users", "rows"}


def test_settings_that_come_again_are_not_fitted_again(tmp_path):
    model = [{"name": "Popularity", "search": {"count": ["users", "rows"]}}]
    run_in(tmp_path, model=model, tune={"metric": "ndcg@10", "trials": 12})
    values = {}
    for trial in trials(tmp_path):
        values.setdefault(trial["settings"]["count"], set()).add(trial["value"])
    assert all(len(found) == 1 for found in values.values())
    assert len(trials(tmp_path)) == 12


def test_a_model_may_have_a_budget_of_its_own(tmp_path):
    models = [
        {"name": "EASE", "search": REG},
        {"name": "EASE", "label": "more", "search": REG, "trials": 5},
    ]
    results = run_in(tmp_path, model=models, tune={"metric": "ndcg@10", "trials": 2})
    assert (tuning(results)["trials"], tuning(results, "more")["trials"]) == (2, 5)


def test_lower_is_better_for_some_metrics(tmp_path):
    for metric, best in (("meanrank", min), ("auc", max)):
        folder = tmp_path / metric
        results = run_in(folder, **ease(trials=4) | {"tune": {"metric": metric, "trials": 4}})
        values = [trial["value"] for trial in trials(folder)]
        assert len(set(values)) > 1
        assert tuning(results)["value"] == best(values)


def test_the_metric_of_predicted_ratings_can_choose(tmp_path):
    models = [{"name": "BiasOnly", "search": {"reg_item": {"low": 0.1, "high": 100.0}}}]
    results = run_in(tmp_path, model=models, metrics=["rmse"], tune={"metric": "rmse", "trials": 4})
    values = [trial["value"] for trial in trials(tmp_path)]
    assert tuning(results, "BiasOnly")["value"] == min(values)
    assert 0.1 < min(values) < 3


def test_a_search_without_validation_is_refused(tmp_path):
    split = {"strategy": "GlobalTime", "test": 0.2, "valid": 0.0}
    with pytest.raises(SplitError, match=r"without a validation part; set split\.valid"):
        run_in(tmp_path, split=split)


def test_validation_users_without_training_rows_are_refused(tmp_path):
    path = bench(tmp_path)
    rows = [(f"u{n}", 1 + j, 3, n * 1000 + j) for n in range(10) for j in range(4)]
    import polars as pl

    columns = ["user_id", "item_id", "rating", "timestamp"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(tmp_path / "log.csv")
    with pytest.raises(SplitError, match=r"none of the \d+ validation users has training rows"):
        run(path, tmp_path / "store")


def test_models_without_a_space_are_not_searched(tmp_path):
    results = run_in(tmp_path, model=[{"name": "Random", "search": "default"}], seeds=[1])
    assert trials(tmp_path) == []
    assert results.cells[0].about["tuning"] is None


def test_the_default_space_leaves_out_what_is_fixed():
    model = {"name": "ItemKNN", "search": "default", "settings": {"neighbours": 5}}
    job = Search(None, spec(model=[model]).model[0])
    assert "neighbours" not in job.space
    assert job.space


def test_the_key_of_a_search_covers_all_but_the_budget(tmp_path):
    def key(**changes):
        read = spec(**changes)
        return Search(make_folds(read, _with_log(tmp_path))[0], read.model[-1]).key

    one = key(**ease(trials=2))
    assert key(**ease(trials=9)) == one
    assert key(**ease(seconds=3)) == one
    others = [
        key(**ease(trials=2, seed=1)),
        key(**ease(trials=2, sampler="random")),
        key(**ease(trials=2, users="all")),
        key(**ease(trials=2) | {"tune": {"metric": "mrr@10", "trials": 2}}),
        key(**ease(trials=2), split={"strategy": "GlobalTime", "valid": 0.2, "test": 0.1}),
    ]
    assert len({one, *others}) == 6


def test_results_read_the_search_of_the_latest_run(tmp_path):
    run_in(tmp_path, **ease(trials=2))
    assert tuning(Results.load(tmp_path / "store"))["trials"] == 2
    assert np.isfinite(tuning(Results.load(tmp_path / "store"))["value"])


def test_data_errors_of_every_trial_are_quoted(tmp_path):
    frame = log().drop("rating")
    path = bench(tmp_path, metrics=["ndcg@10"], model=[{"name": "BiasOnly", "search": "default"}])
    frame.write_csv(tmp_path / "log.csv")
    with pytest.raises((SpecError, DataError), match="BiasOnly needs ratings"):
        run(path, tmp_path / "store")


def test_a_trial_keeps_the_value_of_every_metric_of_the_benchmark(tmp_path):
    run_in(tmp_path, **ease(trials=3))
    (fold,) = make_folds(spec(**ease(trials=3)), tmp_path)
    for trial in trials(tmp_path):
        model = EASE(**trial["settings"]).fit(fold.split.train)
        catalogue = fold.split.train.item_counts > 0
        ranked = rank(model, fold.valid_queries, catalogue=catalogue).targets
        expected = {"NDCG@10": NDCG @ 10, "Recall@5": Recall @ 5, "MRR@10": MRR @ 10}
        assert trial["values"] == {name: m.value(ranked) for name, m in expected.items()}
        assert trial["values"]["NDCG@10"] == trial["value"]


def test_a_watched_trial_keeps_the_values_of_its_best_epoch(tmp_path):
    model = {"name": "IALS", "settings": {"epochs": 8}, "search": {"reg": {"low": 0.01, "high": 1}}}
    run_in(tmp_path, model=[model], tune={"metric": "ndcg@10", "trials": 2, "patience": 2})
    for trial in trials(tmp_path):
        assert trial["curve"]
        assert trial["values"]["NDCG@10"] == trial["value"] == max(v for _, v in trial["curve"])
        assert set(trial["values"]) == {"NDCG@10", "Recall@5", "MRR@10"}


def test_values_of_ratings_are_kept_for_models_that_predict_them(tmp_path):
    rated = {"name": "BiasOnly", "search": {"reg_user": [1.0, 10.0]}}
    models = [rated, {"name": "EASE", "search": REG}]
    run_in(
        tmp_path, model=models, metrics=["ndcg@10", "rmse"], tune={"metric": "ndcg@10", "trials": 2}
    )
    found = trials(tmp_path)
    assert sum("RMSE" in trial["values"] for trial in found) == 2
    assert all(trial["values"]["RMSE"] > 0 for trial in found if "reg_user" in trial["settings"])
