"""Training that stops by validation, is cut short, or goes on from a checkpoint."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from tests.experiment.worlds import bench, log, run_in

import fullrank as fr
from fullrank.core.errors import SpecError, StoreError
from fullrank.experiment.search import distributions, grid_point, propose, prunes, size_of
from fullrank.metrics import MAE
from fullrank.models import IALS
from fullrank.models._training import InterruptedTraining
from fullrank.rank import rank


@pytest.fixture(scope="module")
def split():
    return fr.LeaveLast().split(fr.read(log()).interactions)


def model(**settings):
    return IALS(**{"embedding_dim": 4, "epochs": 8, "reg": 0.01, **settings})


def scores(fitted, split):
    return fitted.score(split.queries("test"))


def test_the_best_epoch_is_kept(split):
    watch = fr.EarlyStop(split.queries("valid"), "ndcg@10", patience=None)
    fitted = model().fit(split.train, rng=1, monitor=watch)
    assert [epoch for epoch, _ in watch.curve] == list(range(8))
    best = max(watch.curve, key=lambda at: (at[1], -at[0]))[0]
    assert fitted.log_.best_epoch == watch.best_epoch == best
    assert [e.value for e in fitted.log_.epochs] == [value for _, value in watch.curve]
    alone = model(epochs=best + 1).fit(split.train, rng=1)
    np.testing.assert_array_equal(scores(fitted, split), scores(alone, split))
    valid = fr.parse("ndcg@10").value(rank(fitted, split.queries("valid")).targets)
    assert valid == watch.best_value == dict(watch.curve)[best]


def test_patience_ends_training(split):
    watch = fr.EarlyStop(split.queries("valid"), "ndcg@10", patience=2)
    fitted = model(epochs=40).fit(split.train, rng=1, monitor=watch)
    assert len(fitted.log_.epochs) == watch.best_epoch + 3 < 40


def test_evaluations_may_be_rare(split):
    watch = fr.EarlyStop(split.queries("valid"), "recall@5", patience=None, every=3)
    fitted = model().fit(split.train, rng=1, monitor=watch)
    assert [epoch for epoch, _ in watch.curve] == [2, 5]
    assert [e.value is None for e in fitted.log_.epochs] == [1, 1, 0, 1, 1, 0, 1, 1]


class Killed(fr.EarlyStop):
    """Raises before an epoch is written down."""

    at = 3

    def __call__(self, epoch, fitted):
        if epoch == self.at:
            raise RuntimeError("killed")
        return super().__call__(epoch, fitted)


def test_a_checkpoint_goes_on_as_if_nothing_had_been(split, tmp_path):
    queries = split.queries("valid")
    unbroken = fr.EarlyStop(queries, patience=3)
    expected = model().fit(split.train, rng=1, monitor=unbroken)
    with pytest.raises(RuntimeError, match="killed"):
        model().fit(split.train, rng=1, monitor=Killed(queries, patience=3), checkpoint=tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".safetensors"]
    watch = fr.EarlyStop(queries, patience=3)
    found = model().fit(split.train, rng=1, monitor=watch, checkpoint=tmp_path)
    assert found.log_.resumed_at == 3
    assert watch.curve == unbroken.curve
    assert [e.epoch for e in found.log_.epochs] == [e.epoch for e in expected.log_.epochs]
    np.testing.assert_array_equal(scores(found, split), scores(expected, split))
    again = fr.EarlyStop(queries, patience=3)
    done = model().fit(split.train, rng=1, monitor=again, checkpoint=tmp_path)
    np.testing.assert_array_equal(scores(done, split), scores(expected, split))


def test_a_checkpoint_of_another_training_is_refused(split, tmp_path):
    model(epochs=2).fit(split.train, rng=1, checkpoint=tmp_path)
    with pytest.raises(StoreError, match=r"another training \(seed was 1 and is 2\)"):
        model(epochs=2).fit(split.train, rng=2, checkpoint=tmp_path)
    with pytest.raises(StoreError, match=r"training \(reg was 0.01 and is 0.5\)"):
        model(epochs=2, reg=0.5).fit(split.train, rng=1, checkpoint=tmp_path)
    (tmp_path / "checkpoint.json").write_text("{")
    with pytest.raises(StoreError, match="can't be read"):
        model(epochs=2).fit(split.train, rng=1, checkpoint=tmp_path)


def test_a_checkpoint_made_without_the_monitor_is_refused(split, tmp_path):
    def watch(**how):
        return fr.EarlyStop(split.queries("valid"), **{"patience": 1, **how})

    def fit(monitor=None, folder=tmp_path / "watched"):
        return model().fit(split.train, rng=1, monitor=monitor, checkpoint=folder)

    def kill(epoch, fitted):
        if epoch == 3:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        fit(kill, tmp_path / "bare")
    with pytest.raises(StoreError, match=r"3 epochs were trained without EarlyStop, .*remove"):
        fit(watch(), tmp_path / "bare")
    stopped = fit(watch())
    assert len(stopped.log_.epochs) < 8
    with pytest.raises(StoreError, match=r"another EarlyStop \(patience was 1 and is 2\)"):
        fit(watch(patience=2))
    with pytest.raises(StoreError, match=r"\(metric was NDCG@10 and is Recall@5\)"):
        fit(watch(metric="recall@5"))
    with pytest.raises(StoreError, match=r"\(queries was \w+ and is \w+\)"):
        fit(fr.EarlyStop(split.queries("valid")[1:], patience=1))
    whole, expected = fit(), model().fit(split.train, rng=1)  # no monitor: none that stops it
    assert whole.log_.resumed_at == len(stopped.log_.epochs)
    assert whole.log_.best_epoch == len(whole.log_.epochs) - 1 == 7
    np.testing.assert_array_equal(scores(whole, split), scores(expected, split))
    with pytest.raises(StoreError, match="8 epochs were trained without EarlyStop"):
        fit(watch())


def test_one_monitor_watches_one_fit(split):
    watch = fr.EarlyStop(split.queries("valid"), patience=None)
    model(epochs=2).fit(split.train, rng=1, monitor=watch)
    with pytest.raises(SpecError, match=r"has watched another fit, up to its epoch 2.*a new one"):
        model(epochs=2).fit(split.train, rng=1, monitor=watch)


def test_ctrl_c_keeps_what_was_learnt(split, tmp_path):
    def press(epoch, fitted):
        if epoch == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return False

    before = signal.getsignal(signal.SIGINT)
    with pytest.warns(InterruptedTraining, match="interrupted after 3 epochs"):
        cut = model().fit(split.train, rng=1, monitor=press, checkpoint=tmp_path)
    assert signal.getsignal(signal.SIGINT) is before
    assert cut.log_.interrupted
    short = model(epochs=3).fit(split.train, rng=1)
    np.testing.assert_array_equal(scores(cut, split), scores(short, split))
    whole = model().fit(split.train, rng=1, checkpoint=tmp_path)
    assert whole.log_.resumed_at == 3
    expected = model().fit(split.train, rng=1)
    np.testing.assert_array_equal(scores(whole, split), scores(expected, split))


def test_what_makes_no_sense_is_refused(split):
    queries = split.queries("valid")
    with pytest.raises(SpecError, match="patience must be a whole number >= 1, got 0"):
        fr.EarlyStop(queries, patience=0)
    with pytest.raises(SpecError, match="MAE is a metric of predicted ratings"):
        fr.EarlyStop(queries, MAE)
    with pytest.raises(SpecError, match="no queries"):
        fr.EarlyStop(queries[:0])


SEARCH = {"reg": {"low": 0.001, "high": 10.0, "log": True}}


def watched(**tune):
    ials = {"name": "IALS", "settings": {"embedding_dim": 4, "epochs": 9}, "search": SEARCH}
    return {"model": [{"name": "Popularity"}, ials], "tune": {"metric": "ndcg@10", **tune}}


def trials(folder):
    found = sorted((folder / "store").glob("tune/*/trial-*.json"))
    out = [json.loads(path.read_text()) for path in found]
    return [{k: v for k, v in trial.items() if k != "resources"} for trial in out]


def test_the_refit_trains_for_as_many_epochs(tmp_path):
    results = run_in(tmp_path, **watched(trials=4, patience=2))
    cell = next(c for c in results.cells if c.about["model"] == "IALS")
    best = max(trials(tmp_path), key=lambda t: (t["value"], -t["number"]))
    assert best["value"] == max(value for _, value in best["curve"])
    assert cell.about["settings"]["epochs"] == best["epochs"]
    assert len(cell.about["training"]["epochs"]) == best["epochs"]
    assert not (tmp_path / "store" / "fits").exists() or not any(
        (tmp_path / "store" / "fits").iterdir()
    )


def test_pruned_trials_are_marked_and_come_out_the_same_after_a_restart(tmp_path):
    clause = watched(trials=9, pruning="halving")
    run_in(tmp_path / "whole", **clause)
    whole = trials(tmp_path / "whole")
    pruned = [trial for trial in whole if trial.get("pruned")]
    assert 0 < len(pruned) < 9
    assert all(trial["value"] is None and len(trial["curve"]) < 9 for trial in pruned)

    class StopError(Exception):
        pass

    def stop(step):
        if step.fresh == 5:
            raise StopError

    path = bench(tmp_path / "cut", **clause)
    with pytest.raises(StopError):
        fr.run(path, tmp_path / "cut" / "store", progress=stop)
    results = fr.run(path, tmp_path / "cut" / "store")
    assert trials(tmp_path / "cut") == whole
    cell = next(c for c in results.cells if c.about["model"] == "IALS")
    assert cell.about["tuning"]["pruned"] == len(pruned)
    assert cell.about["tuning"]["failed"] == 0


def test_a_trial_that_leads_is_not_pruned():
    done = [{"curve": [[0, 0.1], [1, 0.2], [2, 0.2]]} for _ in range(6)]
    assert not prunes(done, [[0, 0.9]], maximise=True)
    assert prunes(done, [[0, 0.01]], maximise=True)
    assert prunes(done, [[0, 0.9]], maximise=False)


def test_a_grid_is_walked_once(tmp_path):
    space = distributions({"a": [1, 2], "b": {"low": 0.0, "high": 0.5, "step": 0.25}}, "here")
    points = [grid_point(space, n) for n in range(size_of(space))]
    assert points[:3] == [{"a": 1, "b": 0.0}, {"a": 1, "b": 0.25}, {"a": 1, "b": 0.5}]
    assert len({tuple(point.values()) for point in points}) == 6
    assert propose(space, [], number=4, seed=0, sampler="grid", maximise=True) == points[4]
    ease = {"name": "EASE", "search": {"reg": [1.0, 10.0, 100.0]}}
    tune = {"metric": "ndcg@10", "trials": 20, "sampler": "grid"}
    run_in(tmp_path, model=[ease], tune=tune)
    assert [trial["settings"]["reg"] for trial in trials(tmp_path)] == [1.0, 10.0, 100.0]
    ease["search"] = {"reg": {"low": 1.0, "high": 10.0}}
    with pytest.raises(SpecError, match="a grid needs a finite space"):
        run_in(tmp_path / "other", model=[ease], tune=tune)


def test_published_spaces_have_names(tmp_path):
    run_in(tmp_path, model=[{"name": "ItemKNN", "search": "daisyrec"}])
    assert all(1 <= trial["settings"]["neighbours"] <= 100 for trial in trials(tmp_path))
    with pytest.raises(SpecError, match="'daisyrec' has none for EASE"):
        run_in(tmp_path / "other", model=[{"name": "EASE", "search": "daisyrec"}])


@dataclass(eq=False)
class Rising(fr.Recommender):
    """An own loop, whose scores after each epoch are some item's alone."""

    epochs: int = 4
    fitted: ClassVar[tuple[str, ...]] = ("scores_",)

    def _fit(self, train, rng, monitor):
        for epoch in range(self.epochs):
            self.scores_ = np.zeros(train.n_items, np.float32)
            self.scores_[epoch] = 1.0
            if monitor is not None and monitor(epoch, self):
                break

    def shared_scores(self):
        return self.scores_


