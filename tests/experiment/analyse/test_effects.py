"""One factor at a time, worked out by hand and against the paired interval."""

import numpy as np
import pytest
from tests.experiment.analyse.stores import make_store, study_of

from fullrank.experiment.analyse.effects import contexts_of, factor_effects
from fullrank.report._analysis_grids import verdict
from fullrank.report.board import BETTER
from fullrank.stats import paired_difference

LOSSES = {"m bpr": "bpr", "m hinge": "hinge", "f bpr": "bpr", "f hinge": "hinge"}
SETTINGS = {label: {"objective": loss, "dim": 4} for label, loss in LOSSES.items()}
CLASSES = {label: {"m": "MF", "f": "FM"}[label[0]] for label in LOSSES}
RANKS = {"m bpr": [2, 4], "m hinge": [1, 4], "f bpr": [4, 5], "f hinge": [2, 2]}
"""Reciprocal ranks: 0.375, 0.625; 0.225, 0.5."""


def losses(folder, ranks=RANKS, **options):
    given = {"settings": SETTINGS, "classes": CLASSES, "metrics": ["mrr@10"], **options}
    return make_store(folder, ranks, **given)


def test_a_setting_that_differs_alone(tmp_path):
    (effect,) = factor_effects(study_of(losses(tmp_path / "s")))
    assert (effect.factor, effect.level, effect.reference) == ("objective", "hinge", "bpr")
    assert effect.contexts == 2  # MF and FM
    assert effect.score == pytest.approx((0.625 + 0.5) / 2)
    assert effect.reference_score == pytest.approx((0.375 + 0.225) / 2)
    assert effect.difference == pytest.approx((0.25 + 0.275) / 2)
    assert (effect.pairing, effect.shared) == ("paired", 1)


def test_two_factors_at_once_are_no_effect_of_either(tmp_path):
    both = {"m bpr": {"objective": "bpr", "dim": 4}, "m hinge": {"objective": "hinge", "dim": 8}}
    ranks = {label: RANKS[label] for label in both}
    assert factor_effects(study_of(losses(tmp_path / "s", ranks, settings=both))) == ()


def test_a_split_that_differs_alone(tmp_path):
    one = losses(tmp_path / "one")
    two = losses(tmp_path / "two", {"m bpr": [1, 1]}, split={"strategy": "LeaveLast"})
    effects = {e.factor: e for e in factor_effects(study_of(one, two))}
    split = effects["split"]
    assert (split.level, split.reference) == ("LeaveLast", "GlobalTime(test=0.2)")
    assert (split.contexts, split.difference) == (1, pytest.approx(1 - 0.375))


def test_the_reference_has_most_contexts(tmp_path):
    last, fold = {"strategy": "LeaveLast"}, {"strategy": "KFold"}
    few = {label: RANKS[label] for label in ("m bpr", "m hinge")}
    study = study_of(
        losses(tmp_path / "one", {"m bpr": [1, 1]}),
        losses(tmp_path / "two", few, split=last),
        losses(tmp_path / "three", few, split=fold),
    )
    found = {(e.level, e.reference): e for e in factor_effects(study) if e.factor == "split"}
    assert set(found) == {("GlobalTime(test=0.2)", "LeaveLast"), ("KFold", "LeaveLast")}
    assert [effect.contexts for effect in found.values()] == [1, 2]
    assert contexts_of(study)["split"][0].keys() == {"GlobalTime(test=0.2)", "LeaveLast", "KFold"}


