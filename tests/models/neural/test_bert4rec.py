"""BERT4Rec."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from tests.models.neural.sequences import diagonal, follows

from fullrank.core.errors import SpecError
from fullrank.models import BERT4Rec, Recommender
from fullrank.models.neural._torch import Noise
from fullrank.models.neural.bert4rec import masks
from fullrank.testing.recommender import RecommenderContract


class TestBERT4Rec(RecommenderContract):
    ties_twins = False
    learns_checkerboard = False  # nothing follows its last item: shuffled below

    def make(self) -> Recommender:
        return BERT4Rec(embedding_dim=16, max_length=5, epochs=2, batch_size=8, blocks=1,
                        learning_rate=0.01)  # fmt: skip


def test_learns_what_comes_next() -> None:
    model = BERT4Rec(embedding_dim=32, blocks=1, batch_size=8, epochs=100, learning_rate=0.004,
                     dropout=0.0, max_length=8)  # fmt: skip
    assert follows(model) > 0.9


def test_compares_masks_with_drawn_negatives() -> None:
    model = BERT4Rec(objective="softmax", negatives_per_positive=3, embedding_dim=16, blocks=1,
                     batch_size=16, epochs=60, learning_rate=0.01, dropout=0.0, max_length=8,
                     )  # fmt: skip
    assert follows(model) > 0.2  # by chance: 1 / 16


def test_the_diagonal_of_a_shuffled_checkerboard() -> None:
    model = BERT4Rec(embedding_dim=16, max_length=15, epochs=60, batch_size=8, blocks=1,
                     learning_rate=0.01, dropout=0.1)  # fmt: skip
    assert diagonal(model) > 0.9


def test_masks() -> None:
    """The share of masks is as said, each row has one, and none is in the padding."""
    counts = torch.arange(2, 31).repeat(200)
    found = masks(counts, 0.3, Noise(1, on=torch.device("cpu")))
    assert (found.sum(dim=1) > 0).all()
    assert not found[torch.arange(30) >= counts[:, None]].any()
    long = counts == 30
    share = found[long].float().mean()
    assert abs(share - (0.3 * 10 / 11 + 1 / 30 / 11)) < 0.03


def test_padding_changes_nothing_and_masks_hide() -> None:
    model = BERT4Rec(embedding_dim=8, max_length=6)
    network = model._network(9)
    model._initialise(network, 1)
    lengths = torch.tensor([3])
    one = network.states(torch.tensor([[1, 2, 3, 0, 0]]), lengths)
    two = network.states(torch.tensor([[1, 2, 3, 7, 8]]), lengths)
    torch.testing.assert_close(one[:, :3], two[:, :3], rtol=0, atol=0)
    masked = torch.tensor([[False, True, False]])
    one = network.states(torch.tensor([[1, 2, 3]]), lengths, masked=masked)
    two = network.states(torch.tensor([[1, 5, 3]]), lengths, masked=masked)
    torch.testing.assert_close(one, two, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"max_length": 1}, "max_length"),
        ({"blocks": 0}, "blocks"),
        ({"heads": 3}, "heads"),
        ({"mask_share": 1.0}, "mask_share"),
    ],
)
def test_wrong_settings(settings: dict[str, object], named: str) -> None:
    with pytest.raises(SpecError, match=named):
        BERT4Rec(**settings)
