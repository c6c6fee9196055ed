"""SVAE."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from tests.models.neural.sequences import follows

from fullrank.core.errors import SpecError
from fullrank.models import SVAE, Recommender
from fullrank.models.neural.svae import following
from fullrank.testing.recommender import RecommenderContract

SMALL = {"embedding_dim": 16, "state_dim": 16, "hidden_dim": 16, "latent_dim": 8}


class TestSVAE(RecommenderContract):
    ties_twins = False
    learns_checkerboard = False  # nothing follows its last item

    def make(self) -> Recommender:
        return SVAE(**SMALL, max_length=5, epochs=2, batch_size=8, learning_rate=0.01)


def test_learns_what_comes_next() -> None:
    model = SVAE(**SMALL, next_items=1, batch_size=16, epochs=40, learning_rate=0.02, dropout=0.0,
                 max_length=8, kl_steps=1000)  # fmt: skip
    assert follows(model) > 0.9


def test_the_next_items_of_each_place() -> None:
    items = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])
    there = torch.tensor([[True, True, True], [True, False, False]])
    found, counts = following(items, torch.tensor([4, 2]), there, 2)
    assert found.tolist() == [2, 3, 3, 4, 4, 6]
    assert counts.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"next_items": 0}, "next_items"),
        ({"state_dim": 0}, "state_dim"),
        ({"kl_weight": -1.0}, "kl_weight"),
        ({"kl_steps": -1}, "kl_steps"),
    ],
)
def test_wrong_settings(settings: dict[str, object], named: str) -> None:
    with pytest.raises(SpecError, match=named):
        SVAE(**settings)