def test_the_interval_of_pairs_is_that_of_their_differences(tmp_path):
    rng = np.random.default_rng(2)
    base = rng.integers(1, 6, 300)
    ranks = {"m bpr": base + rng.integers(0, 2, 300), "m hinge": base}
    folder = losses(tmp_path / "s", {k: v.tolist() for k, v in ranks.items()})
    (effect,) = factor_effects(study_of(folder, resamples=2000))
    expected = paired_difference(1 / ranks["m hinge"], 1 / ranks["m bpr"])
    width = expected.high - expected.low
    assert effect.difference == pytest.approx(expected.value)
    assert effect.low == pytest.approx(expected.low, abs=0.05 * width)
    assert effect.high == pytest.approx(expected.high, abs=0.05 * width)
    unpaired = 2 * 1.96 * np.sqrt(sum((1 / r).var() for r in ranks.values()) / 300)
    assert width < 0.7 * unpaired  # what ignoring the pairs would give


@pytest.mark.parametrize(
    ("users", "pairing", "shared"),
    [(["u1", "u2"], "partly", 1 / 3), (["v1", "v2"], "unpaired", 0)],
)
def test_users_that_differ_are_said_to(tmp_path, users, pairing, shared):
    one = losses(tmp_path / "one", {"m bpr": [1, 2]}, users=["u0", "u1"])
    two = losses(tmp_path / "two", {"m bpr": [3, 4]}, users=users, filters=[{"core": {"users": 2}}])
    (effect,) = factor_effects(study_of(one, two))
    assert effect.factor == "filters"
    assert (effect.pairing, effect.shared) == (pairing, pytest.approx(shared))


def test_another_split_asks_the_same_users_something_else(tmp_path):
    """One query a user under both, with other items held out: harder or easier, not better."""
    users = [f"u{j}" for j in range(40)]
    one = losses(tmp_path / "one", {"m bpr": [9] * 40}, users=users)
    other = {"strategy": "LeaveRandom"}
    two = losses(tmp_path / "two", {"m bpr": [1] * 40}, users=users, split=other)
    effect = factor_effects(study_of(one, two))[0]
    assert effect.factor == "split"
    assert effect.low > 0 or effect.high < 0
    assert (effect.pairing, effect.shared) == ("partly", 1)
    assert verdict(effect) == ""


@pytest.mark.parametrize(
    ("changes", "pairing", "mark"),
    [
        ({"filters": [{"binarise": {"at": 4}}], "items": [7] * 40}, "partly", ""),
        ({"filters": [{"binarise": {"at": 4}}]}, "paired", BETTER),  # filters that changed no query
        ({"candidates": {"strategy": "Uniform", "m": 9}}, "paired", ""),
    ],
    ids=["other items held out", "the same held out", "fewer candidates"],
)
def test_better_is_said_of_the_same_task_alone(tmp_path, changes, pairing, mark):
    one = losses(tmp_path / "one", {"m bpr": [9] * 40})
    two = losses(tmp_path / "two", {"m bpr": [1] * 40}, **changes)
    (effect,) = factor_effects(study_of(one, two))
    assert effect.factor in changes
    assert effect.low > 0
    assert (effect.pairing, effect.shared, verdict(effect)) == (pairing, 1, mark)


def test_data_sets_are_never_paired(tmp_path):
    """The same names of users in two data sets are other people."""
    one = losses(tmp_path / "one", {"m bpr": [1, 2]})
    two = losses(tmp_path / "two", {"m bpr": [1, 2]}, data="e")
    (effect,) = factor_effects(study_of(one, two))
    assert (effect.factor, effect.pairing) == ("data", "unpaired")


def test_tuned_settings_leave_the_level_alone(tmp_path):
    """Each split tuned for itself: the neighbours that were chosen don't count as a difference."""
    from tests.experiment.analyse.stores import trial

    trials = [trial(0, mrr=0.1), trial(1, mrr=0.2)]
    one, two = (
        make_store(
            tmp_path / name, {"m": [rank, rank]}, metrics=["mrr@10"], trials={"m": trials},
            settings={"m": {"reg": chosen}}, split={"strategy": name},
        )
        for name, rank, chosen in (("GlobalTime", 2, 0.1), ("LeaveLast", 1, 7.0))
    )  # fmt: skip
    (effect,) = factor_effects(study_of(one, two))
    assert (effect.factor, effect.difference) == ("split", 0.5)
