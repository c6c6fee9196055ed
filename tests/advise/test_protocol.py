"""The protocol: hand-worked regrets, nothing of a test data set in training, honest verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pytest
from tests.advise.grids import grid

from fullrank.advise import evaluate, verdict
from fullrank.advise._regret import outcome, standing
from fullrank.advise.learners import (
    Boosting,
    Fitted,
    Learner,
    Logistic,
    PairBoosting,
    Ridge,
    Trees,
)
from fullrank.core.errors import DataError, SpecError

TREES = Trees(depths=(2,), rounds=10, learning_rate=0.3)
LEARNERS: dict[str, Learner] = {
    "ridge": Ridge((10.0,)), "logistic": Logistic((0.01,)), "boosting": Boosting(TREES),
    "pairs": PairBoosting(TREES),
}  # fmt: skip


def test_outcomes_by_hand_and_ties_as_hits():
    tau, flat = np.array([0.5, 0.1, 0.5, 0.3]), np.zeros(4)
    best = outcome(tau, np.array([0.0, 0.0, 1.0, 0.0]), tau)
    assert (best.regret, best.hit, best.error) == (0, 1, 0)  # the third ties with the first
    third = outcome(tau, np.array([0.0, 2.0, 1.0, 0.0]), tau + 0.1)
    assert (third.regret, third.hit) == (pytest.approx(0.4), 0)
    assert third.error == pytest.approx(0.01)
    chance = outcome(tau, flat, flat)
    assert chance.regret == pytest.approx(0.5 - 1.4 / 4)
    assert chance.hit == 2 / 4
    half = outcome(tau, np.array([0.0, 1.0, 1.0, 0.0]), tau)
    assert (half.regret, half.hit) == (pytest.approx(0.2), 0.5)


def test_the_fixed_sampler_counts_data_sets_and_not_cells():
    """B wins one data set of many cells, A two of one group each."""
    data = np.array([0, 0, 0, 0, 0, 0, 1, 1, 2, 2])
    group = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    tau = np.array([0.0, 0.6, 0.0, 0.6, 0.0, 0.6, 0.4, 0.0, 0.4, 0.0])
    found = standing(data, group, ["A", "B"] * 5, tau)
    assert found.gap == {"A": pytest.approx(0.1 / 3), "B": pytest.approx(-0.1 / 3)}
    assert found.mean == pytest.approx((0.3 + 0.2 + 0.2) / 3)


def test_a_world_with_something_to_learn():
    table, features = grid(0, n_sets=7)
    found = evaluate(table, features, LEARNERS, 1)
    assert found.choosers == ["random", "fixed", "oracle", *LEARNERS]
    for name in LEARNERS:
        for measure in ("regret", "p@1"):
            told = verdict(found, name, measure)
            assert told.beats_random, (name, measure)
            assert told.beats_fixed, (name, measure)
    assert "ridge: better than a random choice (gain 0." in str(verdict(found, "ridge"))
    assert found.value("oracle", "regret").value == 0
    assert found.value("oracle", "p@1").value == 1
    groups = table.group_by("data", "scenario", "metric", "keep")
    spread = groups.agg((pl.col("tau").max() - pl.col("tau").mean()).alias("gap"))
    assert found.value("random", "regret").value == pytest.approx(spread["gap"].mean())
    assert found.value("random", "p@1").value == pytest.approx(1 / 4)
    assert found.value("ridge", "mse").value < found.value("random", "mse").value / 2
    assert len(found.predictions) == len(LEARNERS) * len(table)


def test_worlds_with_nothing_to_learn():
    """Of 12 intervals, each with a chance of 1/40, more than 2 lie above 0 in 1 of 300 times."""
    told = []
    for seed in range(12):
        found = evaluate(*grid(seed, n_sets=8, signal=0.0), {"ridge": Ridge((10.0,))}, seed)
        told.append([verdict(found, name) for name in ("ridge", "fixed")])
    for verdicts in zip(*told):
        assert sum(one.beats_random for one in verdicts) <= 2
    assert sum(one[0].beats_fixed for one in told) <= 2
    assert not any(one[1].beats_fixed for one in told)  # itself
    assert "not told from" in str(told[0][1])
    assert "(gain 0.0000 [0.0000, 0.0000])" in str(told[0][1])


@dataclass(frozen=True)
class Spy(Learner):
    """Ridge that writes down what it was given."""

    seen: list = field(default_factory=list)

    def __post_init__(self):
        pass

    def _load(self):
        pass

    def _fit(self, training, seed):
        return lambda x, group: x[:, 0]

    def fit(self, table, features, rng=0, *, level=None):
        fitted = super().fit(table, features, rng, level=level)
        self.seen.append((set(table["data"]), fitted))
        return Watched(**vars(fitted))


class Watched(Fitted):
    def predict(self, table, features):
        assert not {"tau", "tau_sd"} & set(table.columns)
        self.learner.seen.append(set(table["data"]))
        return super().predict(table, features)


def test_nothing_of_a_test_data_set_reaches_the_training():
    table, features = grid(3, n_sets=5)
    spy, asked = Spy(), []

    def of(names):
        asked.append(set(names))
        return features

    evaluate(table, of, {"spy": spy})
    sets = {f"d{j:02}" for j in range(5)}
    assert len(spy.seen) == 10
    for (trained, _), tested, told in zip(spy.seen[::2], spy.seen[1::2], asked):
        assert trained == told == sets - tested
        assert len(tested) == 1


def test_poisoned_taus_of_a_data_set_change_no_prediction_for_it():
    table, features = grid(4, n_sets=5)
    mine = pl.col("data") == "d02"
    poisoned = table.with_columns(tau=pl.when(mine).then(-pl.col("tau")).otherwise("tau"))
    learners = {"ridge": LEARNERS["ridge"]}
    one, other = (evaluate(t, features, learners, 1).predictions for t in (table, poisoned))
    assert one.filter(mine)["predicted"].equals(other.filter(mine)["predicted"])
    assert not one.filter(~mine)["predicted"].equals(other.filter(~mine)["predicted"])


def test_what_is_missing_is_counted():
    table, features = grid(5, n_sets=5)
    alone = (pl.col("keep") == 0.5) & (pl.col("metric") == "mse") & (pl.col("strategy") != "A")
    gone = (pl.col("data") == "d01") & alone
    holes = table.with_columns(tau=pl.when(gone).then(None).otherwise("tau"))
    found = evaluate(holes, features, {"ridge": Ridge((10.0,))})
    assert (found.unmeasured, found.skipped) == (3, 1)
    assert len(found.groups) == 4 * (5 * 4 - 1)
    assert found.summary()["data_sets"].unique().to_list() == [5]


def test_the_interval_is_over_data_sets():
    found = evaluate(*grid(6, n_sets=6), {"ridge": Ridge((10.0,))})
    values = found.by_data("ridge", "regret")
    assert len(values) == 6
    told = found.value("ridge", "regret")
    assert told.value == pytest.approx(values.mean())
    assert told.n_users == 6
    assert "data sets are a simple random sample" in told.assumptions[0]
    assert "by data set" in found.value("fixed", "regret", method="percentile").method
    gain = found.gain("ridge", "fixed")
    gaps = found.by_data("fixed", "regret") - values
    assert gain.value == pytest.approx(gaps.mean())
    # t of 5 degrees of freedom, 2.571, and 1 + 6/5 times the variance for shared training data.
    half = 2.5706 * gaps.std(ddof=1) * np.sqrt((1 + 6 / 5) / 6)
    assert (gain.low, gain.high) == pytest.approx(
        (gaps.mean() - half, gaps.mean() + half), rel=1e-3
    )
    alone = found.value("random", "regret")
    half = 2.5706 * found.by_data("random", "regret").std(ddof=1) / np.sqrt(6)
    assert alone.high - alone.value == pytest.approx(half, rel=1e-3)
    assert found.value("fixed", "p@1").high <= 1


def test_refusals():
    table, features = grid(7, n_sets=4)
    with pytest.raises(SpecError, match="'oracle' is a baseline"):
        evaluate(table, features, {"oracle": Ridge()})
    with pytest.raises(DataError, match="needs at least 4 with taus, got 3"):
        evaluate(table.filter(pl.col("data") != "d00"), features, {})
    new = pl.when(pl.col("data") == "d03").then(pl.lit("X")).otherwise("strategy")
    lone = table.with_columns(strategy=new).unique(["data", "metric", "keep", "strategy"])
    with pytest.raises(DataError, match="run on the data set 'd03' alone"):
        evaluate(lone, features, {})
    found = evaluate(table, features, {})
    with pytest.raises(SpecError, match="no chooser 'ridge'"):
        verdict(found, "ridge")
    with pytest.raises(SpecError, match="no measure 'regrets'; did you mean 'regret'"):
        found.value("fixed", "regrets")
