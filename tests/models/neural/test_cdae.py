"""CDAE: contract, objectives, and the user's vector."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from fullrank.core.errors import SpecError
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import CDAE, Recommender
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world


class TestCDAE(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return CDAE(embedding_dim=16, epochs=60, batch_size=8, learning_rate=0.02, dropout=0.4)


def _small(**settings) -> CDAE:
    return CDAE(**{"embedding_dim": 6, "epochs": 5, "batch_size": 8, "learning_rate": 0.02,
                   **settings})  # fmt: skip


def test_scores_are_those_of_the_equations_with_and_without_the_users_vector():
    data = small_world()
    model, queries = _small().fit(data, rng=1), queries_of(data)
    w = {k: v.astype(float) for k, v in model.weights_.items()}
    log = data.csr("binary").toarray()

    def wanted(user: int, own: float) -> np.ndarray:
        z = 1 / (1 + np.exp(-(log[user] @ w["items"] + own * w["users"][user] + w["bias"])))
        return w["out"] @ z + w["out_bias"]

    np.testing.assert_allclose(model.score(queries)[4, :24], wanted(4, 1.0)[:24], rtol=1e-4)
    stranger = replace(
        queries[4:5], users=np.zeros(1, np.int32), user_vocab=Vocabulary.of(["nobody"], "user")
    )
    np.testing.assert_allclose(model.score(stranger)[0, :24], wanted(4, 0.0)[:24], rtol=1e-4)


@pytest.mark.parametrize("text", ["squared", "bpr", "softmax", "warp", "multinomial"])
@pytest.mark.parametrize("negatives", ["uniform", "hardest(uniform, of=3)", "in_batch"])
def test_objectives_and_negatives_make_their_loss_smaller(text, negatives):
    model = _small(objective=text, negatives=negatives, epochs=8).fit(small_world(), rng=0)
    losses = [one.loss for one in model.log_.epochs]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("setting", [{"objective": "x"}, {"negatives": "y"}, {"dropout": 1}])
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(SpecError, match=next(iter(setting))):
        CDAE(**setting)
