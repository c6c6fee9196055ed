"""Objectives: hand-worked values, gradients by differences, and what they read and write."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank import objectives
from fullrank.core.errors import SpecError
from fullrank.objectives import (
    BPR,
    WARP,
    CrossEntropy,
    Hinge,
    Multinomial,
    Softmax,
    Squared,
    Top1,
    objective,
)
from fullrank.objectives.warp import rank_weights

ALL = [
    Squared(),
    CrossEntropy(),
    CrossEntropy(calibration=0.75),
    BPR(),
    Hinge(),
    Hinge(margin=0.3),
    Top1(),
    Softmax(),
    Softmax(temperature=0.5, log_q=False),
    Multinomial(),
    WARP(),
]


@pytest.mark.parametrize("goal", ALL, ids=str)
def test_gradients_are_those_of_the_loss(goal):
    rng = np.random.default_rng(0)
    positive, negatives = rng.normal(size=5), rng.normal(size=(5, 3))
    _, by_positive, by_negatives = goal.loss(positive, negatives)
    step = 1e-6

    def differ(dp, dn):
        high = goal.loss(positive + dp, negatives + dn)[0]
        return (high - goal.loss(positive - dp, negatives - dn)[0]) / (2 * step)

    np.testing.assert_allclose(differ(step, 0.0), by_positive, atol=1e-6)
    for j in range(3):
        one = np.zeros(3)
        one[j] = step
        np.testing.assert_allclose(differ(0.0, one), by_negatives[:, j], atol=1e-6)


def value(goal, positive, *negatives, **options):
    return goal.loss(np.array([positive]), np.array([negatives]), **options)[0][0]


def test_values_by_hand():
    assert value(Squared(), 0.5, 2.0, -1.0) == pytest.approx(0.125 + 2.0 + 0.5)
    assert value(CrossEntropy(), 0.0, 0.0) == pytest.approx(2 * np.log(2))
    assert value(BPR(), 1.0, 1.0, 1.0) == pytest.approx(2 * np.log(2))
    assert value(Hinge(), 2.0, 1.5, 0.0) == pytest.approx(0.5)
    assert value(Top1(), 1.0, 1.0) == pytest.approx(0.5 + 1 / (1 + np.exp(-1)))
    assert value(Softmax(log_q=False), 0.0, 0.0, 0.0) == pytest.approx(np.log(3))
    assert value(Multinomial(), np.log(2), 0.0, 0.0) == pytest.approx(np.log(2))
    # the second negative violates first: floor((101 - 1) / 2) = 50
    harmonic = sum(1 / i for i in range(1, 51))
    assert value(WARP(), 3.0, 0.0, 2.5, 5.0, n_items=101) == pytest.approx(harmonic * 0.5)
    assert value(WARP(), 3.0, 0.0, 0.0, n_items=101) == 0.0
    assert rank_weights(101, 3) == pytest.approx(
        [sum(1 / i for i in range(1, k + 1)) for k in (100, 50, 33)]
    )


def test_no_score_overflows():
    for goal in ALL:
        loss, *slopes = goal.loss(np.array([-800.0, 800.0]), np.array([[800.0], [-800.0]]))
        assert np.isfinite(loss).all()
        assert all(np.isfinite(part).all() for part in slopes)


def test_corrected_softmax_tends_to_the_whole_one():
    """With every item drawn once, by equal chances, log-Q is 0 and the loss is that of all."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(1, 9))
    n = scores.shape[1]
    log_q = np.full((1, n - 1), np.log((n - 1) / (n - 1)))
    sampled = Softmax().loss(scores[:, 0], scores[:, 1:], log_q=log_q)[0]
    np.testing.assert_allclose(sampled, Multinomial().loss(scores[:, 0], scores[:, 1:])[0])


def test_calibration_of_cross_entropy():
    """gSASRec, equation 12: 0 leaves 1, full calibration gives the share of negatives drawn."""
    assert CrossEntropy().beta(10, 101) == 1.0
    assert CrossEntropy(calibration=1.0).beta(10, 101) == pytest.approx(0.1)
    share = 0.1
    half = share * (0.5 * (1 - 1 / share) + 1 / share)
    assert CrossEntropy(calibration=0.5).beta(10, 101) == pytest.approx(half)


@pytest.mark.parametrize("goal", ALL, ids=str)
def test_text_round_trips(goal):
    assert objective(str(goal)) == goal
    assert objective(str(goal).upper()) == goal
    assert hash(goal) == hash(objective(str(goal)))


def test_every_registered_objective_is_tested():
    assert {type(goal).__name__ for goal in ALL} == set(objectives.REGISTRY)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bprr", "unknown objective 'bprr'; did you mean 'bpr'"),
        ("hinge(margin=0)", "margin must be > 0, got 0"),
        ("hinge(marg=1)", "no setting 'marg'; did you mean 'margin'"),
        ("hinge(1)", "by name only"),
        ("hinge(margin=1", "can't read the objective"),
        ("hinge(margin=1, margin=2)", "given twice"),
        ("softmax(log_q=3)", "log_q must be true or false, got 3"),
        ("softmax(temperature=-1)", "temperature must be > 0"),
        ("crossentropy(calibration=2)", "calibration must be from 0 to 1"),
        ("", "can't read the objective"),
        (3, "is written as text"),
    ],
)
def test_wrong_texts_are_named(text, message):
    with pytest.raises(SpecError, match=message):
        objective(text)


def test_an_objective_that_a_model_cannot_take():
    with pytest.raises(SpecError, match="Mine: the objective Multinomial compares an item with"):
        objective("multinomial", model="Mine", shapes=("pairs",))
