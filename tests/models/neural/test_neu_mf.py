"""NeuMF: contract, its parts, pre-training, and lazy optimisers."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from fullrank.core.errors import SpecError
from fullrank.models import IALS, NeuMF, Recommender
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world


class TestNeuMF(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return NeuMF(embedding_dim=8, layers=1, epochs=40, batch_size=64, learning_rate=0.02,
                     init="normal(std=0.3)")  # fmt: skip


def _small(**settings) -> NeuMF:
    return NeuMF(**{"embedding_dim": 4, "layers": 2, "epochs": 1, "batch_size": 64, **settings})


def test_scores_are_those_of_the_equations():
    data = small_world()
    model = _small(init="normal(std=0.5)").fit(data, rng=1)
    w = {k: v.astype(float) for k, v in model.weights_.items()}
    u = 5
    both = np.concatenate(
        [np.repeat(w["mlp_users"][[u]], 25, axis=0), w["mlp_items"]], axis=1
    )  # one layer on both vectors
    first = np.concatenate([w["first_users.weight"], w["first_items.weight"]], axis=1)
    x = np.maximum(both @ first.T + w["first_users.bias"], 0)
    x = np.maximum(x @ w["mlp.0.weight"].T + w["mlp.0.bias"], 0)
    wanted = np.concatenate([w["users"][u] * w["items"], x], axis=1) @ w["out"][0] + w["bias"]
    found = model.score(queries_of(data))[u]
    np.testing.assert_allclose(found[:24], wanted[:24], rtol=1e-5, atol=1e-6)
    assert found[24] < -1e38  # an item without training rows comes last


def test_pretraining_starts_from_both_parts():
    data = small_world()
    model = _small(pretrain=True, learning_rate=1e-12).fit(data, rng=1)
    parts = {part: _small(part=part, learning_rate=1e-12) for part in ("gmf", "mlp")}
    assert set(parts["gmf"].fit(data).weights_) == {"users", "items", "out", "bias"}
    queries = queries_of(data)
    alone = {name: NeuMF(**{**model.settings(), "pretrain": False, "part": name}) for name in parts}
    for name, one in alone.items():
        one.user_vocab_, one.item_vocab_ = model.user_vocab_, model.item_vocab_
        one.known_users_, one.known_items_ = model.known_users_, model.known_items_
        one._take(model._parts[name])
    wanted = 0.5 * sum(one.score(queries)[:40, :24].astype(float) for one in alone.values())
    np.testing.assert_allclose(model.score(queries)[:40, :24], wanted, atol=1e-6)


@pytest.mark.parametrize("part", ["gmf", "mlp"])
def test_a_part_learns_alone(part):
    data = small_world()
    model = _small(part=part, epochs=8, learning_rate=0.02, dropout=0.1, reg=1e-4).fit(data, rng=0)
    losses = [one.loss for one in model.log_.epochs]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("optimiser", ["sgd", "sparse_adam"])
def test_a_lazy_optimiser_learns_with_sparse_gradients(optimiser):
    data = small_world()
    rate = 0.5 if optimiser == "sgd" else 0.02
    model = _small(optimiser=optimiser, epochs=8, learning_rate=rate, reg=1e-5).fit(data, rng=0)
    assert model.log_.epochs[-1].loss < model.log_.epochs[0].loss


def test_a_warm_start_sets_the_vectors_of_gmf():
    data = small_world()
    source = IALS(embedding_dim=4, epochs=2).fit(data, rng=0)
    model = _small(learning_rate=1e-12).warm_start(source).fit(data, rng=1)
    np.testing.assert_allclose(model.weights_["items"][:24], source.item_factors_[:24], atol=1e-6)
    with pytest.raises(SpecError, match="part"):
        _small(part="mlp").warm_start(source)


@pytest.mark.parametrize(
    "setting",
    [
        {"layers": 0},
        {"part": "mpl"},
        {"pretrain": True, "part": "gmf"},
        {"objective": "multinomial"},
    ],
)
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(SpecError, match=next(iter(setting))):
        NeuMF(**setting)
