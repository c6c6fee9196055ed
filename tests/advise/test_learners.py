"""Learners: what they learn, on which columns, and how sure they are."""

from __future__ import annotations

import importlib.util

import numpy as np
import polars as pl
import pytest
from tests.advise.grids import grid

from fullrank.advise.learners import (
    BPR,
    MLP,
    Boosting,
    Fitted,
    Learner,
    Logistic,
    PairBoosting,
    Ridge,
    Trees,
)
from fullrank.advise.learners._base import Training, _as_taus, _training
from fullrank.advise.learners._choice import chosen, folds
from fullrank.advise.learners._design import Design, Scaled
from fullrank.advise.learners._jackknife import LeftOut, jackknife_plus
from fullrank.advise.learners._pairs import all_pairs, pairs, round_robin
from fullrank.advise.learners.pair_boosting import _own
from fullrank.advise.learners.ridge import _alike
from fullrank.advise.table import cells, feature_names, joined
from fullrank.core.errors import DataError, SpecError, StoreError

TREES = Trees(depths=(2,), rounds=10, learning_rate=0.3)
LEARNERS: list[Learner] = [
    Ridge((1.0, 100.0)), Logistic((0.01, 1.0)), Boosting(TREES), PairBoosting(TREES)
]  # fmt: skip
TABLE, FEATURES = grid()
NEW, NEW_FEATURES = grid(1, n_sets=3, first=50)


def training(table=TABLE, features=FEATURES) -> Training:
    frame = joined(cells(table), features)
    return _training(frame, Design.of(frame, feature_names(features)))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_learns_what_taus_follow_whatever_the_order_of_rows(learner):
    fitted = learner.fit(TABLE, FEATURES, 3, level=None)
    found = fitted.predict(NEW.drop("tau", "tau_sd"), NEW_FEATURES)
    assert found.columns == ["data", "scenario", "metric", "keep", "strategy", "tau", "low", "high"]
    tau = cells(NEW)["tau"].to_numpy()
    own = [
        x.reshape(-1, 4) - x.reshape(-1, 4).mean(axis=1)[:, None]
        for x in (found["tau"].to_numpy(), tau)
    ]
    assert np.corrcoef(own[0].ravel(), own[1].ravel())[0, 1] > 0.8  # within groups of four
    turned = learner.fit(
        TABLE[::-1], FEATURES.sample(fraction=1, shuffle=True, seed=1), 3, level=None
    )
    assert turned.predict(NEW[::-1], NEW_FEATURES).equals(found)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_taus_of_cells_to_predict_and_features_of_others_are_not_looked_at(learner):
    alone = learner.fit(TABLE, FEATURES, level=None).predict(NEW, NEW_FEATURES)
    more = FEATURES.vstack(NEW_FEATURES)
    poisoned = NEW.with_columns(tau=pl.lit(1e9), tau_sd=pl.lit(-3.0))
    assert learner.fit(TABLE, more, level=None).predict(poisoned, more).equals(alone)


def test_intervals_hold_new_taus_about_as_often_as_they_say():
    table, features = grid(5, n_sets=60)
    known = table.filter(pl.col("data") < "d20")
    fitted = Ridge((1.0,)).fit(known, features, level=0.8)
    new = table.filter(pl.col("data") >= "d20")
    found = fitted.predict(new, features)
    tau = cells(new)["tau"].to_numpy()
    inside = (tau >= found["low"].to_numpy()) & (tau <= found["high"].to_numpy())
    assert 0.75 < inside.mean() < 0.92
    assert 0.2 < (found["high"] - found["low"]).mean() < 0.5  # 0.26 without any error of the fit


def test_jackknife_plus_by_hand():
    """Four data sets, one cell: a fifth of the weight lies beyond, a fifth at each of them."""
    parts = [LeftOut(np.array([m]), np.array([0.1])) for m in (0.0, 0.1, 0.2, 0.3)]
    low, high = jackknife_plus(parts, 0.75)
    assert (low[0], high[0]) == (pytest.approx(-0.1), pytest.approx(0.4))
    low, high = jackknife_plus(parts, 0.55)
    assert (low[0], high[0]) == (pytest.approx(0.0), pytest.approx(0.3))
    assert jackknife_plus(parts, 0.85)[0][0] == -1
    # A data set's weight is shared by its cells: a tenth each at 0.4 and 0.8.
    parts[3] = LeftOut(np.array([0.3]), np.array([0.1, 0.5]))
    assert jackknife_plus(parts, 0.75)[1][0] == pytest.approx(0.8)  # 0.3 of the weight from there
    assert jackknife_plus(parts, 0.65)[1][0] == pytest.approx(0.4)


