"""RecVAE: contract, whose weights move when, and the composite prior."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from scipy import stats

from fullrank.core.errors import SpecError
from fullrank.models import Recommender, RecVAE
from fullrank.models._optimiser import optimiser
from fullrank.models.neural import rec_vae
from fullrank.models.neural._trainer import Trainer
from fullrank.testing.recommender import RecommenderContract, small_world, threads


class TestRecVAE(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return RecVAE(embedding_dim=16, hidden_dim=24, layers=2, epochs=15, batch_size=16,
                      learning_rate=0.02)  # fmt: skip


def _task():
    model = RecVAE(embedding_dim=4, hidden_dim=6, layers=3, batch_size=64)
    task = model._task(small_world(), 3)
    model._initialise(task.network, 1)
    return task


def test_encoder_and_decoder_are_trained_in_turns():
    task = _task()
    trainer = Trainer(task, optimiser("adam", ""), rate=0.01, seed=0)
    moved = []
    for batch in task.batches(0):
        before = {k: v.detach().clone() for k, v in task.network.named_parameters()}
        with ThreadPoolExecutor(1) as pool:
            trainer._step(batch, (0, len(moved)), pool)
        now = dict(task.network.named_parameters())
        moved.append({k.split(".")[0] for k in now if not torch.equal(before[k], now[k])})
    assert moved == [{"encoder"}] * 3 + [{"out", "out_bias"}]


def test_parts_of_a_batch_in_threads_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(rec_vae._Task, "part_rows", 4)
    found = []
    for n in (1, 4):
        with threads(n):
            model = RecVAE(embedding_dim=4, hidden_dim=8, layers=2, epochs=4, batch_size=32)
            found.append(model.fit(small_world(), rng=1).weights_)
    for name, value in found[0].items():
        np.testing.assert_array_equal(found[1][name], value)


def test_the_prior_mixes_the_old_posterior():
    task = _task()
    task.network.remember()
    rng = np.random.default_rng(0)
    z, users = torch.tensor(rng.normal(size=(3, 4)), dtype=torch.float32), torch.tensor([1, 5, 9])
    mean, log_variance = (x.numpy() for x in task.network.old(task.bags, users))
    fresh = task.network.encoder(task.bags, users, None, 0.0)[0].detach().numpy()
    np.testing.assert_allclose(mean, fresh, rtol=1e-6)
    density = (
        3 / 20 * stats.norm.pdf(z)
        + 3 / 4 * stats.norm.pdf(z, mean, np.exp(log_variance / 2))
        + 1 / 10 * stats.norm.pdf(z, 0, np.exp(5))
    )
    found = task._log_prior(z, users).detach().numpy()
    np.testing.assert_allclose(found, np.log(density), rtol=1e-4)


@pytest.mark.parametrize("setting", [{"gamma": -1.0}, {"layers": 0}, {"hidden_dim": 0}])
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(SpecError, match=next(iter(setting))):
        RecVAE(**setting)
