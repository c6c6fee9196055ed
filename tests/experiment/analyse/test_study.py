"""Which results are one condition, what tells conditions apart, and how users are drawn."""

import numpy as np
import pytest
from tests.experiment.analyse.stores import make_store, study_of, trial

from fullrank.core.errors import SpecError, StoreError
from fullrank.experiment.results import Results
from fullrank.metrics import parse

A, B = {"a": [1, 2, 3]}, {"b": [2, 3, 4]}
MRR = parse("mrr@10")


def names(study):
    return [condition.name for condition in study.conditions]


def test_models_of_one_protocol_in_two_stores_are_one_condition(tmp_path):
    one, two = make_store(tmp_path / "one", A), make_store(tmp_path / "two", B)
    study = study_of(one, two)
    assert names(study) == ["d"]
    assert study.conditions[0].models == ("a", "b")
    assert study.models == ("a", "b")


def test_the_same_result_in_two_stores_counts_once(tmp_path):
    one, two = make_store(tmp_path / "one", {**A, **B}), make_store(tmp_path / "two", A)
    study = study_of(one, two)
    assert [unit.model for unit in study.units] == ["a", "b"]


def test_conditions_are_named_by_what_differs(tmp_path):
    core = [{"core": {"users": 5, "items": 5}}]
    last = {"strategy": "LeaveLast", "n": 1}
    study = study_of(
        make_store(tmp_path / "one", A),
        make_store(tmp_path / "two", A, filters=core),
        make_store(tmp_path / "three", A, split=last),
    )
    assert names(study) == ["d, filters none, GlobalTime", "d, core, GlobalTime",
                            "d, filters none, LeaveLast"]  # fmt: skip
    assert study.conditions[1].factors["filters"] == "core(items=5, users=5)"
    assert study.conditions[2].factors["split"] == "LeaveLast(n=1)"


def test_levels_keep_their_settings_where_names_are_not_enough(tmp_path):
    splits = [{"strategy": "GlobalTime", "test": test} for test in (0.1, 0.2)]
    study = study_of(*(make_store(tmp_path / str(j), A, split=s) for j, s in enumerate(splits)))
    assert names(study) == ["d, GlobalTime(test=0.1)", "d, GlobalTime(test=0.2)"]


def test_settings_tell_conditions_of_one_protocol_apart(tmp_path):
    """Two stores with the same labels whose models differ in the objective alone."""
    stores = [
        make_store(tmp_path / loss, {**A, **B}, settings={x: {"objective": loss} for x in "ab"},
                   classes={"a": "MF", "b": "FM"})
        for loss in ("bpr", "hinge")
    ]  # fmt: skip
    study = study_of(*stores)
    assert names(study) == ["d, objective bpr", "d, objective hinge"]
    assert study.conditions[0].settings == {"objective": "bpr"}
    assert "store" not in study.conditions[0].factors


def test_the_store_tells_apart_what_nothing_else_does(tmp_path):
    one, two = make_store(tmp_path / "one", A), make_store(tmp_path / "two", A, tag="x")
    assert names(study_of(one, two)) == ["d, one", "d, two"]
    twin = make_store(tmp_path / "deeper" / "one", A, tag="x")
    assert names(study_of(one, twin)) == [f"d, {one}", f"d, {twin}"]


def test_what_a_search_chose_is_no_factor(tmp_path):
    tuned = {"a": {"reg": 3.0, "shrink": 1.0, "epochs": 7}}
    trials = [trial(0, mrr=0.1), {**trial(1, mrr=0.2), "epochs": 7}]
    folder = make_store(tmp_path / "s", A, settings=tuned, trials={"a": trials})
    (unit,) = study_of(folder).units
    assert unit.factors == {
        "model": "EASE", "reg": "tuned", "shrink": "1", "epochs": "tuned",
        "search": "by mrr@10(trials=9)",
    }  # fmt: skip


def test_a_search_is_a_factor_of_the_models_that_were_searched(tmp_path):
    """A store of a searched model and one without a search under one protocol stand together."""
    trials = [trial(0, mrr=0.1), trial(1, mrr=0.2)]
    one = make_store(tmp_path / "one", A, trials={"a": trials})
    two = make_store(tmp_path / "two", B, classes={"b": "SLIM"})
    study = study_of(one, two)
    assert names(study) == ["d"]
    assert ["search" in unit.factors for unit in study.units] == [True, False]


