"""MultiVAE and MultiDAE."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from fullrank.models import MultiDAE, MultiVAE, Recommender
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
