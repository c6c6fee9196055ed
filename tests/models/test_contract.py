"""Every registered model passes the contract, in this process and in another."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank import models as package
from fullrank.core.registry import build, find, names
from fullrank.models import (
    EASE,
    IALS,
    BiasOnly,
    ItemKNN,
    Popularity,
    PureSVD,
    Random,
    Recommender,
    UserKNN,
)
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world

CASES: dict[str, list[Recommender]] = {
    "BiasOnly": [BiasOnly()],
    "EASE": [EASE(reg=5.0)],
    "IALS": [IALS(embedding_dim=6, epochs=4), IALS(embedding_dim=5, epochs=3, nu=0.0, reg=0.1)],
    "ItemKNN": [
        ItemKNN(neighbours=5),
        ItemKNN(similarity="jaccard", neighbours=4, shrinkage=3.0),
        ItemKNN(similarity="tfidf", neighbours=7, normalise=True),
        ItemKNN(similarity="bm25", neighbours=7),
    ],
    "Popularity": [Popularity(), Popularity(window=1.0, count="rows"), Popularity(half_life=0.5)],
    "PureSVD": [PureSVD(embedding_dim=2)],
    "Random": [Random()],
    "UserKNN": [
        UserKNN(neighbours=5),
        UserKNN(similarity="jaccard", neighbours=4, shrinkage=3.0),
        UserKNN(similarity="tfidf", neighbours=7),
        UserKNN(similarity="bm25", neighbours=7),
    ],
}

FLAT = {"BiasOnly", "Popularity", "Random"}


@pytest.mark.parametrize("model", [m for case in CASES.values() for m in case], ids=repr)
class TestAll(RecommenderContract):
    """All models of the package."""

    @pytest.fixture(autouse=True)
    def _take(self, model: Recommender) -> None:
        name = type(model).__name__
        self.template = model
        self.learns_checkerboard = name not in FLAT  # type: ignore[misc]
        self.blank_without_history = name not in FLAT  # type: ignore[misc]
        self.ties_twins = name != "Random"  # type: ignore[misc]

    def make(self) -> Recommender:
        return type(self.template)(**self.template.settings())


class TestAdjustedCosine(RecommenderContract):
    """Constant ratings, as on the checkerboard, say nothing once the mean is off."""

    learns_checkerboard = False

    def make(self) -> Recommender:
        return ItemKNN(similarity="adjusted_cosine", neighbours=6)


class TestUsersAdjustedCosine(RecommenderContract):
    learns_checkerboard = False

    def make(self) -> Recommender:
        return UserKNN(similarity="adjusted_cosine", neighbours=6)


def test_registry() -> None:
    assert list(package.REGISTRY) == sorted(package.REGISTRY) == names("model")
    here = Path(__file__).parent
    elsewhere = "".join(file.read_text() for file in here.rglob("test_*.py"))
    for name in set(package.REGISTRY) - set(CASES):
        assert re.search(rf"class Test{name}\w*\(RecommenderContract\)", elsewhere), name
    assert set(package.__all__) >= set(package.REGISTRY) - set(package.NEURAL)
    assert find("model", "iALS") is IALS
    assert find("model", "itemknn") is ItemKNN


@pytest.mark.parametrize("name", sorted(CASES))
def test_search_space_names_settings(name: str) -> None:
    model = build("model", name, {})
    for setting, space in model.search_space.items():
        assert setting in model.settings()
        ends = space if isinstance(space, list) else [space["low"], space["high"]]
        for value in ends:
            build("model", name, {setting: value})


_OTHER_PROCESS = """
import sys, numpy as np
from pathlib import Path
from fullrank import models
from fullrank.testing.recommender import queries_of, small_world
data = small_world()
for name in [path.name for path in Path(sys.argv[1]).iterdir() if path.is_dir()]:
    loaded = getattr(models, name).load(f"{sys.argv[1]}/{name}")
    again = type(loaded)(**loaded.settings()).fit(data, rng=1).score(queries_of(data))
    both = np.stack([again, loaded.score(queries_of(data))])
    np.save(f"{sys.argv[1]}/{name}.npy", both)
"""


def test_another_process_gives_the_same_bits(tmp_path: Any) -> None:
    data = small_world()
    scores = {}
    for name, cases in CASES.items():
        model = type(cases[0])(**cases[0].settings()).fit(data, rng=1)
        model.save(tmp_path / name)
        scores[name] = model.score(queries_of(data))
    subprocess.run([sys.executable, "-c", _OTHER_PROCESS, str(tmp_path)], check=True, timeout=120)
    for name, expected in scores.items():
        for found in np.load(tmp_path / f"{name}.npy"):
            np.testing.assert_array_equal(found, expected)