def test_fewer_data_sets_than_a_level_needs_give_the_whole_range():
    found = Ridge((1.0,)).fit(*grid(n_sets=3), level=0.8).predict(NEW, NEW_FEATURES)
    assert set(found["low"]) == {-1.0}
    assert set(found["high"]) == {1.0}


def test_missing_features_are_filled_flagged_and_no_zero():
    x = np.array([[1.0, np.nan], [2.0, 5.0], [9.0, 7.0]])
    scaled = Scaled.of(x)
    assert scaled(x).shape == (3, 3)
    np.testing.assert_allclose(scaled(x).mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled(x).std(axis=0), 1)
    same = scaled(np.array([[2.0, np.nan], [2.0, 6.0]]))
    assert same[0, 1] == same[1, 1]  # the median
    assert same[0, 2] > same[1, 2]  # and the flag
    assert np.array_equal(scaled(np.array([[1e9, 5.0]]))[0, 0], scaled(x)[2, 0])  # no further out
    nothing = Scaled.of(np.full((3, 1), np.nan))
    assert nothing(np.array([[4.0]])).tolist() == [[0.0]]


@pytest.mark.parametrize("learner", [Boosting(Trees((2, 3), 10)), PairBoosting(Trees((2, 3), 10))],
                         ids=lambda one: one.name)  # fmt: skip
def test_trees_take_a_column_that_no_data_set_of_a_fold_has(learner):
    """Times that a single data set has are gone where that one is left out."""
    once = FEATURES.with_columns(
        times=pl.when(pl.col("data") == "d01").then("times").otherwise(float("nan"))
    )
    new = NEW_FEATURES.with_columns(times=pl.lit(1.0))
    found = learner.fit(TABLE, once, level=None).predict(NEW, new)
    assert found["tau"].is_finite().all()


def test_settings_are_chosen_on_whole_data_sets():
    data = np.repeat(np.arange(7), 3)
    parts = list(folds(data))
    assert len(parts) == 5
    assert np.array_equal(np.sum(parts, axis=0), np.ones(21))
    assert all(part.reshape(7, 3).all(axis=1).sum() * 3 == part.sum() for part in parts)
    asked = []
    best = chosen([3, 1, 2], data, lambda option, out: asked.append(out) or abs(option - 2))
    assert best == 2
    assert len(asked) == 15
    assert chosen([8], data, lambda option, out: 1 / 0) == 8
    with pytest.raises(DataError, match="only one has cells"):
        chosen([1, 2], np.zeros(5), lambda option, out: 0.0)


def test_a_single_pair_of_a_data_set_is_learnt_from():
    """Both ways, so that there are two classes whatever is left out."""
    few = TABLE.filter(pl.col("data") < "d03", pl.col("keep") == 0.5, pl.col("metric") == "mse")
    two = few.filter(pl.col("strategy") < "C")
    taus = Logistic((0.1, 1.0)).fit(two, FEATURES, level=None).predict(two, FEATURES)
    assert len(taus) == 6


def test_round_robin_never_asks_for_a_sampler_against_itself():
    group, strength = np.array([0, 0, 1, 0, 2]), np.array([1.0, 3.0, 5.0, 2.0, 4.0])
    asked = []

    def wins(a, b):
        asked.extend(zip(a.tolist(), b.tolist()))
        return np.where(strength[a] > strength[b], 0.9, 0.3)  # not antisymmetric

    found = round_robin(group, wins)
    assert sorted(asked) == [(0, 1), (0, 3), (1, 0), (1, 3), (3, 0), (3, 1)]
    np.testing.assert_allclose(found, [0.2, 0.8, 0.5, 0.5, 0.5])


def test_pairs_are_within_groups_and_leave_out_ties():
    some = training()
    a, b = all_pairs(some.group)
    assert len(a) == 48 * 6
    assert (some.group[a] == some.group[b]).all()
    tied = TABLE.with_columns(tau=pl.when(pl.col("data") < "d02").then(0.5).otherwise("tau"))
    found = pairs(training(tied))
    assert len(found.better) == 40 * 6
    assert (training(tied).tau[found.better] > training(tied).tau[found.worse]).all()
    of_group = np.bincount(some.group[found.better], found.weight)
    np.testing.assert_allclose(of_group[of_group > 0], training(tied).weight[0] ** 2)
    with pytest.raises(DataError, match="there is no order to learn"):
        pairs(training(TABLE.with_columns(tau=pl.lit(0.5))))


