"""Data-genie's networks: learn a world, repeat, and say when a library is missing."""

from __future__ import annotations

import importlib.util

import numpy as np
import polars as pl
import pytest
from tests.advise.grids import grid

from fullrank.advise import evaluate, verdict
from fullrank.advise.learners import BPR, MLP, Boosting, Logistic, Network
from fullrank.core.errors import SpecError, TrainingError

pytest.importorskip("torch", reason="needs PyTorch (make test-torch)")

QUICK = Network(epochs=10, batch=16, learning_rate=5e-3)
LEARNERS = {"mlp": MLP(QUICK), "bpr": BPR(QUICK)}
TABLE, FEATURES = grid(n_sets=7)
NEW, NEW_FEATURES = grid(1, n_sets=3, first=50)


def test_both_objectives_find_what_there_is_and_nothing_where_there_is_nothing():
    found = evaluate(TABLE, FEATURES, LEARNERS, 1)
    for name in LEARNERS:
        for measure in ("regret", "p@1"):
            told = verdict(found, name, measure)
            assert told.beats_random, (name, measure)
            assert told.beats_fixed, (name, measure)
    nothing = evaluate(*grid(3, n_sets=7, signal=0.0), LEARNERS, 1)
    for name in LEARNERS:
        assert not verdict(nothing, name).beats_random


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_a_seed_repeats_and_taus_to_predict_are_not_looked_at(learner):
    import torch

    torch.manual_seed(1)
    wanted = torch.rand(1)
    torch.manual_seed(1)
    one = learner.fit(TABLE, FEATURES, 3, level=None).predict(NEW, NEW_FEATURES)
    assert torch.rand(1) == wanted  # the global generator is left alone
    poisoned = NEW.with_columns(tau=pl.lit(float("nan")))
    again = learner.fit(TABLE[::-1], FEATURES[::-1], 3, level=None).predict(poisoned, NEW_FEATURES)
    assert again.equals(one)
    other = learner.fit(TABLE, FEATURES, 4, level=None).predict(NEW, NEW_FEATURES)
    assert not other.equals(one)


def test_outputs_fit_a_target_by_hand():
    """|x| needs the hidden layer; outputs are the network's without dropout."""
    import torch

    x = np.linspace(-2, 2, 41)[:, None]
    wanted = torch.from_numpy(np.abs(x[:, 0]).astype(np.float32))
    settings = Network(hidden=16, epochs=150, batch=41, dropout=0.1, learning_rate=0.02)
    model = settings.train(x, 41, lambda phi, at: ((phi(at) - wanted[at]) ** 2).mean(), 0)
    np.testing.assert_allclose(model(np.array([[-1.5], [0.0], [1.5]])), [1.5, 0, 1.5], atol=0.35)
    rough = Network(hidden=16, epochs=1).train(x, 41, lambda phi, at: phi(at).sum(), 0)
    assert np.abs(rough(x) - np.abs(x[:, 0])).max() > 0.5


def test_refusals():
    with pytest.raises(TrainingError, match="lower its learning_rate"):
        MLP(Network(learning_rate=1e30, epochs=5)).fit(TABLE, FEATURES, level=None)
    with pytest.raises(SpecError, match=r"learning_rate must be in \(0, 1e\+30\]"):
        Network(learning_rate=1e38)
    with pytest.raises(SpecError, match=r"dropout must be a share in \[0, 1\)"):
        Network(dropout=1.0)
    if importlib.util.find_spec("sklearn") is None:
        with pytest.raises(SpecError, match="needs scikit-learn, which is not installed"):
            Logistic().fit(TABLE, FEATURES)
    if importlib.util.find_spec("xgboost") is None:
        with pytest.raises(SpecError, match="needs XGBoost, which is not installed"):
            Boosting().fit(TABLE, FEATURES)
