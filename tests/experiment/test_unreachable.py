"""Test rows are out of reach of ``fit`` and the search, targets out of reach of ``score``."""

import json

import numpy as np
import pytest
from tests.experiment.worlds import bench, call, run_in

from fullrank.core.errors import FullrankError
from fullrank.experiment.bench import make_folds
from fullrank.experiment.run import run
from fullrank.experiment.spec import read_spec

SPY = {
    "name": "tests.experiment.spies:Spy",
    "search": {"strength": {"low": 0.5, "high": 2.0}},
}


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Run a benchmark of the spy; returns (fold, what it saw)."""

    def go(**changes):
        monkeypatch.setenv("SPY", str(tmp_path / "seen.jsonl"))
        path = bench(tmp_path, **{"model": [SPY], **changes})
        run(path, tmp_path / "store")
        (fold,) = make_folds(*read_spec(path))
        lines = (tmp_path / "seen.jsonl").read_text().splitlines()
        return fold, [json.loads(line) for line in lines]

    return go


def rows_of(interactions):
    return {
        (str(user), int(item), int(time))
        for user, item, time in zip(
            interactions.user_vocab.ids[interactions.users],
            interactions.item_vocab.ids[interactions.items],
            interactions.times,
        )
    }


@pytest.mark.parametrize("refit", ["train", "train+valid"])
def test_fit_never_sees_a_test_row(watched, refit):
    fold, seen = watched(tune={"metric": "ndcg@10", "trials": 3, "refit": refit})
    fits = [{tuple(row) for row in entry["rows"]} for entry in seen if entry["what"] == "fit"]
    train, valid, test = (rows_of(fold.split.rows(p)) for p in ("train", "valid", "test"))
    assert len(fits) == 4
    assert all(fit == train for fit in fits[:3])
    assert fits[3] == (train if refit == "train" else train | valid)
    assert not any(fit & test for fit in fits)


def test_score_never_sees_a_target(watched):
    _, seen = watched()
    scored = [entry for entry in seen if entry["what"] == "score"]
    assert len(scored) >= 5
    assert {entry["targets"] for entry in scored} == {0}


def test_the_search_never_sees_a_test_query_or_its_history(watched):
    fold, seen = watched()
    last = max(j for j, entry in enumerate(seen) if entry["what"] == "fit")
    tuning = [entry for entry in seen[:last] if entry["what"] == "score"]
    valid, test = fold.split.queries("valid", fit="train"), fold.test_queries
    only_test = set(test.user_ids) - set(valid.user_ids)
    asked = {user for entry in tuning for user in entry["users"]}
    assert asked == set(fold.valid_queries.user_ids.tolist())
    assert only_test
    assert not asked & only_test
    histories = {tuple(items) for entry in tuning for items in entry["histories"]}
    train = {(user, item) for user, item, _ in rows_of(fold.split.train)}
    for entry in tuning:
        for user, items in zip(entry["users"], entry["histories"]):
            assert all((user, item) in train for item in items)
    assert histories


def test_test_queries_know_what_the_final_fit_knew(watched):
    _, seen = watched()
    last = max(j for j, entry in enumerate(seen) if entry["what"] == "fit")
    fitted = {(user, item) for user, item, _ in map(tuple, seen[last]["rows"])}
    for entry in seen[last:]:
        if entry["what"] == "score":
            for user, items in zip(entry["users"], entry["histories"]):
                assert all((user, item) in fitted for item in items)


EPOCHS = {
    "name": "BPRMF",
    "settings": {"embedding_dim": 8, "epochs": 6},
    "search": {"learning_rate": {"low": 0.01, "high": 1.0, "log": True}},
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "model": [EPOCHS],
            "tune": {"metric": "ndcg@10", "trials": 5, "patience": 2, "pruning": "halving"},
        },
    ],
    ids=["fits", "epochs"],
)
def test_the_outcome_of_the_test_does_not_move_the_choice(tmp_path, changes):
    """Other test rows, of the same users and times: every trial, curve and choice stays."""
    import polars as pl

    run_in(tmp_path / "a", **changes)
    frame = pl.read_csv(tmp_path / "a" / "log.csv")
    (fold,) = make_folds(*read_spec(tmp_path / "a" / "bench.toml"))
    cut = int(fold.split.test.times.min())
    unit = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}.get(fold.split.data.time_unit, 1)
    shuffled = frame.with_columns(
        item_id=pl.when(pl.col("timestamp") * unit >= cut)
        .then(235 - pl.col("item_id"))
        .otherwise(pl.col("item_id"))
    )
    assert not shuffled.equals(frame)
    (tmp_path / "b").mkdir()
    shuffled.write_csv(tmp_path / "b" / "log.csv")
    run_in(tmp_path / "b", **changes)

    def trials(folder):
        found = [json.loads(p.read_text()) for p in folder.glob("store/tune/*/trial-*.json")]
        assert not changes or all(len(t["curve"]) > 0 for t in found)
        keep = ("number", "settings", "value", "curve", "epochs", "pruned")
        return sorted(str([t.get(name) for name in keep]) for t in found)

    assert trials(tmp_path / "a") == trials(tmp_path / "b")


def test_a_spy_from_the_python_path_runs_in_processes_too(tmp_path, monkeypatch):
    monkeypatch.setenv("SPY", str(tmp_path / "seen.jsonl"))
    done = call("run", bench(tmp_path, model=[SPY]), "--json", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert np.isfinite(json.loads(done.stdout)["leaderboard"][0]["value"])


@pytest.mark.parametrize("name", ["Shift", "Relabel"])
def test_a_model_that_writes_into_its_inputs_is_stopped(tmp_path, name):
    model = [{"name": f"tests.experiment.spies:{name}"}]
    with pytest.raises(FullrankError, match=f"{name}.*read-only"):
        run_in(tmp_path, tune=None, model=model)
