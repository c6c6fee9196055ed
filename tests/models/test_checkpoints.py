"""Checkpoints that are damaged, of another shape, or can't be written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.core.errors import StoreError
from fullrank.models import BPRMF
from fullrank.testing.recommender import queries_of, small_world


def model() -> BPRMF:
    return BPRMF(embedding_dim=2, epochs=3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def stop(epoch: int, _: Any) -> bool:
        if epoch == 1:
            raise RuntimeError("killed")
        return False

    with pytest.raises(RuntimeError, match="killed"):
        model().fit(small_world(), monitor=stop, checkpoint=tmp_path)
    return tmp_path


def test_one_that_is_whole_is_gone_on_from(folder: Path) -> None:
    again = model().fit(small_world(), checkpoint=folder)
    assert again.log_.resumed_at == 1
    queries = queries_of(small_world())
    expected = model().fit(small_world()).score(queries)
    np.testing.assert_array_equal(again.score(queries), expected)


@pytest.mark.parametrize(
    "changes",
    [{"about": None}, {"arrays": None}, {"log": 3}, {"done": "no"}, {"log": {}},
     {"log": {"epochs": [{"number": 1}]}}],
    ids=str,
)  # fmt: skip
def test_an_index_that_is_damaged(folder: Path, changes: dict[str, Any]) -> None:
    index = json.loads((folder / "checkpoint.json").read_text())
    (folder / "checkpoint.json").write_text(json.dumps({**index, **changes}))
    with pytest.raises(StoreError, match=r"damaged.*remove the folder to start anew"):
        model().fit(small_world(), checkpoint=folder)


@pytest.mark.parametrize("text", ["[]", "{}", "3", "null"])
def test_an_index_of_something_else(folder: Path, text: str) -> None:
    (folder / "checkpoint.json").write_text(text)
    with pytest.raises(StoreError, match=r"damaged: it must hold about, arrays, log, done"):
        model().fit(small_world(), checkpoint=folder)


@pytest.mark.parametrize("change", ["cut", "renamed", "missing"])
def test_arrays_of_other_shapes_or_names(folder: Path, change: str) -> None:
    from safetensors.numpy import load_file, save_file

    file = next(folder.glob("*.safetensors"))
    arrays = load_file(file)
    first = max(sorted(arrays), key=lambda name: arrays[name].size)
    if change == "cut":  # one row would be spread over all by broadcasting
        arrays[first] = arrays[first][:1].copy()
    else:
        moved = arrays.pop(first)
        arrays |= {"model/else": moved} if change == "renamed" else {}
    save_file(arrays, file)
    with pytest.raises(StoreError, match=r"holds a damaged checkpoint \(shapes .*expected"):
        model().fit(small_world(), checkpoint=folder)


def test_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file.*remove the folder"):
        model().fit(small_world(), checkpoint=tmp_path / "file")
    with pytest.raises(StoreError, match=r"can't be written .*another folder as checkpoint"):
        model().fit(small_world(), checkpoint="/proc/fullrank/here")


def test_one_is_no_saved_model(folder: Path) -> None:
    with pytest.raises(StoreError, match=r"checkpoint of a training.*end its training by fit\("):
        BPRMF.load(folder)
    model().fit(small_world(), checkpoint=folder).save(folder)  # both may share a folder
    assert BPRMF.load(folder).epochs == 3
