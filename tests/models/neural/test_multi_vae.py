"""MultiVAE and MultiDAE."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from fullrank.models import MultiDAE, MultiVAE, Recommender
from fullrank.models.neural._rows import bag_sum
from fullrank.testing.recommender import RecommenderContract


class TestMultiVAE(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return MultiVAE(embedding_dim=16, hidden_dim=32, epochs=60, batch_size=8, kl_steps=100,
                        learning_rate=0.01)  # fmt: skip


class TestMultiDAE(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return MultiDAE(embedding_dim=16, epochs=60, batch_size=8, learning_rate=0.01)


def test_sums_over_bags_are_the_product_with_a_sparse_matrix() -> None:
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(9, 5, generator=generator, requires_grad=True)
    items, rows = torch.tensor([4, 7, 1, 4, 8, 4]), torch.tensor([0, 0, 2, 2, 2, 3])  # 1: empty
    weights = torch.tensor([0.5, 2.0, 0.0, -1.0, 3.0, 0.0])  # 3: all dropped
    dense = torch.zeros(5, 9).index_put((rows, items), weights)
    found, plain = bag_sum(table, items, rows, 5, weights), dense @ table
    torch.testing.assert_close(found, plain)
    given = torch.randn(5, 5, generator=generator)
    wanted = torch.autograd.grad(plain, table, given)
    torch.testing.assert_close(torch.autograd.grad(found, table, given), wanted)
    assert not bag_sum(table, items[:0], rows[:0], 5, weights[:0]).any()
