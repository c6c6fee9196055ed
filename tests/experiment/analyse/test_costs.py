"""Costs beside quality: means, the largest peak, and what was not measured."""

import pytest
from tests.experiment.analyse.stores import make_store, study_of, trial

from fullrank.experiment.analyse.costs import costs
from fullrank.models import BPRMF, EASE


def test_means_and_peaks(tmp_path):
    known = {
        "fit_seconds": 2.0, "rank_seconds": 0.5, "fit_peak_mib": 100.0, "rank_peak_mib": 300.0,
        "fit_joules": 4.0, "rank_joules": 1.0,
    }  # fmt: skip
    trials = {"a": [trial(0, mrr=0.1), trial(1, mrr=0.2)]}
    folder = make_store(
        tmp_path / "s", {"a": [1, 2], "b": [3, 4]}, resources={"a": known}, trials=trials,
        classes={"b": "no.such.module:Model"},
    )  # fmt: skip
    a, b = costs(study_of(folder))
    assert (a.cost.fits, a.cost.fit_seconds, a.cost.rank_seconds) == (1, 2.0, 0.5)
    assert (a.cost.queries_per_second, a.cost.peak_mib, a.cost.joules) == (4.0, 300.0, 5.0)
    assert a.cost.search_seconds == 4.0
    assert a.quality == {"MRR@10": 0.75, "HitRate@2": 1.0}
    assert (b.cost.fit_seconds, b.cost.rank_seconds, b.cost.joules) == (0.5, None, None)
    assert (b.cost.search_seconds, b.cost.peak_mib, b.complexity) == (None, None, "")
    assert b.quality["MRR@10"] == pytest.approx((1 / 3 + 1 / 4) / 2)
    assert b.to_dict()["complexity"] is None


def test_orders_are_those_that_the_class_itself_states(tmp_path):
    classes = {"a": "EASE", "b": "WARPMF"}  # a subclass of BPRMF, which states its own
    a, b = costs(study_of(make_store(tmp_path / "s", {"a": [1], "b": [2]}, classes=classes)))
    assert a.complexity == EASE.complexity == "n³ + sum over users of |S_u|²"
    assert BPRMF.complexity
    assert b.complexity == ""
