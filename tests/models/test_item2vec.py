"""Item2Vec: contract, an epoch against plain NumPy, both similarities, wrong settings."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.core.random import derive, hash_elements
from fullrank.kernels import descent as kernel
from fullrank.kernels.draws import _uniform
from fullrank.kernels.order import mix
from fullrank.models import Item2Vec, Recommender
from fullrank.objectives import objective
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world


class TestItem2Vec(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return Item2Vec(embedding_dim=8, epochs=30, learning_rate=0.05, rho=1.0,
                        similarity="cosine")  # fmt: skip


class TestItem2VecDot(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return Item2Vec(embedding_dim=8, epochs=30, learning_rate=0.05, rho=1.0, similarity="dot")


def slow_epoch(model, train, vectors, companions, seed):
    """Pairs of items of one user, one after another; draws are the kernel's."""
    positives, pool, _ = model._steps(train, seed)
    goal, rate, reg = objective(model.objective), model.learning_rate, model.reg
    keep = np.minimum(np.sqrt(model.rho / (train.item_counts / len(train)).clip(1e-9)), 1.0)
    keys = hash_elements(derive(seed, "epoch", 0), positives.keys)
    taken = 0
    for p in np.argsort(keys):
        u, i, key = positives.users[p], positives.items[p], keys[p]
        own = positives.items[slice(*positives.indptr[u : u + 2])]
        rest = own[own != i]
        if len(rest) == 0 or _uniform(key, 0) >= keep[i]:
            continue
        for c in range(model.companions):
            j = rest[int(_uniform(key, 2 * c + 1) * len(rest))]
            if _uniform(key, 2 * c + 2) >= keep[j]:
                continue
            taken += 1
            draw = np.uint64(mix(np.uint64(key ^ np.uint64(mix(np.uint64(c))))))
            drawn = [kernel._draw(draw, h, u, positives, 0, pool)
                     for h in range(model.negatives_per_positive)]  # fmt: skip
            assert not set(drawn) & set(own)
            both, x = np.array([j, *drawn]), vectors[i].copy()
            found = companions[both] @ x
            loss = goal.loss(found[:1], found[None, 1:])
            slopes = np.array([loss[1][0], *loss[2][0]])
            gradient = slopes @ companions[both]
            for item, slope in zip(both, slopes):
                companions[item] -= rate * (slope * x + reg * companions[item])
            vectors[i] -= rate * (gradient + reg * vectors[i])
    return taken


@pytest.mark.parametrize("text", ["cross_entropy", "bpr", "softmax(log_q=false)"])
@pytest.mark.parametrize("rho", [1.0, 0.02])
def test_an_epoch_is_that_of_the_pairs(text, rho):
    train, seed = small_world(), 4
    model = Item2Vec(embedding_dim=4, epochs=1, objective=text, negatives_per_positive=2, rho=rho,
                     reg=0.01, init="normal(std=0.4)", similarity="dot")  # fmt: skip
    known, weights = train.item_counts > 0, derive(seed, "weights")
    tables = [model._table(side, known, 4, weights).astype(float)
              for side in ("items", "companions")]  # fmt: skip
    taken = slow_epoch(model, train, *tables, seed)
    assert (taken == 5 * len(train)) == (rho == 1.0)
    model.fit(train, rng=seed)
    np.testing.assert_allclose(model.history_factors_, tables[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.item_factors_, tables[1], rtol=1e-3, atol=1e-4)


def test_cosine_is_the_mean_cosine_to_the_history():
    train = small_world()
    given = {"embedding_dim": 4, "epochs": 2}
    unit = Item2Vec(**given, similarity="cosine").fit(train, rng=0)
    plain = Item2Vec(**given, similarity="dot").fit(train, rng=0).history_factors_[:24]
    plain = plain / np.linalg.norm(plain, axis=1, keepdims=True)
    queries, row = queries_of(train), 5
    wanted = (plain @ plain[queries.history(row)].T).mean(axis=1)
    np.testing.assert_allclose(unit.score(queries)[row][:24], wanted, rtol=1e-4, atol=1e-6)
    assert unit.score(queries)[row][24] < wanted.min()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"companions": 0}, "companions must be a whole number >= 1, got 0"),
        ({"rho": 0.0}, "rho must be > 0"),
        ({"similarity": "cosin"}, "did you mean 'cosine'"),
        ({"learning_rate": 0.0}, "Item2Vec: learning_rate must be > 0"),
        ({"objective": "multinomial"}, "compares an item with the whole catalogue"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(SpecError, match=message):
        Item2Vec(**settings)


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_items_without_training_rows_come_last(similarity):
    train = small_world()
    model = Item2Vec(embedding_dim=4, epochs=3, rho=1.0, similarity=similarity).fit(train, rng=1)
    queries = queries_of(train)
    scores = model.score(queries)
    asked, unknown = queries.history_counts > 0, train.item_counts == 0
    assert unknown.any()
    assert (scores[asked][:, ~unknown].min(axis=1) > scores[asked][:, unknown].max(axis=1)).all()
    assert (scores[~asked] == 0).all()
    pairs = zip(model.query_factors(queries)[:, :-1], scores, strict=True)
    for mine, found in pairs:  # the others score what the vectors say
        np.testing.assert_allclose(
            found[~unknown], (model.item_factors_ @ mine)[~unknown], rtol=1e-4, atol=1e-5
        )