def test_a_loop_of_ones_own_gets_the_best_epochs_weights(split):
    watch = fr.EarlyStop(split.queries("valid"), "ndcg@10", patience=None)
    fitted = Rising(epochs=split.train.n_items).fit(split.train, monitor=watch)
    values = [value for _, value in watch.curve]
    best = values.index(max(values))
    assert best < len(values) - 1
    assert fitted.log_.best_epoch == watch.best_epoch == best
    assert fitted.scores_.argmax() == best
    ranked = rank(fitted, split.queries("valid")).targets
    assert (fr.NDCG @ 10).value(ranked) == watch.best_value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"patience": 1.5}, "patience must be a whole number >= 1, got 1.5"),
        ({"patience": "x"}, "patience must be a whole number >= 1, got 'x'"),
        ({"every": None}, "every must be a whole number >= 1, got None"),
        ({"every": True}, "every must be a whole number >= 1, got True"),
        ({"metric": 3}, "metric must be such as 'ndcg@10', got 3"),
        ({"prune": 3}, "prune must be callable with a curve, got 3"),
    ],
)
def test_settings_of_the_wrong_type(split, given, said):
    with pytest.raises(SpecError, match=f"EarlyStop: {said}"):
        fr.EarlyStop(split.queries("valid"), **given)


@dataclass(eq=False)
class Endless(Rising):
    """A loop whose length is no setting called ``epochs``."""

    rounds: int = 5
    epochs: int = field(default=4, init=False)


def test_a_model_without_epochs_is_watched_and_refitted(tmp_path):
    own = {"name": f"{__name__}:Endless", "label": "own", "search": {"rounds": [3, 5]}}
    changes = watched(trials=2, patience=2)
    results = run_in(tmp_path, **{**changes, "model": [changes["model"][0], own]})
    (cell,) = [cell for cell in results.cells if cell.about["model"] != "Popularity"]
    assert "epochs" not in cell.about["settings"]
    assert all(trial["epochs"] >= 1 for trial in trials(tmp_path))
