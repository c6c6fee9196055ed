"""Advice: which sampler, how sure, what it saves, and when nothing can be told from chance."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.advise.meta import KEEPS, KINDS, STRATEGIES, meta
from tests.subsample.worlds import LOW, rows, world

from fullrank.advise import MetaData, advise, track_record
from fullrank.advise._saving import saving
from fullrank.advise.learners import Ridge
from fullrank.advise.learners._gain import at_nearest_size, gains, usual_gain
from fullrank.advise.record import comparable, is_taken
from fullrank.advise.shipped import shipped_data, shipped_evaluation, shipped_model
from fullrank.core.errors import DataError, SpecError, StoreError
from fullrank.split import RandomRows
from fullrank.subsample import subsample

NEW = world(50)
RIDGE = Ridge((1.0,))
HOW = {"meta": meta(), "learner": RIDGE, "floor": LOW, "rng": 1}
NOTHING = {**HOW, "meta": meta(signal=0.0, noise=0.2)}


def test_a_sampler_that_is_better_everywhere_is_advised():
    found = advise(NEW, 0.2, scenario="implicit", metric="ndcg@10", **HOW)
    assert found.advised == "HeadUsers"
    assert found.beats_random
    assert found.gain.strategy == "HeadUsers"
    assert 0 < found.gain.low < found.gain.value < found.gain.high
    assert found.gain.value == pytest.approx(0.3, abs=0.05)
    assert found.gain.single_low < found.gain.low
    assert found.gain.single_high > found.gain.high
    assert found.gain.data_sets == 6
    by = {one.strategy: one for one in found.samplers}
    assert set(by) == set(STRATEGIES)
    assert [one.tau for one in found.samplers] == sorted((o.tau for o in by.values()), reverse=True)
    gap = by["HeadUsers"].tau - by["RandomInteractions"].tau
    assert found.gain.value == pytest.approx(gap)
    own = subsample(NEW, "HeadUsers", 0.2, 1, floor=LOW)
    assert np.array_equal(found.sample.rows, own.rows)
    assert by["HeadUsers"].rows == len(own.rows)


def test_where_nothing_is_to_be_learnt_random_rows_are_advised():
    found = advise(NEW, 0.2, scenario="implicit", **NOTHING)
    assert found.advised == "RandomInteractions"
    assert not found.beats_random
    assert found.gain.low <= 0
    assert found.gain.strategy != "RandomInteractions"
    assert found.sample.manifest["strategy"] == "RandomInteractions"


def test_only_training_rows_of_a_split_are_measured_and_sampled():
    split = RandomRows(test=0.3).split(NEW, rng=1)
    found = advise(split, 0.5, scenario="implicit", **HOW)
    alone = advise(split.train, 0.5, scenario="implicit", **HOW)
    assert [o.tau for o in found.samplers] == [o.tau for o in alone.samplers]
    assert found.sample.split.counts["test"] == split.counts["test"]


def test_the_scenario_is_that_of_the_data():
    plain = rows(NEW.user_ids, NEW.item_ids)
    rated = advise(NEW, 0.5, proxies=False, **HOW)
    assert (rated.scenario, rated.chosen_by) == (
        "explicit",
        "the data have ratings; for lists of items ask for implicit or sequential",
    )
    assert rated.metric == "RMSE"
    bare = advise(plain, 0.5, proxies=False, **HOW)
    assert bare.scenario == "implicit"
    assert bare.metric == "NDCG@10"
    constant = rows(NEW.user_ids, NEW.item_ids, values=np.ones(len(NEW)))
    assert advise(constant, 0.5, proxies=False, **HOW).scenario == "implicit"
    with pytest.raises(DataError, match=r"'explicit' needs ratings.*--columns rating=NAME"):
        advise(plain, 0.5, scenario="explicit", **HOW)


def test_samplers_that_can_not_be_drawn_stand_in_the_answer_unless_named():
    base = meta()
    timed = base.taus.with_columns(strategy=pl.col("strategy").replace("HeadItems", "Temporal"))
    known = MetaData(timed, base.features.with_columns(
        strategy=pl.col("strategy").replace("HeadItems", "Temporal")), base.costs, base.about
    )  # fmt: skip
    how = {**HOW, "meta": known, "scenario": "implicit"}
    plain = rows(NEW.user_ids, NEW.item_ids)
    found = advise(plain, 0.5, proxies=False, **how)
    assert "no time column" in found.undrawn["Temporal"]
    assert "trains a proxy" in found.undrawn[STRATEGIES[3]]
    assert {one.strategy for one in found.samplers} == {"RandomInteractions", "HeadUsers"}
    with pytest.raises(DataError, match="no time column"):
        advise(plain, 0.5, strategies=["temporal"], **how)
    with pytest.raises(SpecError, match="trains a proxy; leave --no-proxy out"):
        advise(plain, 0.5, strategies=[STRATEGIES[3]], proxies=False, **how)
    named = advise(NEW, 0.5, strategies=["temporal"], **how)
    assert {one.strategy for one in named.samplers} == {"RandomInteractions", "Temporal"}


def test_proxies_are_trained_once_for_all_samplers_that_share_one(monkeypatch):
    from fullrank.subsample import _by_importance

    made = []
    real = _by_importance.importance
    monkeypatch.setattr(_by_importance, "importance",
                        lambda *a, **k: made.append(k["scenario"]) or real(*a, **k))  # fmt: skip
    base = meta()
    other = "SVPCFProp(proxy=bias_only)"
    swap = pl.col("strategy").replace("HeadItems", other)
    known = MetaData(base.taus.with_columns(swap), base.features.with_columns(swap), base.costs,
                     base.about)  # fmt: skip
    found = advise(NEW, 0.5, **{**HOW, "meta": known})
    assert made == ["explicit"]  # the errors of ratings, as the scenario asks
    by = {one.strategy: one.draw_seconds for one in found.samplers}
    assert min(by[other], by[STRATEGIES[3]]) > by["RandomInteractions"]  # each charged the whole


def test_features_outside_those_learnt_from_are_told():
    near = advise(world(0), 0.2, scenario="implicit", proxies=False, **{**HOW, "rng": 0})
    assert near.outside == {}
    far = advise(world(9, n=6000, n_users=500, n_items=300), 0.2, scenario="implicit",
                 proxies=False, **HOW)  # fmt: skip
    value, low, high = far.outside["full.size.log_rows"]
    assert value == pytest.approx(np.log(6000), abs=0.1)
    assert low <= high < value
    assert all(one.outside >= len(far.outside) for one in far.samplers)
    assert "keep" not in far.outside
    few = advise(world(0), 0.1, scenario="implicit", proxies=False, **{**HOW, "rng": 0})
    assert few.outside["keep"] == (0.1, 0.2, 0.5)


def test_savings_are_quartiles_at_the_nearest_size_with_the_drawing_charged():
    costs = meta().costs
    found = saving(costs, "implicit", "HeadUsers", 0.25)
    assert found.keep == 0.2
    assert found.data_sets == 6
    shares = 1 - (0.1 * np.arange(6) + 2) / 10
    assert found.median == pytest.approx(np.median(shares))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(shares, (0.25, 0.75))))
    assert saving(costs, "implicit", STRATEGIES[3], 0.5).median == pytest.approx(0.0)
    unknown = costs.with_columns(study_seconds=pl.lit(None, dtype=pl.Float64))
    assert saving(unknown, "implicit", "HeadUsers", 0.25) is None


def test_the_answer_is_ready_for_json():
    found = advise(NEW, 0.5, scenario="implicit", **HOW)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["advised"] == "HeadUsers"
    assert told["record"] is None  # of the shipped model alone
    assert told["samplers"][0]["saving"]["data_sets"] == 6
    assert set(told["gain"]) == {
        "strategy", "value", "low", "high", "single_low", "single_high", "usual", "usual_low",
        "usual_high", "data_sets",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"keep": 0.0}, SpecError, r"share in \(0, 1\)"),
        ({"keep": 0.001}, DataError, "a usable sample has at least"),
        ({"level": 1.0}, SpecError, r"level of intervals must be in \(0.5, 1\)"),
        ({"scenario": "implict"}, SpecError, "did you mean 'implicit'"),
        ({"metric": "ndcg@20"}, SpecError, "nothing was learnt of NDCG@20 .*did you mean .NDCG@10"),
        ({"strategies": ["RandomItems"]}, SpecError, "nothing was learnt of the strategy 'Rando"),
        ({"strategies": ["RandomItem"]}, SpecError, "did you mean 'RandomItems'"),
        ({"strategies": ["RandomInteractions"]}, DataError, "is the only sampler to choose from"),
    ],
)
def test_bad_questions_are_refused(change, error, message):
    how = {"keep": 0.5, "scenario": "implicit", "proxies": False, **HOW, **change}
    with pytest.raises(error, match=message):
        advise(NEW, floor=None if how["keep"] < 0.01 else how.pop("floor"),
               **{k: v for k, v in how.items() if k != "floor"})  # fmt: skip


def test_the_track_record_leaves_data_sets_out():
    found = track_record(meta(), RIDGE, 1)
    assert found.choosers == ["random", "fixed", "oracle", "Ridge", "random rows", "advised"]
    groups = 6 * len(KEEPS) * len(KINDS)
    assert (found.groups.group_by("chooser").len()["len"] == groups).all()
    assert found.value("advised", "regret").value < 0.05
    assert found.value("random rows", "regret").value == pytest.approx(0.3, abs=0.05)
    gain = found.gain("advised", "random rows")
    assert gain.low > 0.2
    careful = track_record(meta(n_sets=5, signal=0.0, noise=0.2), RIDGE, 1)
    changed = careful.gain("advised", "random rows")
    assert changed.low <= 0 <= changed.high


def test_what_can_be_judged_on_a_data_set_left_out():
    taus = meta().taus
    alone = taus.with_columns(strategy=pl.when(
        (pl.col("data") == "w0") & (pl.col("strategy") == "HeadItems")
    ).then(pl.lit("KCore")).otherwise("strategy"))  # fmt: skip
    assert "KCore" not in set(comparable(alone)["strategy"])
    bare = taus.filter((pl.col("data") != "w1") | (pl.col("strategy") != "RandomInteractions"))
    assert "w1" not in set(comparable(bare)["data"])
    with pytest.raises(DataError, match="nothing to judge advice by"):
        comparable(taus.filter(pl.col("strategy") == "HeadItems"))


def test_meta_data_come_back_from_a_folder_as_they_were(tmp_path):
    base = meta()
    base.save(tmp_path)
    again = MetaData.load(tmp_path)
    for name in ("taus", "features", "costs"):
        assert getattr(again, name).equals(getattr(base, name)), name
    assert again.about == base.about
    half = [base.only(["w0", "w1"]), base.only(["w2"])]
    assert MetaData.join(half).names == ["w0", "w1", "w2"]
    (tmp_path / "costs.csv").unlink()
    with pytest.raises(StoreError, match=r"costs\.csv is missing"):
        MetaData.load(tmp_path)
    base.save(tmp_path)
    for damage, said in (
        (lambda text: text[: len(text) // 2 + 1].rstrip("\n"), r"costs\.csv is cut short"),
        (lambda text: text + text.partition("\n")[2], "the sample data w0, .* more than once"),
    ):
        whole = (tmp_path / "costs.csv").read_text()
        (tmp_path / "costs.csv").write_text(damage(whole))
        with pytest.raises(StoreError, match=said):
            MetaData.load(tmp_path)
        (tmp_path / "costs.csv").write_text(whole)
    with pytest.raises(DataError, match="full_seconds must be >= 0"):
        replace(base, costs=base.costs.with_columns(full_seconds=pl.lit(-1.0)))
    (tmp_path / "about.json").write_text('{"format": 99}')
    with pytest.raises(StoreError, match="format 99, expected 1"):
        MetaData.load(tmp_path)


def test_meta_data_that_do_not_fit_are_refused():
    base = meta()
    with pytest.raises(DataError, match=r"needs the columns .* repeats missing"):
        replace(base, taus=base.taus.drop("repeats"))
    with pytest.raises(DataError, match="no features for the cell data w5"):
        replace(base, features=base.features.filter(pl.col("data") != "w5"))
    with pytest.raises(DataError, match="nothing is said about the data set 'w0'"):
        replace(base, about={})
    with pytest.raises(DataError, match=r"'sample\.size\.repeats' is in one of them alone"):
        MetaData.join([base, replace(base, features=base.features.drop("sample.size.repeats"))])
    with pytest.raises(DataError, match="more than once"):
        MetaData.join([base, base])
    with pytest.raises(DataError, match="no data set 'w9'; known: w0, w1"):
        base.only(["w9"])


def test_what_is_shipped_goes_together():
    """Whatever its numbers are."""
    known, fitted = shipped_data(), shipped_model()
    cells = known.taus.filter(pl.col("tau").is_not_null())
    few = cells.filter(pl.col("data") == known.names[0])
    taus = fitted.predict(few, known.features)
    assert taus["tau"].is_between(-1, 1).all()
    assert (taus["low"] <= taus["high"]).all()
    assert set(fitted.design.categories["strategy"]) == set(cells["strategy"])
    left = pl.concat([part.cells for part in fitted.left_out])
    assert len(left) == len(cells)  # the model was trained on just these
    record = shipped_evaluation()
    assert {"advised", "random rows", "random", "fixed", "oracle"} <= set(record.choosers)
    assert set(record.groups["data"]) <= set(known.names)


def test_a_sampler_that_is_better_on_average_is_advised_though_these_data_leave_it_open():
    assert is_taken(0.1, 0.01, None)
    assert is_taken(0.1, -0.2, 0.05)
    assert not is_taken(0.1, -0.2, -0.05)
    assert not is_taken(0.1, -0.2, None)
    assert not is_taken(-0.1, -0.3, 0.05)


def test_what_choices_gained_on_data_sets_left_out_by_hand():
    rows = [("A", 0.1, 0.2), ("B", 0.5, 0.3), ("A", 0.4, 0.6), ("B", 0.1, 0.5)]
    own = pl.DataFrame(rows, ["strategy", "tau", "predicted"], orient="row").with_columns(
        data=pl.lit("d"),
        scenario=pl.lit("s"),
        metric=pl.lit("m"),
        keep=pl.Series([0.1, 0.1, 0.5, 0.5]),
    )
    other = own.with_columns(tau=pl.col("tau") * 0.5)
    usual, low, high = usual_gain([own, other], "A")
    assert usual == pytest.approx(0.15)  # 0.4 in the first group and 0 in the second; half of it
    half = stats.t.ppf(0.975, 1) * 0.05 * np.sqrt(1 + 2)  # two data sets, 0.2 and 0.1
    assert (low, high) == (pytest.approx(usual - half), pytest.approx(usual + half))
    assert usual_gain([own], "A") == (None, None, None)


@pytest.mark.parametrize(("keep", "nearest"), [(0.9, 0.6), (0.3, 0.2), (0.2, 0.2), (0.001, 0.1)])
def test_the_usual_gain_is_that_at_the_nearest_size_by_ratio(keep, nearest):
    own = pl.DataFrame({"keep": [0.1, 0.2, 0.6, 0.2], "tau": [0.0, 0.1, 0.2, 0.3]})
    assert at_nearest_size(own, keep)["keep"].unique().to_list() == [nearest]
    assert len(at_nearest_size(own.clear(), keep)) == 0


def test_what_choices_gained_is_told_for_each_size():
    """B is the choice; it is better than A at a tenth of the rows, and worse at 0.8."""
    cells = [(0.1, "A", 0.0), (0.1, "B", 0.3), (0.8, "A", 0.3), (0.8, "B", 0.0)]
    own = pl.DataFrame(cells, ["keep", "strategy", "tau"], orient="row").with_columns(
        data=pl.lit("d"), scenario=pl.lit("s"), metric=pl.lit("m"),
        predicted=pl.Series([0.0, 0.1, 0.0, 0.1]),
    )  # fmt: skip
    predicted = own["predicted"].to_numpy()
    found = gains(own.drop("tau", "predicted"), predicted, [(predicted, own)] * 2, "A", 0.8)
    assert found["strategy"].to_list() == ["B", "B"]
    assert found["usual"].to_list() == pytest.approx([0.3, -0.3])
    better = own.filter(pl.col("strategy") == "B").with_columns(
        strategy=pl.lit("C"), tau=0.9, predicted=0.9
    )  # elsewhere, but not among those of the table
    more = [(predicted, pl.concat([own, better]))] * 2
    assert gains(own.drop("tau", "predicted"), predicted, more, "A", 0.8).equals(found)
