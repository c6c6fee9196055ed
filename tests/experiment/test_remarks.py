"""What ``evaluate`` refuses, or warns of, in lists and truths."""

import polars as pl
import pytest
from tests.experiment.worlds import spec

from fullrank.core.errors import SpecError
from fullrank.experiment.check import check
from fullrank.experiment.compare import compare
from fullrank.experiment.evaluate import evaluate

RECS = {"u": ["a", "b"], "v": ["c", "d"]}
TRUTH = {
    "user_id": ["u", "u", "v"], "item_id": ["a", "b", "c"], "label": [0, 1, 1], "rating": [3, 4, 5]
}  # fmt: skip


@pytest.mark.parametrize("truth", [pl.DataFrame(TRUTH).drop("label"), RECS])
def test_a_threshold_of_grades_needs_grades(truth):
    """Every target has gain 1, so that rel=4 would make every query undefined, silently."""
    with pytest.raises(SpecError, match=r"rel=4 needs a grade column.*--grade COLUMN.*data"):
        evaluate(RECS, truth, ["recall(rel=4)@20"])
    with pytest.raises(SpecError, match="rel=4 needs a grade column"):
        compare([RECS, RECS], truth=truth, metrics=["recall(rel=4)@20"])


def test_thresholds_that_a_gain_of_1_reaches_and_named_grades_are_fine():
    truth = pl.DataFrame(TRUTH).drop("label")
    assert evaluate(RECS, truth, ["recall(rel=1)@2"]).measurements[0].estimate.value == 1.0
    graded = evaluate(RECS, truth, ["recall(rel=4)@1"], grade="rating")
    assert graded.measurements[0].estimate.value == 0.5


@pytest.mark.parametrize("place", ["metrics", "tune"])
def test_a_benchmark_refuses_a_threshold_without_grades(place):
    text = "recall(rel=4)@20"
    changes = {"metrics": {"metrics": [text]}, "tune": {"tune": {"metric": text, "trials": 1}}}
    with pytest.raises(SpecError, match="rel=4 needs a grade column"):
        check(spec(**changes[place]))


def test_a_column_with_zeros_that_is_not_named_is_warned_of():
    found = evaluate(RECS, pl.DataFrame(TRUTH), ["recall@1"])
    (text,) = found.warnings
    assert "'label' is 0 or below in 1 row of the truth" in text
    assert "every row counts as a hit" in text
    assert "--grade label" in text
    assert found.ranked.counts["rows_rated_0_or_below"] == 1
    assert not evaluate(RECS, pl.DataFrame(TRUTH), ["recall@1"], grade="label").warnings
    assert not evaluate(RECS, pl.DataFrame(TRUTH).drop("label"), ["recall@1"]).warnings


def test_the_warned_column_has_its_own_name(tmp_path):
    pl.DataFrame(TRUTH).select("user_id", "item_id", Stars=pl.Series([0, -1, 3])).write_csv(
        tmp_path / "truth.csv"
    )
    (text,) = evaluate(RECS, tmp_path / "truth.csv", ["recall@1"]).warnings
    assert "'Stars' is 0 or below in 2 rows of the truth" in text


@pytest.mark.parametrize(("without", "warned"), [(1, False), (2, True), (9, True)])
def test_many_users_without_a_list_are_warned_of(without, warned):
    truth = {f"u{j}": ["a"] for j in range(10)}
    recs = {user: ["a", "b"] for user in list(truth)[without:]}
    found = evaluate(recs, truth, ["recall@1"])
    text = f"{without} of 10 users of the truth ({without}0%) without a list"
    assert any(text in said for said in found.warnings) is warned
    compared = compare([recs, recs], truth=truth, metrics=["recall@1"])
    assert any(f"system 2: {text}" in said for said in compared.warnings) is warned
    assert found.to_dict()["warnings"] == list(found.warnings)


def _scored(lists):
    rows = [(u, i, float(-j)) for u, items in lists.items() for j, i in enumerate(items)]
    return pl.DataFrame(rows, schema=["user_id", "item_id", "score"], orient="row")


@pytest.mark.parametrize("metric", ["auc", "meanrank"])
def test_scored_lists_that_were_cut_are_no_catalogue(metric):
    truth = {"u": ["a"], "v": ["c"]}
    with pytest.raises(SpecError, match=r"every list has 2 items and together they hold 4.* cut"):
        evaluate(_scored(RECS), truth, [metric])
    with pytest.raises(SpecError, match="the lists hold no scores; give scores of the whole"):
        evaluate(RECS, truth, [metric])
    with pytest.raises(SpecError, match="declared to be cut at depth 2"):
        evaluate(_scored(RECS), truth, [metric], depth=2)


def test_scored_lists_of_the_whole_catalogue_are_known_as_such():
    truth = {"u": ["a"], "v": ["c"]}
    whole = {"u": ["a", "b", "c", "d"], "v": ["d", "c", "b", "a"]}
    assert evaluate(_scored(whole), truth, ["auc"]).measurements[0].estimate.value == pytest.approx(
        (1 + 2 / 3) / 2
    )
    unlike = {"u": ["a", "b", "c"], "v": ["c", "d"]}
    assert evaluate(_scored(unlike), truth, ["auc"]).measurements[0].estimate.value == 1.0
    seen = {"u": ["b", "d"], "v": ["a", "e"]}  # each list lacks what its user had
    rest = {"u": ["a", "c", "e"], "v": ["c", "b", "d"]}
    assert evaluate(_scored(rest), truth, ["auc"], train=seen).ranked.n_candidates.tolist() == [
        3,
        3,
    ]
    others = {"u": ["d", "e"], "v": ["x", "y", "z"], "w": ["q"]}  # of nobody who is evaluated
    strangers = {**whole, "s": ["q", "r", "x", "y"]}
    assert evaluate(_scored(strangers), truth, ["auc"]).warnings == ()
    with pytest.raises(SpecError, match="cut there"):
        evaluate(_scored(rest), truth, ["auc"], train={"u": others["u"]})
