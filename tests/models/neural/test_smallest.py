"""Neural models on logs of one or two rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

import doctest
import importlib
import pkgutil

import fullrank as fr
from fullrank import models
from fullrank.models import neural
from fullrank.testing.recommender import queries_of


@pytest.mark.parametrize("name", sorted(models.NEURAL))
def test_smallest_worlds(name, tmp_path):
    (tmp_path / "kg.csv").write_text("head,relation,tail\ni,is,x\nj,is,y\n")
    needs = {"triples": str(tmp_path / "kg.csv")} if name == "CKE" else {}
    for users, items in ((["u"], ["i"]), (["u", "v"], ["i", "i"]), (["u", "u"], ["i", "j"])):
        rows = {"user_id": users, "item_id": items, "timestamp": [5] * len(users)}
        data = fr.read(pl.DataFrame(rows)).interactions
        model = getattr(models, name)(epochs=2, embedding_dim=4, **needs).fit(data)
        scores = model.score(queries_of(data))
        assert scores.shape == (data.n_users, data.n_items)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(neural.__path__)])
def test_docstring_examples(name):
    module = importlib.import_module(f"fullrank.models.neural.{name}")
    assert doctest.testmod(module).failed == 0
