"""What a notebook shows: a line with counts, never an array."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.experiment.worlds import log, run_in

import fullrank as fr
from fullrank.core.errors import DataError
from fullrank.core.state import State
from fullrank.experiment.compare import compare
from fullrank.rank import Catalogue, rank

LISTS = {"u": ["a", "b"], "v": ["c"]}
TRUTH = {"u": ["b"], "v": ["c"]}


@pytest.fixture(scope="module")
def world():
    data = fr.read(log())
    split = fr.GlobalTime().split(data.interactions)
    model = fr.Popularity().fit(split.fit_rows("train+valid"))
    return data, split, split.queries("test"), model


def test_data_and_splits(world):
    data, split, queries, _ = world
    rows = (
        "Interactions(672 rows, 48 users, 36 items, values, times in s from 1970-01-01 to "
        "1972-09-25)"
    )
    shown = repr(data.interactions)
    assert shown[:57] == rows[:57]
    assert repr(data) == f"Dataset('frame', {shown})"
    assert repr(data.interactions.user_vocab) == "Vocabulary(48 user ids, text, 'u00' … 'u47')"
    assert repr(split).startswith("Split(GlobalTime(")
    assert "rows: train " in repr(split)
    assert repr(queries).startswith(f"Queries({len(queries)} queries of ")


def test_extras_and_orders_are_named():
    places = fr.read({"user_id": [1, 1], "item_id": [1, 2], "position": [1, 2], "shop": ["a", "b"]})
    assert repr(places.interactions) == (
        "Interactions(2 rows, 1 user, 2 items, times in order, extras shop)"
    )
    assert repr(fr.read({"user_id": [1], "item_id": [1]}).interactions) == (
        "Interactions(1 row, 1 user, 1 item)"
    )


def test_rankings(world):
    _, _, queries, model = world
    found = rank(model, queries, k=3)
    assert repr(found.targets).startswith(f"TargetRanks({len(queries)} queries of ")
    assert repr(found.top) == f"TopK(3 items for {len(queries)} queries)"
    assert "TargetRanks(" in repr(found)
    assert repr(Catalogue(np.array([True, False]), "fit")) == "Catalogue('fit', 1 of 2 items)"
    flat = fr.Predictions(
        *(np.zeros(2, np.int32),) * 2, np.ones(2), np.ones(2), queries.user_vocab,
        queries.item_vocab,
    )  # fmt: skip
    assert repr(flat) == "Predictions(2 rows of 1 user)"


def test_lists_as_a_frame(world):
    _, _, queries, model = world
    top = fr.recommend(model, queries, 4)
    frame = top.to_frame()
    assert frame.columns == ["user_id", "query_id", "rank", "item_id", "score"]
    assert frame.height == int((top.items >= 0).sum())
    first = frame.filter(pl.col("user_id") == queries.user_ids[0])
    assert first["rank"].to_list() == [1, 2, 3, 4]
    assert first["item_id"].to_list() == queries.item_vocab.ids[top.items[0]].tolist()
    assert first["score"].to_list() == top.scores[0].tolist()


def test_rankings_are_no_lists_and_say_what_to_give(world):
    _, _, queries, model = world
    found = rank(model, queries, k=2)
    truth = {user: [1] for user in queries.user_ids.tolist()}
    with pytest.raises(DataError, match=r"got TopK; .*\.to_frame\(\)\.drop\('rank'\)"):
        fr.evaluate(found.top, truth, ["mrr@2"])
    with pytest.raises(DataError, match=r"got TopK; .*to_frame"):
        fr.compare([found.top, found.top], truth=truth, metrics=["mrr@2"])
    with pytest.raises(DataError, match=r"got Ranking, .*its \.targets to a metric"):
        fr.evaluate(found, truth, ["mrr@2"])
    with pytest.raises(DataError, match=r"got TargetRanks, .*give it to a metric"):
        fr.ranks_from_lists(found.targets, truth)
    frame = found.top.to_frame()
    assert len(fr.evaluate(frame.drop("rank"), frame, ["mrr@2"]).measurements) == 1


def test_evaluations():
    found = fr.evaluate(LISTS, TRUTH, ["mrr@2", "ndcg@2"])
    assert repr(found) == (
        "Evaluation(MRR@2, NDCG@2, TargetRanks(2 queries of 2 users, 2 targets, candidates lists))"
    )
    lines = str(found).splitlines()
    assert [line.split()[:2] for line in lines] == [["MRR@2", "0.7500"], ["NDCG@2", "0.8155"]]
    assert repr(found.measurements[0]).startswith("Measurement(MRR@2 0.7500 [")
    frame = found.to_frame()
    assert frame["metric"].to_list() == ["MRR@2", "NDCG@2"]
    assert frame["value"].to_list() == [m.estimate.value for m in found.measurements]
    by = fr.evaluate(LISTS, TRUTH, ["mrr@2"], by=({"user_id": ["u", "v"], "x": ["p", "q"]}, "x"))
    assert by.to_frame()["segment"].to_list() == ["all", "p", "q"]


def test_states():
    assert (
        repr(State.of(np.array([0.5, 1.0, np.nan])))
        == "State(value 0.75 over 2 queries of 2 users)"
    )


def test_benchmarks(tmp_path):
    results = run_in(tmp_path, model=[{"name": "Popularity"}, {"name": "Random"}], seeds=[1])
    assert repr(results) == "Results('benchmark', 1 data set, 2 models, 2 cells)"
    assert repr(results.cells[1]) == "CellResult(Random on small, fold 0, seed 1)"
    found = compare([LISTS, LISTS], truth=TRUTH, metrics=["mrr@2"], labels=["a", "b"])
    assert repr(found).startswith("Comparison(2 systems, ")
