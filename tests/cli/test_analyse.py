"""The command on stores made by hand."""

import pytest
from tests.experiment.analyse.stores import make_store, trial

from fullrank.experiment.analyse import PARTS

RANKS = {"a": [1, 2, 5, 1], "b": [2, 3, 4, 1], "c": [9, 3, 2, 6]}
CLASSES = {"a": "EASE", "b": "SLIM", "c": "ItemKNN"}
TRIALS = [trial(0, mrr=0.5, hit=0.6), trial(1, mrr=0.4, hit=0.7)]


@pytest.fixture
def stores(tmp_path):
    options = {"classes": CLASSES, "trials": {"a": TRIALS}}
    last = {"strategy": "LeaveLast"}
    return [
        make_store(tmp_path / "one", RANKS, **options),
        make_store(tmp_path / "two", RANKS, split=last, **options),
    ]


def test_tables_are_printed(cli, stores):
    said = cli("analyse", *stores, "--resamples", 50)
    assert (said.code, said.err) == (0, "")
    for title in ("Co-optimality (2 cases)", "Correlation of metrics (2 conditions)",
                  "Stability of ranks", "One factor at a time", "Cost beside quality"):  # fmt: skip
        assert title in said.out


def test_json_and_a_page(cli, stores, tmp_path):
    page = tmp_path / "pages" / "analysis.html"
    said = cli("analyse", *stores, "--json", "-o", page, "--resamples", 50, "--ties", "first")
    assert (said.code, said.err) == (0, "")
    found = said.json()
    assert found["report"] == str(page)
    assert found["co_optimality"]["ties"] == "first"
    assert found["resamples"] == 50
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_metrics_and_parts_are_chosen(cli, stores):
    said = cli("analyse", stores[0], "-m", "ndcg@5", "-m", "recall@1,3", "--only",
               "correlation, costs", "--json", "--resamples", 20)  # fmt: skip
    found = said.json()
    assert found["metrics"] == ["NDCG@5", "Recall@1", "Recall@3"]
    assert (found["stability"], found["effects"]) == (None, None)
    assert len(found["correlation"]["matrices"]) == 1
    assert len(found["costs"]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "stores"),
        (["absent"], "absent is no store"),
        (["one", "one"], "the store one is named twice"),
        (["one", "--only", "effect"], "unknown analysis 'effect'; did you mean 'effects'"),
        (["one", "--level", "2"], "level must lie between 0.5 and 1"),
        (["one", "--resamples", "0"], "resamples must be a whole number >= 10"),
        (["one", "-o", "page.pdf"], "end it in .html"),
        (["one", "-m", "ndgc@5"], "ndgc"),
        (["one", "-m", "mrr@10", "--only", "co-optimality"], "two metrics or more"),
        (["one", "--ties", "last"], "last"),
    ],
)
def test_bad_usage(cli, stores, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    said = cli("analyse", *arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.glob("*.pdf"))


def test_the_parts_are_those_of_the_help(cli):
    text = " ".join(cli("analyse", "--help").out.split())
    assert ", ".join(PARTS) in text
