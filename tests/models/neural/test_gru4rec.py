"""GRU4Rec."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from tests.models.neural.sequences import diagonal, follows

from fullrank.core.errors import SpecError
from fullrank.models import GRU4Rec, Recommender
from fullrank.testing.recommender import RecommenderContract


class TestGRU4Rec(RecommenderContract):
    ties_twins = False
    learns_checkerboard = False  # nothing follows its last item: shuffled below

    def make(self) -> Recommender:
        return GRU4Rec(embedding_dim=16, max_length=5, epochs=2, batch_size=8, learning_rate=0.01)


@pytest.mark.parametrize("objective", ["multinomial", "top1", "softmax"])
def test_learns_what_comes_next(objective: str) -> None:
    model = GRU4Rec(objective=objective, negatives_per_positive=3, embedding_dim=16, batch_size=16,
                    epochs=30, learning_rate=0.02, dropout=0.0, max_length=8)  # fmt: skip
    assert follows(model) > 0.9


def test_the_diagonal_of_a_shuffled_checkerboard() -> None:
    model = GRU4Rec(embedding_dim=16, max_length=14, epochs=40, batch_size=8, learning_rate=0.01,
                    dropout=0.5)  # fmt: skip
    assert diagonal(model) > 0.9


def test_scores_are_the_state_by_the_table_and_the_bias() -> None:
    network = GRU4Rec(embedding_dim=4)._network(7)
    GRU4Rec(embedding_dim=4)._initialise(network, 1)
    torch.nn.init.ones_(network.bias)
    items, lengths = torch.tensor([[1, 2, 0], [3, 4, 5]]), torch.tensor([2, 3])
    out = network.last(items, lengths) @ network.table().T
    state = network.gru(network.items[items[:1, :2]])[0][:, -1]
    torch.testing.assert_close(out[:1], state @ network.items.T + 1)


def test_wrong_settings() -> None:
    with pytest.raises(SpecError, match="layers"):
        GRU4Rec(layers=0)