def test_a_pair_shares_what_its_group_shares():
    names = ["z", "noisy", "times"]
    shared = FEATURES.with_columns(times=pl.col("times").first().over("data", "keep"))
    own = _own(training(TABLE, shared))
    assert dict(zip(names, own[:3])) == {"z": True, "noisy": True, "times": False}
    assert own[4:].tolist() == [False] * 4 + [True] * 4  # scenarios, metrics, then samplers


def test_taus_of_an_order_keep_it_and_have_the_level_of_their_kind():
    some = training()
    taus = _as_taus(lambda x, group: x[:, 0], some)(some)
    for group in np.unique(some.group):
        mine = some.group == group
        assert np.array_equal(np.argsort(taus[mine]), np.argsort(some.x[mine, 0]))
        kind = some.kind == some.kind[mine][0]
        assert taus[mine].mean() == pytest.approx(some.tau[kind].mean())
    assert np.ptp(_as_taus(lambda x, group: -x[:, 0], some)(some)[:4]) == 0  # learnt nothing


def test_noisy_taus_count_less():
    loud = TABLE.with_columns(tau_sd=pl.when(pl.col("strategy") == "A").then(0.6).otherwise(0.01))
    weight = training(loud).weight.reshape(-1, 4)
    assert (weight[:, 0] < 0.3).all()
    assert (weight[:, 1:] > 0.95).all()
    unknown = training(TABLE.with_columns(tau_sd=pl.lit(None)))
    assert (unknown.weight == 1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop("metric"), "needs the columns .* metric missing"),
        (lambda t: t.with_columns(keep=pl.lit(1.0)), r"keep must be a share .* got 1 in the cell"),
        (lambda t: t.with_columns(tau=pl.lit(1.5)), r"tau must be in \[-1, 1\], got 1.5"),
        (lambda t: t.vstack(t[:1]), "has the cell data d00.* more than once"),
        (lambda t: t.with_columns(strategy=pl.lit(3)), "'strategy' must be text"),
        (lambda t: t.filter(pl.col("data") < "d02"), "at least 3 data sets with taus, got 2"),
    ],
)  # fmt: skip
def test_tables_that_say_nothing_are_refused(change, message):
    with pytest.raises(DataError, match=message):
        Ridge().fit(change(TABLE), FEATURES)


def test_features_that_dont_fit_are_refused():
    learner = Ridge((1.0,))
    with pytest.raises(DataError, match=r"no features for the cell data d11.* \(and 15 further"):
        learner.fit(TABLE, FEATURES.filter(pl.col("data") != "d11"))
    with pytest.raises(DataError, match="no metric and no tau"):
        learner.fit(TABLE, FEATURES.with_columns(tau=pl.lit(0.0)))
    with pytest.raises(DataError, match="feature 'z' is infinite"):
        learner.fit(TABLE, FEATURES.with_columns(z=pl.lit(np.inf)))
    fitted = learner.fit(TABLE, FEATURES, level=None)
    with pytest.raises(DataError, match="the strategy 'X' is not among"):
        fitted.predict(
            NEW.with_columns(strategy=pl.lit("X")).unique(["data", "keep", "metric"]),
            NEW_FEATURES.with_columns(strategy=pl.lit("X")).unique(["data", "keep"]),
        )
    with pytest.raises(DataError, match="the features lack 'z'"):
        fitted.predict(NEW, NEW_FEATURES.drop("z"))
    with pytest.raises(SpecError, match=r"level of intervals must be in \(0.5, 1\)"):
        learner.fit(TABLE, FEATURES, level=0.3)
    with pytest.raises(SpecError, match="alphas must be a tuple of numbers > 0"):
        Ridge((0.0,))
    if importlib.util.find_spec("torch") is None:
        for learner in (MLP(), BPR()):
            with pytest.raises(SpecError, match="need PyTorch, which is not installed"):
                learner.fit(TABLE, FEATURES)
    with pytest.raises(SpecError, match="depths must be a whole number >= 1"):
        Trees(depths=(0,))
    with pytest.raises(SpecError, match="least must be a number >= 0"):
        Trees(least=-1.0)


def test_ridge_is_that_of_scikit_learn():
    from sklearn.linear_model import Ridge as Theirs

    some = training(TABLE.with_columns(tau_sd=0.1 + 0.5 * (pl.col("strategy") == "A")))
    scaled = Scaled.of(some.x)
    for alpha in (1e-2, 10.0):
        theirs = Theirs(alpha).fit(scaled(some.x), some.tau, _alike(some.weight, some.data))
        mine = Ridge((alpha,))._fit(some, 0)
        np.testing.assert_allclose(
            mine(some.x, some.group), theirs.predict(scaled(some.x)), rtol=0, atol=1e-9
        )


