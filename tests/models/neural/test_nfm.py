"""NFM: contract, its equations, depth, lazy optimisers, warm start."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from fullrank.core.errors import SpecError
from fullrank.models import IALS, NFM, Recommender
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world


class TestNFM(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return NFM(embedding_dim=16, epochs=40, batch_size=64, learning_rate=0.02, dropout=0.0,
                   negatives_per_positive=4, reg=0.01, init="normal(std=0.3)")  # fmt: skip


def _small(**settings) -> NFM:
    return NFM(**{"embedding_dim": 4, "epochs": 1, "batch_size": 64, **settings})


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_scores_are_those_of_the_equations(layers):
    data = small_world()
    model = _small(layers=layers, init="normal(std=0.5)", objective="squared").fit(data, rng=1)
    w, u = {k: v.astype(float) for k, v in model.weights_.items()}, 5
    x = w["users"][u] * w["items"]
    for layer in range(layers):
        x = np.maximum(x @ w[f"mlp.{layer}.weight"].T + w[f"mlp.{layer}.bias"], 0)
    wanted = x @ w["out"][0] + w["bias"] + w["user_bias"][u] + w["item_bias"][:, 0]
    found = model.score(queries_of(data))[u]
    np.testing.assert_allclose(found[:24], wanted[:24], rtol=1e-5, atol=1e-6)
    assert w["bias"] != 0  # it is learnt where the loss is one of points
    assert (w["item_bias"][:24] != 0).all()
    assert found[24] < -1e38  # an item without training rows comes last


@pytest.mark.parametrize("objective", ["bpr", "hinge", "top1", "crossentropy", "softmax", "warp"])
def test_any_objective_is_learnt_from(objective):
    given = {"objective": objective, "epochs": 8, "learning_rate": 0.02, "reg": 1e-5}
    model = _small(**given, negatives_per_positive=3, dropout=0.1).fit(small_world(), rng=0)
    losses = [one.loss for one in model.log_.epochs]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("optimiser", ["sgd", "sparse_adam"])
def test_a_lazy_optimiser_learns_with_sparse_gradients(optimiser):
    rate = 0.5 if optimiser == "sgd" else 0.02
    model = _small(optimiser=optimiser, epochs=8, learning_rate=rate).fit(small_world(), rng=0)
    assert model.log_.epochs[-1].loss < model.log_.epochs[0].loss


def test_a_warm_start_sets_the_vectors():
    data = small_world()
    source = IALS(embedding_dim=4, epochs=2).fit(data, rng=0)
    model = _small(learning_rate=1e-12).warm_start(source).fit(data, rng=1)
    np.testing.assert_allclose(model.weights_["items"][:24], source.item_factors_[:24], atol=1e-6)


@pytest.mark.parametrize("setting", [{"layers": -1}, {"layers": True}, {"dropout": 1.0},
                                     {"objective": "multinomial"}])  # fmt: skip
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(SpecError, match=next(iter(setting))):
        NFM(**setting)
