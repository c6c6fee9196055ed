"""NGCF: contract, the layers by hand, and its dropouts."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from fullrank.core.errors import SpecError
from fullrank.models import NGCF, Recommender
from fullrank.models.neural._torch import Noise
from fullrank.testing.recommender import RecommenderContract, small_world


class TestNGCF(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return NGCF(embedding_dim=16, layers=1, epochs=30, batch_size=64, learning_rate=0.02)


def _network(**settings):
    data = small_world()
    model = NGCF(embedding_dim=6, layers=2, **settings)
    network = model._pairs(data)
    model._initialise(network, 1)
    return network


def test_vectors_are_those_of_the_equations():
    network = _network()
    log = small_world().csr("binary").toarray()
    whole = np.block([[np.zeros((43, 43)), log], [log.T, np.zeros((25, 25))]])
    root = 1 / np.sqrt(np.maximum(whole.sum(axis=1), 1))
    a_hat = whole * root[:, None] * root
    with torch.no_grad():
        users, items = (x.numpy() for x in network.spread(None))
        at = torch.cat([network.users, network.items]).numpy().astype(float)
        weights = [(a.numpy(), b.numpy()) for a, b in zip(network.sums, network.products)]
    found = [at]
    for w1, w2 in weights:
        near = a_hat @ at
        at = (near + at) @ w1 + (near * at) @ w2
        at = np.where(at > 0, at, 0.2 * at)
        found.append(at / np.maximum(np.linalg.norm(at, axis=1, keepdims=True), 1e-12))
    wanted = np.concatenate(found, axis=1)
    np.testing.assert_allclose(np.concatenate([users, items]), wanted, rtol=1e-3, atol=1e-5)


def test_a_node_that_is_dropped_sends_nothing():
    network = _network(node_dropout=0.9, dropout=0.0)
    alone = _network(node_dropout=0.0, dropout=0.0)
    with torch.no_grad():
        noisy = network.spread(Noise(3, on=torch.device("cpu")))[0][:, 6:12]
        first = torch.nn.functional.leaky_relu(alone.users @ alone.sums[0], 0.2)
    own = torch.nn.functional.normalize(first, dim=1)
    same = torch.isclose(noisy, own, atol=1e-5).all(dim=1)
    assert 0 < same.float().mean() < 1  # some users have no neighbour that sends


@pytest.mark.parametrize("setting", [{"layers": 0}, {"node_dropout": 1.0}, {"dropout": 1.0}])
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(SpecError, match=next(iter(setting))):
        NGCF(**setting)
