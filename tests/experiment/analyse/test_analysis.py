"""All analyses in one call, on a benchmark that ran."""

import json

import pytest
from tests.experiment.analyse.stores import make_store
from tests.experiment.worlds import no_constant, run_in

import fullrank as fr
from fullrank.core.errors import SpecError
from fullrank.experiment.analyse import PARTS, Analysis
from fullrank.report.analysis import analysis_text

MODELS = [
    {"name": "Popularity"},
    {"name": "EASE", "search": {"reg": {"low": 0.1, "high": 1000.0, "log": True}}},
    {"name": "ItemKNN", "search": {"neighbours": {"low": 1, "high": 30}}},
    {"name": "UserKNN", "label": "few", "settings": {"neighbours": 2}},
    {"name": "UserKNN", "label": "many", "settings": {"neighbours": 20}},
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """One data set under two splits, each tuned for itself."""
    folder = tmp_path_factory.mktemp("stores")
    splits = {"time": {"strategy": "GlobalTime", "valid": 0.2, "test": 0.2},
              "last": {"strategy": "LeaveLast"}}  # fmt: skip
    for name, split in splits.items():
        run_in(folder / name, model=MODELS, split=split)
    return [folder / name / "store" for name in splits]


@pytest.fixture(scope="module")
def analysis(stores) -> Analysis:
    return fr.analyse(stores, resamples=200)


def test_every_part_is_there(analysis):
    assert analysis.parts == PARTS
    assert [c.name for c in analysis.study.conditions] == ["small, GlobalTime", "small, LeaveLast"]
    assert analysis.co_optimality.matrices[0].counts.tolist() == [[4] * 3] * 3
    assert analysis.co_optimality.lacking == ()
    assert [matrix.split.partition("(")[0] for matrix in analysis.correlation] == [
        "all", "GlobalTime", "LeaveLast",
    ]  # fmt: skip
    assert {row.differs for row in analysis.stability} == {("split",)}
    assert {e.factor for e in analysis.effects} == {"split", "neighbours"}
    terms = [s.term for s in analysis.variance.shares if s.metric == "NDCG@10"]
    assert terms[:3] == ["model", "split", "neighbours"]
    assert len(analysis.costs) == 10
    assert repr(analysis) == "Analysis(2 conditions, 5 parts)"


def test_values_are_those_of_the_leaderboard(analysis, stores):
    rows = fr.leaderboard(fr.Results.load(stores[0]))
    shown = {
        (row["model"], row["metric"]): row["value"]
        for row in rows
        if (row["users"], row["seed"]) == ("all", None)
    }
    found = {
        (row.model, metric): value
        for row in analysis.costs
        if row.condition == "small, GlobalTime"
        for metric, value in row.quality.items()
    }
    assert found == pytest.approx(shown)


def test_the_same_seed_gives_the_same_numbers(analysis, stores):
    again = fr.analyse(stores, resamples=200)
    assert again.to_dict() == analysis.to_dict()
    other = fr.analyse(stores, resamples=200, seed=1)
    assert other.to_dict() != analysis.to_dict()
    assert [m.values.tolist() for m in other.correlation] == [
        m.values.tolist() for m in analysis.correlation
    ]


def test_json_is_whole(analysis):
    found = json.loads(json.dumps(analysis.to_dict(), allow_nan=False), parse_constant=no_constant)
    assert list(found) == [
        "metrics", "conditions", "level", "resamples", "co_optimality", "correlation",
        "stability", "effects", "variance", "costs", "left_out",
    ]  # fmt: skip
    assert found["conditions"][0]["factors"]["split"] == "GlobalTime(test=0.2, valid=0.2)"
    assert set(found["effects"][0]) == {
        "metric", "factor", "level", "reference", "contexts", "score", "reference_score",
        "difference", "low", "high", "pairing", "shared", "higher_is_better",
    }  # fmt: skip


def test_some_of_the_parts(stores):
    found = fr.analyse(stores[0], ["ndcg@5"], only=["costs", "effects"], resamples=20)
    assert found.parts == ("effects", "costs")
    content = found.to_dict()
    assert [content[name] for name in ("co_optimality", "correlation", "stability")] == [None] * 3
    assert content["metrics"] == ["NDCG@5"]
    assert {effect.factor for effect in found.effects} == {"neighbours"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": ["stabilty"]}, "unknown analysis 'stabilty'; did you mean 'stability'"),
        ({"ties": "frist"}, "unknown rule for ties 'frist'; did you mean 'first'"),
        ({"metrics": ["mrr@10"], "only": PARTS}, "two metrics or more, and MRR@10 is the only one"),
    ],
)
def test_what_makes_no_sense(stores, options, message):
    with pytest.raises(SpecError, match=message):
        fr.analyse(stores[0], **options)


def test_what_can_not_be_made_is_left_out_and_said(tmp_path):
    alone = make_store(tmp_path / "alone", {"a": [1, 2, 3]})
    two = make_store(tmp_path / "two", {"a": [1, 2, 3], "b": [2, 2, 2]})
    found = fr.analyse(two, resamples=20)
    assert found.parts == PARTS[1:]
    assert list(found.left_out) == ["co-optimality"]
    assert found.to_dict()["co_optimality"] is None
    (line,) = [line for line in analysis_text(found, width=500).splitlines() if "Left out" in line]
    assert "co-optimality, as" in line
    assert "no model was searched" in line
    assert "--only" not in line
    found = fr.analyse(alone, resamples=20)
    assert found.parts == ("effects", "costs")
    assert "a is the only one" in found.left_out["stability"]
    for part, told in found.left_out.items():
        with pytest.raises(SpecError) as error:
            fr.analyse(alone, only=[part])
        assert str(error.value) == told
