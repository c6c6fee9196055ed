"""Samples of a data set as a table of features."""

from __future__ import annotations

import numpy as np
import pytest
from tests.subsample.worlds import LOW, world

from fullrank.advise import Embedded, Features, InfoGraph, Pieces, measure, taus
from fullrank.advise.table import cells, feature_names
from fullrank.core.errors import DataError
from fullrank.subsample import Floor, subsample
from fullrank.subsample.psi import Missing, Place, Repeat, Term

QUICK = Features(singular_values=2, sources=8)
TRAIN = world(1)


def test_a_row_for_each_sample_that_can_be_made_and_the_reason_for_the_others():
    floor = Floor(rows=50, users=5, items=5)
    found = measure(
        "w", TRAIN, ["RandomUsers", "Temporal"], [0.5, 0.05], 3, features=QUICK, floor=floor
    )
    keys = found.frame.select("data", "keep", "strategy").rows()
    assert keys == [("w", 0.5, "RandomUsers"), ("w", 0.5, "Temporal")]
    assert [text.split(":")[0] for text in found.missing] == [
        "RandomUsers at 0.05", "Temporal at 0.05"
    ]  # fmt: skip
    assert "has at least 50 rows" in found.missing[0]
    row = found.frame.row(0, named=True)
    sample = subsample(TRAIN, "RandomUsers", 0.5, 3, floor=LOW)
    assert row["change.size.log_rows"] == pytest.approx(np.log(len(sample.rows) / len(TRAIN)))
    assert row["sample.users.gini"] == QUICK.of(sample.train)["users.gini"]
    assert len(feature_names(found.frame)) == len(found.frame.columns) - 3
    with pytest.raises(DataError, match=r"no sample of .w. can be made: Temporal at 0\.05"):
        measure("w", TRAIN, ["Temporal"], [0.05], features=QUICK, floor=floor)


def term(sampler, keep, repeat, value):
    nothing = np.zeros(0)
    place, seeds = Place("explicit", "rmse", keep), Repeat(1, repeat, 1)
    return Term(sampler, place, seeds, ("A", "B"), nothing, nothing, {"tau": value}, {})


def test_repeats_of_psi_are_averaged_to_the_cells_that_learners_take():
    gone = Missing("B", Place("explicit", "rmse", 0.1), Repeat(1, 1, 1), "too small")
    found = taus(
        "d", [term("B", 0.5, 1, 0.2), term("A", 0.5, 1, 1.0), term("A", 0.5, 2, 0.6), gone]
    )
    assert found.rows() == [
        ("d", "explicit", "rmse", 0.1, "B", None, None, 0),
        ("d", "explicit", "rmse", 0.5, "A", 0.8, pytest.approx(0.4 / np.sqrt(2)), 2),
        ("d", "explicit", "rmse", 0.5, "B", 0.2, None, 1),
    ]
    assert len(cells(found)) == 2


def test_samples_of_one_scenario_are_marked():
    found = measure(
        "w",
        TRAIN,
        {"some users": "RandomUsers"},
        [0.5],
        scenario="explicit",
        features=QUICK,
        floor=LOW,
    )
    assert found.frame["strategy"].to_list() == ["some users"]
    assert found.frame.columns[:4] == ["data", "scenario", "keep", "strategy"]
    with pytest.raises(DataError, match="have no graphs to learn from"):
        Embedded([found], InfoGraph())


def test_embeddings_are_learnt_from_the_data_sets_named_alone():
    pytest.importorskip("torch", reason="needs PyTorch")
    how = {"features": QUICK, "pieces": Pieces(), "floor": LOW}
    parts = [measure(f"w{j}", world(j), ["RandomUsers"], [0.5, 0.2], **how) for j in range(3)]
    settings = InfoGraph(embedding_dim=4, layers=2, epochs=2)
    table = Embedded(parts, settings)(["w0", "w1"])
    assert len(table) == 6
    assert sum(".gin." in name for name in table.columns) == 16
    assert table["full.gin.1"].n_unique() == 3
    assert table["sample.gin.1"].n_unique() == 6
    other = measure("w2", world(9), ["RandomUsers"], [0.5, 0.2], **how)
    again = Embedded([*parts[:2], other], settings)(["w1", "w0"])
    assert again[:4].equals(table[:4])  # the third one was not looked at
    assert not again[4:].equals(table[4:])
    with pytest.raises(DataError, match="no graphs of the data set 'w7'"):
        Embedded(parts, settings)(["w7"])
