"""Damaged folders of saved models, and values that sums can't hold: refused, and said why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullrank as fr
from fullrank.core.errors import DataError, SpecError, StoreError
from fullrank.models import (
    DCF,
    EALS,
    EASE,
    IALS,
    MF,
    NMF,
    BiasOnly,
    ItemKNN,
    Popularity,
    Recommender,
    UserKNN,
)
from fullrank.testing.recommender import queries_of, small_world


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    EASE().fit(small_world()).save(tmp_path)
    return tmp_path


def test_what_was_saved_is_read(folder: Path) -> None:
    data = small_world()
    again = EASE.load(folder).score(queries_of(data))
    np.testing.assert_array_equal(again, EASE().fit(data).score(queries_of(data)))


@pytest.mark.parametrize("kept", [0, 1, 30, 1000])
def test_arrays_that_were_cut_off(folder: Path, kept: int) -> None:
    path = folder / "arrays.npz"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(StoreError, match=r"arrays.npz is damaged or cut off .*save it anew"):
        EASE.load(folder)


def test_arrays_of_another_model(folder: Path, tmp_path: Path) -> None:
    Popularity().fit(small_world()).save(tmp_path / "other")
    (tmp_path / "other" / "arrays.npz").replace(folder / "arrays.npz")
    with pytest.raises(StoreError, match=r"arrays.npz lacks .*weights_"):
        EASE.load(folder)
    (folder / "arrays.npz").unlink()
    with pytest.raises(StoreError, match=r"there is no .*arrays.npz; give the folder"):
        EASE.load(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"model": "EASE"}', '{"model": "EASE", '
                                  '"version": 1, "settings": []}'])  # fmt: skip
def test_a_description_that_is_damaged(folder: Path, text: str) -> None:
    (folder / "model.json").write_text(text)
    with pytest.raises(StoreError, match=r"EASE.load: .*model.json .*save it anew"):
        EASE.load(folder)


def test_settings_that_the_model_has_not(folder: Path) -> None:
    about = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**about, "settings": {"rge": 3.0}}))
    with pytest.raises(SpecError, match=r"model.json: .*no setting 'rge'; did you mean 'reg'"):
        EASE.load(folder)


def test_folders_of_no_model(folder: Path) -> None:
    with pytest.raises(StoreError, match=r"EASE.load needs .*nowhere.*: there is none"):
        EASE.load(folder / "nowhere")
    with pytest.raises(StoreError, match=r"holds EASE, not IALS; read it with EASE.load"):
        IALS.load(folder)


@pytest.mark.parametrize(
    "model",
    [
        BiasOnly(),
        DCF(values=True),
        ItemKNN(similarity="adjusted_cosine"),
        MF(),
        NMF(values=True),
        UserKNN(similarity="adjusted_cosine"),
    ],
    ids=repr,
)
def test_values_beyond_what_sums_hold(model: Recommender) -> None:
    rows: dict[str, Any] = {"user_id": ["u", "u", "v"], "item_id": ["a", "b", "a"]}
    small = fr.read(pl.DataFrame({**rows, "rating": [1e4, 1.0, 3.0]})).interactions
    assert np.isfinite(model.fit(small).score(queries_of(small))).all()
    large = fr.read(pl.DataFrame({**rows, "rating": [1.0, 1e300, 3.0]})).interactions
    said = r"values must lie within 1e\+15 of 0, got 1e\+300 for user 'u' and item 'b'"
    with pytest.raises(DataError, match=said):
        model.fit(large)


def test_equations_without_a_solution() -> None:
    rows = {"user_id": ["u", "u", "v"], "item_id": ["a", "b", "a"], "rating": [1e12, 1.0, 3.0]}
    with pytest.raises(SpecError, match=r"MF: .*solved with reg=0.12 and values up to 1e"):
        MF().fit(fr.read(pl.DataFrame(rows)).interactions)


def test_weights_beyond_what_sums_hold() -> None:
    with pytest.raises(SpecError, match=r"EALS: c0 must be > 0 and < 1e\+15, got 1e\+300"):
        EALS(c0=1e300)
    with pytest.raises(SpecError, match=r"EALS: alpha=1e\+300 leaves no item a weight"):
        EALS(alpha=1e300).fit(small_world())
    with pytest.raises(SpecError, match=r"IALS: tolerance must be < 1"):
        IALS(tolerance=1e300)


def test_what_fit_is_given() -> None:
    with pytest.raises(DataError, match=r"EASE.fit takes Interactions, .*got DataFrame"):
        EASE().fit(pl.DataFrame({"a": [1]}))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"EASE.fit: monitor must be callable .*got 3"):
        EASE().fit(small_world(), monitor=3)  # type: ignore[arg-type]
