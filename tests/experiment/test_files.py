"""Files that settings name: relative to the benchmark file, and part of the key by content."""

from __future__ import annotations

import pytest
from tests.experiment.worlds import bench, tables

from fullrank.core.errors import SpecError
from fullrank.experiment.run import run
from fullrank.experiment.store import read_json

MODEL = """\
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from fullrank import Recommender


@dataclass(eq=False)
class Signed(Recommender):
    sign: str = ""
    power: float = 1.0

    file_settings: ClassVar = ("sign",)

    def _fit(self, train, rng, monitor):
        sign = float(Path(self.sign).read_text()) if self.sign else 1.0
        self.scores_ = (train.item_counts ** (sign * self.power)).astype(np.float32)

    def _score(self, queries):
        return np.tile(self.scores_, (len(queries), 1))
"""


def write(folder, **more):
    path = bench(folder, model=[{"name": f"{folder.name}_files:Signed", **more}], seeds=[1])
    (folder / f"{folder.name}_files.py").write_text(MODEL)
    return path


def cells(store):
    return [read_json(path) for path in sorted((store / "cells").glob("*/cell.json"))]


def test_a_changed_file_is_fitted_anew_and_the_same_content_is_not(tmp_path):
    path, store = write(tmp_path, settings={"sign": "sign.txt"}), tmp_path / "store"
    (tmp_path / "sign.txt").write_text("1.0")
    assert run(path, store).fresh == 1
    before = tables(store)
    (tmp_path / "sign.txt").write_text("1.0")
    assert run(path, store).fresh == 0
    assert tables(store) == before
    (tmp_path / "sign.txt").write_text("-1.0")
    assert run(path, store).fresh == 1
    kept = cells(store)
    assert {cell["settings"]["sign"] for cell in kept} == {"sign.txt"}  # as the benchmark names it
    assert len({cell["files"]["sign.txt"] for cell in kept}) == len(kept) == 2


def test_a_search_over_files_is_made_anew_if_one_changes(tmp_path):
    path, store = write(tmp_path, search={"sign": ["a.txt", "b.txt"]}), tmp_path / "store"
    for name, sign in (("a.txt", "-1.0"), ("b.txt", "1.0")):
        (tmp_path / name).write_text(sign)
    found = run(path, store)
    (chosen,) = (cell["settings"]["sign"] for cell in cells(store))
    assert run(path, store).fresh == 0
    other = tmp_path / ("b.txt" if chosen == "a.txt" else "a.txt")
    other.write_text(f"{other.read_text()}0")  # the same number, of which nobody knows
    assert run(path, store).fresh == found.fresh - 1  # trials again; the cell that won is there


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"settings": {"sign": "none.txt"}}, "none.txt"),
        ({"search": {"sign": ["", "no.txt"]}}, "no"),
    ],
)
def test_a_file_that_is_not_there_is_told_before_anything_is_fitted(tmp_path, more, line):
    path = write(tmp_path, **more)
    with pytest.raises(SpecError, match=rf"bench\.toml.*there is no file .*{line}"):
        run(path, tmp_path / "store")
    assert not (tmp_path / "store").exists()