@pytest.mark.parametrize("content", ["[]", "3", '{"space": ["reg"]}'])
def test_a_search_that_holds_something_else_is_named(tmp_path, content):
    store = make_store(tmp_path / "one", A, trials={"a": [trial(0, mrr=0.1), trial(1, mrr=0.2)]})
    (path,) = store.glob("tune/*/search.json")
    path.write_text(content)
    with pytest.raises(StoreError, match=r"search.json is damaged; delete it"):
        study_of(store)


def test_models_of_one_class_and_settings_are_known_by_their_labels(tmp_path):
    alike = make_store(tmp_path / "alike", {**A, **B})
    assert [u.factors["model"] for u in study_of(alike).units] == ["a", "b"]
    settings = {"a": {"reg": 1.0}, "b": {"reg": 2.0}}
    unlike = make_store(tmp_path / "unlike", {**A, **B}, settings=settings)
    assert [u.factors["model"] for u in study_of(unlike).units] == ["EASE", "EASE"]


def test_users_are_drawn_alike_under_all_models_and_conditions_of_a_data_set(tmp_path):
    last = {"strategy": "LeaveLast"}
    here, there = {"a": [1, 2, 4], "b": [1, 2, 4]}, {"a": [1, 2, 4]}
    classes = {"classes": {"b": "SLIM"}}
    study = study_of(
        make_store(tmp_path / "one", here, users=["x", "y", "z"], **classes),
        make_store(tmp_path / "two", there, users=["x", "y", "z"], split=last),
        make_store(tmp_path / "three", there, users=["x", "y", "z"], data="e"),
    )
    first, second, third = names(study)
    drawn = study.drawn
    np.testing.assert_array_equal(drawn[first, "a", MRR], drawn[first, "b", MRR])
    np.testing.assert_array_equal(drawn[first, "a", MRR], drawn[second, "a", MRR])
    assert not np.array_equal(drawn[first, "a", MRR], drawn[third, "a", MRR])


def test_a_user_counts_alike_whoever_else_is_there(tmp_path):
    """Of the resamples without z, those of x and y alone say the same."""
    study = study_of(
        make_store(tmp_path / "one", {"a": [1, 2, 4]}, users=["x", "y", "z"]),
        make_store(tmp_path / "two", {"a": [1, 2]}, users=["x", "y"], split={"strategy": "KFold"}),
        resamples=400,
    )
    all_three, two = (study.drawn[name, "a", MRR] for name in names(study))
    # The mean of 1, 1/2, 1/4 weighted w equals that of 1, 1/2 where z weighs nothing.
    same = all_three == two
    assert 0.25 < same.mean() < 0.5  # Poisson(1) is 0 with probability 0.37
    assert np.isnan(two).mean() == pytest.approx(np.exp(-2), abs=0.06)


def test_resampled_means_spread_as_the_mean_does(tmp_path):
    ranks = np.random.default_rng(1).integers(1, 11, 500)
    study = study_of(make_store(tmp_path / "s", {"a": ranks.tolist()}), resamples=2000)
    drawn = study.drawn["d", "a", MRR]
    assert drawn.mean() == pytest.approx((1 / ranks).mean(), rel=0.01)
    assert drawn.std() == pytest.approx((1 / ranks).std() / np.sqrt(500), rel=0.06)
    low, high = study.ends(drawn)
    assert [(drawn < low).sum(), (drawn > high).sum()] == [50, 50]


def test_results_at_hand_are_taken(tmp_path):
    results = Results.load(make_store(tmp_path / "s", A))
    assert names(study_of(results)) == ["d"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0.5}, "level must lie between 0.5 and 1, got 0.5"),
        ({"resamples": 9}, "resamples must be a whole number >= 10, got 9"),
        ({"metrics": ["rmse"]}, "only rating metrics were measured"),
        ({"metrics": ["ndcg(rel=3)@5"]}, "rel=3 needs a grade column"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, message):
    folder = make_store(tmp_path / "s", A)
    with pytest.raises(SpecError, match=message):
        study_of(folder, **options)


def test_stores_that_can_not_be_read(tmp_path):
    with pytest.raises(SpecError, match="name at least one store"):
        study_of()
    folder = make_store(tmp_path / "s", A)
    with pytest.raises(SpecError, match="the store s is named twice"):
        study_of(folder, tmp_path / "x" / ".." / "s")
    with pytest.raises(StoreError, match="is no store"):
        study_of(tmp_path)
