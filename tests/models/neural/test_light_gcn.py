"""LightGCN: contract, and propagation against dense products."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from fullrank.core.errors import SpecError
from fullrank.models import LightGCN, Recommender
from fullrank.models.neural._graph import Graph, neighbours, sum_of_powers
from fullrank.testing.recommender import RecommenderContract, small_world


class TestLightGCN(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return LightGCN(embedding_dim=16, layers=2, epochs=40, batch_size=64, learning_rate=0.02)


def _dense(graph: Graph) -> np.ndarray:
    whole = np.zeros((graph.n, graph.n))
    for row in range(graph.n):
        mine = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
        whole[row, mine] = graph.root[row] * graph.root[mine]
    return whole


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph(small_world().csr("binary"))


def test_adjacency_is_symmetric_with_the_roots_of_degrees(graph):
    whole, log = _dense(graph), small_world().csr("binary").toarray()
    np.testing.assert_array_equal(whole, whole.T)
    degrees = log.sum(axis=1)[:, None] * log.sum(axis=0)[None, :]
    wanted = np.where(log > 0, 1 / np.sqrt(np.maximum(degrees, 1)), 0)
    np.testing.assert_allclose(whole[: len(log), len(log) :], wanted, rtol=1e-6)


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("some", [False, True])
def test_sum_of_powers_and_its_gradient(graph, k, some):
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(graph.n, 5)), dtype=torch.float32, requires_grad=True)
    given = rng.normal(size=(graph.n, 5)).astype(np.float32)
    rows = None
    if some:
        rows = torch.tensor([3, 8, 3]), torch.tensor([0, 24, 7])
        named = np.concatenate([rows[0], rows[1] + graph.n_users])
        given[np.setdiff1d(np.arange(graph.n), named)] = 0
    whole = sum(np.linalg.matrix_power(_dense(graph), p) for p in range(k + 1))
    out = sum_of_powers(x, graph, k, rows)
    (gradient,) = torch.autograd.grad(out, x, torch.from_numpy(given))
    asked = given.any(axis=1)
    wanted = whole @ x.detach().numpy()
    np.testing.assert_allclose(out.detach().numpy()[asked], wanted[asked], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradient.numpy(), whole.T @ given, rtol=1e-4, atol=1e-5)


def test_neighbours_and_their_gradient(graph):
    x = torch.randn(graph.n, 7, generator=torch.Generator().manual_seed(1), requires_grad=True)
    out = neighbours(x, graph)
    (gradient,) = torch.autograd.grad(out, x, x.detach())
    wanted = _dense(graph) @ x.detach().numpy()
    np.testing.assert_allclose(out.detach().numpy(), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradient.numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_rows_of_a_batch_alone_give_the_same_training():
    """The last product is made for a batch's rows only; that must not change what is learnt."""
    data, model = small_world(), LightGCN(epochs=2, embedding_dim=8, batch_size=16)
    found = model.fit(data, rng=0).user_factors_
    import fullrank.models.neural.light_gcn as module

    with pytest.MonkeyPatch.context() as patch:
        plain = module.sum_of_powers
        patch.setattr(module, "sum_of_powers", lambda x, g, k, rows: plain(x, g, k, None))
        again = LightGCN(epochs=2, embedding_dim=8, batch_size=16).fit(data, rng=0)
    np.testing.assert_allclose(again.user_factors_, found, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("setting", [{"layers": -1}, {"layers": 1.5}, {"dropout": 0.1}])
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(SpecError, match=next(iter(setting))):
        LightGCN(**setting)
