"""Shares of variance, worked out by hand for a balanced design and a nested one."""

import pytest
from tests.experiment.analyse.stores import make_store, study_of

from fullrank.experiment.analyse.variance import score_variance

CLASSES = {"classes": {"a": "EASE", "b": "SLIM"}, "metrics": ["mrr@10"]}
LAST = {"strategy": "LeaveLast"}


def test_two_models_under_two_splits(tmp_path):
    """Scores 1, 1/2 and 1/2, 1/4: mean 9/16; models ±3/16, splits ±3/16, rest ±1/16."""
    study = study_of(
        make_store(tmp_path / "one", {"a": [1] * 3, "b": [2] * 3}, **CLASSES),
        make_store(tmp_path / "two", {"a": [2] * 3, "b": [4] * 3}, split=LAST, **CLASSES),
    )
    found = score_variance(study)
    expected = {"model": 9 / 19, "split": 9 / 19, "residual": 1 / 19}
    assert {s.term: s.share for s in found.shares} == pytest.approx(expected)
    assert [share.df for share in found.shares] == [1, 1, 1]
    assert found.shares[0].sum_squares == pytest.approx(4 * (3 / 16) ** 2)
    assert (found.units, found.balanced, found.aliased) == (4, True, ())
    assert all(s.low == pytest.approx(s.share) for s in found.shares)  # all users agree


def test_a_setting_that_one_model_alone_has(tmp_path):
    """The objective changes within MF: what tells EASE from MF is not its share."""
    ranks = {"e": [2] * 3, "bpr": [4] * 3, "hinge": [1] * 3}
    settings = {"e": {}, "bpr": {"objective": "bpr"}, "hinge": {"objective": "hinge"}}
    classes = {"e": "EASE", "bpr": "MF", "hinge": "MF"}
    folder = make_store(
        tmp_path / "s", ranks, settings=settings, classes=classes, metrics=["mrr@10"]
    )
    found = score_variance(study_of(folder))
    shares = {share.term: share for share in found.shares}
    # Between bpr and hinge: 2 (3/8)^2. Model adds nothing to the objective: "none" is EASE.
    assert shares["objective"].sum_squares == pytest.approx(2 * (3 / 8) ** 2)
    assert found.aliased == ("model",)
    assert not found.balanced


def test_intervals_hold_the_share(tmp_path):
    study = study_of(
        make_store(tmp_path / "one", {"a": [1, 2, 1, 3], "b": [4, 2, 5, 3]}, **CLASSES),
        make_store(tmp_path / "two", {"a": [2, 2, 1, 1], "b": [4, 3, 3, 9]}, split=LAST, **CLASSES),
    )
    for share in score_variance(study).shares:
        assert 0 <= share.low <= share.high <= 1
    assert score_variance(study).shares[0].low < score_variance(study).shares[0].share


def test_what_rounding_leaves_is_none(tmp_path):
    """Both splits alike: their sum of squares is 0, not 1e-33."""
    ranks = {"a": [3, 7, 6], "b": [7, 3, 9]}
    study = study_of(
        make_store(tmp_path / "one", ranks, **CLASSES),
        make_store(tmp_path / "two", ranks, split=LAST, **CLASSES),
    )
    shares = {share.term: share.share for share in score_variance(study).shares}
    assert shares == {"model": 1, "split": 0, "residual": 0}


def test_nothing_to_decompose(tmp_path):
    two = make_store(tmp_path / "two", {"a": [1], "b": [2]}, **CLASSES)
    assert score_variance(study_of(two)).shares == ()
    ranks = {"a": [1], "b": [2], "c": [3]}  # the model alone changes: all of it is its share
    assert score_variance(study_of(make_store(tmp_path / "three", ranks, **CLASSES))).shares == ()
    alike = {label: [4, 4] for label in "ab"}
    flat = study_of(
        make_store(tmp_path / "one", alike, **CLASSES),
        make_store(tmp_path / "other", alike, split=LAST, **CLASSES),
    )
    assert {share.share for share in score_variance(flat).shares} == {None}
