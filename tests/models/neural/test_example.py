"""The example of a PyTorch module of one's own holds what every model must."""

import importlib.util
from pathlib import Path

import pytest

import fullrank as fr
from fullrank.testing.recommender import RecommenderContract

pytest.importorskip("torch")
PATH = Path(__file__).parents[3] / "examples" / "perceptron.py"
SPEC = importlib.util.spec_from_file_location("perceptron", PATH)
example = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(example)


class TestPerceptron(RecommenderContract):
    ties_twins = False
    blank_without_history = False

    def make(self):
        return example.Perceptron(embedding_dim=8, epochs=200)


def test_it_can_be_watched():
    log = {"user_id": [u for u in range(12) for _ in range(4)], "item_id": [*range(6)] * 8}
    split = fr.LeaveRandom().split(fr.read(log).interactions)
    watch = fr.EarlyStop(split.queries("valid"), "mrr@3", patience=None)
    model = example.Perceptron(embedding_dim=2, epochs=6).fit(split.train, rng=1, monitor=watch)
    assert model.log_.best_epoch == watch.best_epoch
    ranked = fr.recommend(model, split.queries("valid"), 3)
    assert len(watch.curve) == 6
    assert len(ranked) == len(split.queries("valid"))
