"""FISM: contract, an epoch against plain NumPy, wrong settings."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.core.random import derive, hash_elements
from fullrank.kernels import descent as kernel
from fullrank.kernels.order import mix
from fullrank.models import FISM, Recommender
from fullrank.objectives import objective
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world

OBJECTIVES = (
    "bpr",
    "hinge(margin=0.5)",
    "top1",
    "squared",
    "cross_entropy",
    "softmax(log_q=false)",
)


class TestFISM(RecommenderContract):
    ties_twins = False
    blank_without_history = False

    def make(self) -> Recommender:
        return FISM(embedding_dim=8, epochs=60, reg=0.001, learning_rate=0.05)


def slow_epoch(model, train, p, q, b, seed, number):
    """The paper's steps: all p_j of the history move with each positive; draws are the kernel's."""
    positives, pool, _ = model._steps(train, seed)
    goal, rate, reg = objective(model.objective), model.learning_rate, model.reg
    key = derive(seed, "epoch", number)
    hashes = hash_elements(key, train.user_vocab.hashes)
    for u in np.argsort(hashes, kind="stable"):
        own = positives.items[slice(*positives.indptr[u : u + 2])]
        if len(own) == 0:
            continue
        keys = mix_all(positives.keys[slice(*positives.indptr[u : u + 2])] ^ np.uint64(key))
        scale = (len(own) - 1.0) ** -model.alpha if len(own) > 1 else 0.0
        for i, draw in sorted(zip(own, keys), key=lambda pair: pair[1]):
            rest = own[own != i]
            x = scale * p[rest].sum(axis=0)
            drawn = [kernel._draw(draw, j, u, positives, 0, pool)
                     for j in range(model.negatives_per_positive)]  # fmt: skip
            assert not set(drawn) & set(own)
            both = np.array([i, *drawn])
            found = q[both] @ x + b[both]
            loss = goal.loss(found[:1], found[None, 1:])
            slopes = np.array([loss[1][0], *loss[2][0]])
            gradient = slopes @ q[both]
            for item, slope in zip(both, slopes):
                q[item] -= rate * (slope * x + reg * q[item])
                b[item] -= rate * (slope + reg * b[item])
            p[rest] -= rate * scale * gradient


def mix_all(values):
    return np.array([mix(value) for value in values], np.uint64)


@pytest.mark.parametrize("text", OBJECTIVES)
def test_an_epoch_is_the_papers_steps(text):
    train, seed = small_world(), 5
    model = FISM(embedding_dim=4, epochs=1, objective=text, negatives_per_positive=2, reg=0.0,
                 init="normal(std=0.4)")  # fmt: skip
    known, weights = train.item_counts > 0, derive(seed, "weights")
    p, q = (model._table(side, known, 4, weights).astype(float) for side in ("history", "items"))
    b = np.zeros(train.n_items)
    slow_epoch(model, train, p, q, b, seed, 0)
    model.fit(train, rng=seed)
    np.testing.assert_allclose(model.history_factors_, p, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.item_factors_[:24, :4], q[:24], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.item_factors_[:24, 4], b[:24], rtol=1e-3, atol=1e-4)


def test_the_penalty_shrinks_what_a_step_meets():
    train = small_world()
    given = {"embedding_dim": 4, "epochs": 1, "learning_rate": 1e-3, "init": "normal(std=0.4)"}
    free, held = (FISM(reg=reg, **given).fit(train, rng=1) for reg in (0.0, 10.0))
    users = train.item_counts[:24, None]
    wanted = 0.99**users * free.history_factors_[:24]
    np.testing.assert_allclose(held.history_factors_[:24], wanted, atol=0.01)
    assert np.abs(held.item_factors_[:, :4]).mean() < np.abs(free.item_factors_[:, :4]).mean()


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_scores_are_those_of_the_formula(alpha):
    train = small_world()
    model = FISM(embedding_dim=4, epochs=2, alpha=alpha).fit(train, rng=0)
    queries, row = queries_of(train), 7
    history = queries.history(row)
    x = len(history) ** -alpha * model.history_factors_[history].sum(axis=0, dtype=float)
    wanted = model.item_factors_[:, :4] @ x + model.item_factors_[:, 4]
    np.testing.assert_allclose(model.score(queries)[row], wanted, rtol=1e-5, atol=1e-6)


def test_warp_trains_too():
    train = small_world()
    model = FISM(objective="warp", negatives_per_positive=20, epochs=2, negatives="popularity")
    assert np.isfinite(model.fit(train).score(queries_of(train))).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embedding_dim": 0}, "embedding_dim must be a whole number >= 1, got 0"),
        ({"epochs": True}, "epochs must be a whole number"),
        ({"learning_rate": 0.0}, "learning_rate must be > 0"),
        ({"reg": float("nan")}, "reg must be a finite number, got nan"),
        ({"alpha": 1.5}, "alpha must be from 0 to 1"),
        ({"objective": "multinomial"}, "compares an item with the whole catalogue"),
        ({"negatives": "in_batch"}, "in_batch need batches"),
        ({"init": "normal(std=-1)"}, "std >= 0"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(SpecError, match=message):
        FISM(**settings)


def test_what_diverges_is_said():
    with pytest.raises(SpecError, match="not finite with learning_rate"):
        FISM(objective="squared", learning_rate=1e6, epochs=5).fit(small_world())
