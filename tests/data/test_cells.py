"""One list a row: cells of lists become rows; text of lists is told to be split."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fullrank.core.errors import DataError
from fullrank.core.text import quoted
from fullrank.data import read, read_table
from fullrank.experiment.evaluate import evaluate

LISTS = {"user": ["u", "v", "w"], "items": [["a", "b"], ["c"], []]}
ROWS = [("u", "a"), ("u", "b"), ("v", "c")]


def _sources(folder, content):
    frame = pl.DataFrame(content)
    for write, name in (("write_parquet", "x.parquet"), ("write_ipc", "x.arrow")):
        getattr(frame, write)(folder / name)
    lines = (json.dumps(row) for row in frame.iter_rows(named=True))
    (folder / "x.jsonl").write_text("\n".join(lines))
    files = [folder / name for name in ("x.parquet", "x.arrow", "x.jsonl")]
    return [*files, frame, pd.DataFrame(content), pa.table(content)]


def test_cells_of_lists_become_rows(tmp_path):
    for source in _sources(tmp_path, LISTS):
        found = read_table(source, kind="recommendations")
        assert found.select("user_id", "item_id").rows() == ROWS


def test_lists_of_scores_are_cut_beside_them(tmp_path):
    scored = {**LISTS, "scores": [[0.1, 0.9], [0.5], []], "model": ["m", "n", "n"]}
    for source in _sources(tmp_path, scored):
        found = read_table(source, kind="recommendations")
        assert found["score"].to_list() == [0.1, 0.9, 0.5]
        assert found["model"].to_list() == ["m", "m", "n"]


def test_lists_in_cells_are_evaluated_best_first():
    truth = {"u": ["b"], "v": ["c"], "w": ["a"]}
    frame = pl.DataFrame(LISTS)
    (m,) = evaluate(frame, truth, ["mrr"]).measurements
    assert m.estimate.value == pytest.approx((0.5 + 1 + 0) / 3)
    scored = frame.with_columns(scores=pl.Series([[0.1, 0.9], [0.5], []]))
    assert evaluate(scored, truth, ["mrr"]).measurements[0].estimate.value == pytest.approx(2 / 3)


def test_cells_as_pandas_and_numpy_hold_them(tmp_path):
    pl.DataFrame(LISTS).write_parquet(tmp_path / "x.parquet")
    arrays = pd.read_parquet(tmp_path / "x.parquet")
    assert isinstance(arrays["items"][0], np.ndarray)
    assert read_table(arrays, kind="recommendations").select("user_id", "item_id").rows() == ROWS
    fixed = pl.DataFrame({"user": [1, 2], "items": np.array([[3, 4], [5, 6]])})
    assert isinstance(fixed.schema["items"], pl.Array)
    found = read_table(fixed, kind="recommendations")
    assert found.rows() == [(1, 3), (1, 4), (2, 5), (2, 6)]


def test_lists_that_are_all_empty_recommend_nothing(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"user": "u", "items": []}\n')
    with pytest.raises(DataError, match="holds no recommendation"):
        evaluate(tmp_path / "x.jsonl", {"u": ["a"]}, ["mrr"])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"scores": [[1.0], [1.0], []]}, "row 1: 2 values in the list of 'items' and 1 in that of"),
        ({"score": [1.0, 2.0, 3.0]}, "'items' holds lists and column 'score' single values"),
        ({"items": [["a", None], ["b"], []]}, "row 1: the list of 'items' lacks an item"),
    ],
)
def test_lists_that_do_not_fit(columns, message):
    with pytest.raises(DataError, match=message):
        read_table(pl.DataFrame({**LISTS, **columns}), kind="recommendations")


def test_interactions_hold_one_item_a_row():
    with pytest.raises(DataError, match="one row per user and item: split the lists first"):
        read(pl.DataFrame(LISTS))


TEXT = "SessionId;Recommendations{0}\n1;{1}{2}\n2;{1}{2}\n"
ITEMS = ",".join(str(214536502 + j) for j in range(50))


@pytest.mark.parametrize("cells", [ITEMS, "[214536502, 7]", "['a', 'b']", "7|8|9"])
def test_text_of_lists_is_to_be_split(tmp_path, cells):
    path = tmp_path / "recs.csv"
    path.write_text(TEXT.format("", cells, ""))
    with pytest.raises(DataError, match="one row per user and item: split the lists first") as said:
        evaluate(path, {1: [214536502], 2: [7]}, ["mrr"])
    assert len(str(said.value)) < len(str(path)) + 220
    path.write_text(TEXT.format(";Scores", cells, ";" + ",".join(["0.5"] * 50)))
    with pytest.raises(DataError, match="one row per user and item: split the lists first") as said:
        evaluate(path, {1: [214536502], 2: [7]}, ["mrr"])
    assert len(str(said.value)) < len(str(path)) + 220


def test_ids_that_look_like_lists_and_match_are_ids():
    ids = ["a|b|c", "a|b|d", "x,y,z"]
    (m,) = evaluate({"u": ids}, {"u": ids[:1]}, ["mrr"]).measurements
    assert m.estimate.value == 1.0


def test_quoted_values_are_cut():
    assert quoted("u17") == "'u17'"
    assert quoted(7) == "7"
    assert quoted("x" * 500) == "'" + "x" * 57 + "…'"
    with pytest.raises(DataError) as said:
        read_table(
            {"user_id": ["u"], "item_id": ["i"], "score": ["z" * 900]}, kind="recommendations"
        )
    assert len(str(said.value)) < 250