def test_data_sets_count_alike_in_a_ridge_however_many_cells_they_have():
    weight = _alike(np.array([1.0, 1.0, 0.5, 0.5, 1.0]), np.array([0, 1, 1, 1, 2]))
    np.testing.assert_allclose(np.bincount([0, 1, 1, 1, 2], weight), 5 / 3)
    assert weight[1] == pytest.approx(2 * weight[2])  # and noisy cells less within one


def test_elimination_leaves_the_columns_that_count():
    """z is what taus follow; of 30 columns of noise none is kept before it."""
    rng = np.random.default_rng(3)
    noise = {f"n{j}": rng.normal(size=len(FEATURES)) for j in range(30)}
    some = training(TABLE, FEATURES.with_columns(**noise))
    kept = Ridge((1.0,), columns=3)._fit(some, 0)
    assert len(kept.columns) == len(kept.weights) == 3
    names = feature_names(FEATURES.with_columns(**noise))
    assert names.index("z") in kept.columns
    assert len(Ridge((1.0,))._fit(some, 0).weights) > 30
    with pytest.raises(SpecError, match="columns must be a whole number >= 1"):
        Ridge(columns=0)


def test_a_saved_ridge_predicts_the_same_numbers(tmp_path):
    fitted = Ridge((1.0, 100.0), columns=4).fit(TABLE, FEATURES)
    fitted.save(tmp_path)
    again = Fitted.load(tmp_path)
    assert again.learner == fitted.learner
    assert again.predict(NEW, NEW_FEATURES).equals(fitted.predict(NEW, NEW_FEATURES))
    assert again.gains(NEW, NEW_FEATURES, "B").equals(fitted.gains(NEW, NEW_FEATURES, "B"))


def test_what_can_not_be_kept_or_read_is_said(tmp_path):
    with pytest.raises(SpecError, match="a fitted Logistic can't be kept"):
        Logistic((0.1,)).fit(TABLE, FEATURES, level=None).save(tmp_path)
    with pytest.raises(SpecError, match="needs a level"):
        Ridge((1.0,)).fit(TABLE, FEATURES, level=None).save(tmp_path)
    with pytest.raises(StoreError, match=r"left_out\.parquet is missing|model\.safetensors is"):
        Fitted.load(tmp_path / "none")
    Ridge((1.0,)).fit(TABLE, FEATURES).save(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(StoreError, match="holds no fitted model that can be used"):
        Fitted.load(tmp_path)


def test_the_gain_of_the_best_is_predicted_by_one_model_at_a_time():
    fitted = Ridge((1.0,)).fit(TABLE, FEATURES, level=0.8)
    taus = fitted.predict(NEW, NEW_FEATURES)
    found = fitted.gains(NEW, NEW_FEATURES, "B")
    assert len(found) == 3 * 2 * 2
    for row in found.iter_rows(named=True):
        of = taus.filter(*(pl.col(k) == row[k] for k in ("data", "scenario", "metric", "keep")))
        own = dict(zip(of["strategy"], of["tau"]))
        base = own.pop("B")
        assert row["strategy"] == max(own, key=own.get)
        assert row["gain"] == pytest.approx(own[row["strategy"]] - base)
        assert row["low"] < row["gain"] < row["high"]
    measured = dict(zip(NEW.select("data", "scenario", "metric", "keep", "strategy").rows(),
                        NEW["tau"]))  # fmt: skip
    inside = 0
    for row in found.iter_rows(named=True):
        key = (row["data"], row["scenario"], row["metric"], row["keep"])
        gain = measured[*key, row["strategy"]] - measured[*key, "B"]
        inside += row["single_low"] <= gain <= row["single_high"]
    assert inside >= 8  # of 12 at 80 %
    widths = [found[f"{kind}high"] - found[f"{kind}low"] for kind in ("", "single_")]
    assert widths[0].mean() < widths[1].mean()
    alone = fitted.gains(NEW.filter(pl.col("strategy") == "B"), NEW_FEATURES, "B")
    assert len(alone) == 0


def test_a_gain_is_not_known_where_no_data_set_has_the_scenario():
    """Errors are of the scenario that is asked about; two data sets with it are too few."""
    few = TABLE.filter((pl.col("scenario") == "explicit") | (pl.col("data") < "d02"))
    found = Ridge((1.0,)).fit(few, FEATURES).gains(NEW, NEW_FEATURES, "A")
    of = found.filter(pl.col("scenario") == "implicit")
    assert of["data_sets"].unique().to_list() == [2]
    assert of.select("low", "high").unique().rows() == [(-2.0, 2.0)]
    assert (found.filter(pl.col("scenario") == "explicit")["low"] > -2).all()
