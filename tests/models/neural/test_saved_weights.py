"""Damaged weights of saved neural models."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from fullrank.core.errors import SpecError, StoreError
from fullrank.models import LightGCN, MultiVAE
from fullrank.testing.recommender import small_world


@pytest.fixture
def folder(tmp_path):
    small = MultiVAE(embedding_dim=4, hidden_dim=8, epochs=1)
    small.fit(small_world()).save(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kept", [0, 5, 400])
def test_weights_that_were_cut_off(folder, kept):
    path = folder / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(StoreError, match=r"weights.safetensors is damaged or cut off"):
        MultiVAE.load(folder)
    path.unlink()
    with pytest.raises(StoreError, match=r"there is no .*weights.safetensors; give the folder"):
        MultiVAE.load(folder)


def test_weights_of_another_network(folder):
    about = json.loads((folder / "model.json").read_text())
    about["settings"]["hidden_dim"] = 9
    (folder / "model.json").write_text(json.dumps(about))
    with pytest.raises(StoreError, match=r"weights of another network than model.json says"):
        MultiVAE.load(folder)
    with pytest.raises(StoreError, match=r"holds MultiVAE, not LightGCN; read it with"):
        LightGCN.load(folder)


@pytest.mark.parametrize("name", ["reg", "l1_reg", "learning_rate"])
def test_amounts_beyond_float32(name):
    with pytest.raises(
        SpecError, match=rf"LightGCN: {name} must be .* within float32, got 1e\+300"
    ):
        LightGCN(**{name: 1e300})
