"""FPMC: contract, an epoch against plain NumPy, baskets, strangers, wrong settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fullrank.core.errors import DataError, SpecError
from fullrank.core.random import derive, hash_elements
from fullrank.core.vocabulary import Vocabulary
from fullrank.kernels import descent as kernel
from fullrank.models import FPMC, Recommender
from fullrank.models.fpmc import _before
from fullrank.objectives import objective
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world

OBJECTIVES = ("bpr", "hinge(margin=0.5)", "top1", "squared", "cross_entropy")


class TestFPMC(RecommenderContract):
    ties_twins = False
    blank_without_history = False

    def make(self) -> Recommender:
        return FPMC(embedding_dim=8, epochs=60, reg=0.001, learning_rate=0.1)


def basket_before(train, row):
    mine = np.flatnonzero(train.users == train.users[row])
    earlier = mine[train.times[mine] < train.times[row]]
    return earlier[train.times[earlier] == train.times[earlier].max()] if len(earlier) else earlier


def test_the_basket_before_is_that_of_the_next_older_time():
    train = small_world()
    before = _before(train.user_indptr, train.times)
    sizes = set()
    for row in range(len(train)):
        wanted = basket_before(train, row)
        assert list(range(*before[row])) == wanted.tolist()
        sizes.add(len(wanted))
    assert sizes == {0, 1, 3}


def slow_epoch(model, train, tables, seed):
    w, v, q, b = tables
    positives, pool, _ = model._steps(train, seed)
    goal, rate, reg, d = objective(model.objective), model.learning_rate, model.reg, w.shape[1]
    keys = hash_elements(derive(seed, "epoch", 0), train.user_vocab.hashes[train.users],
                         train.item_vocab.hashes[train.items], train.times)  # fmt: skip
    for row in np.argsort(keys):
        u, i = train.users[row], train.items[row]
        last = train.items[basket_before(train, row)]
        x = np.append(w[u], v[last].mean(axis=0) if len(last) else np.zeros(d))
        drawn = [kernel._draw(keys[row], j, u, positives, 0, pool)
                 for j in range(model.negatives_per_positive)]  # fmt: skip
        assert not set(drawn) & set(train.items[train.users == u])
        both = np.array([i, *drawn])
        found = q[both] @ x + b[both]
        loss = goal.loss(found[:1], found[None, 1:])
        slopes = np.array([loss[1][0], *loss[2][0]])
        gradient = slopes @ q[both]
        for item, slope in zip(both, slopes):
            q[item] -= rate * (slope * x + reg * q[item])
            b[item] -= rate * (slope + reg * b[item])
        w[u] -= rate * (gradient[:d] + reg * w[u])
        if len(last):
            v[last] -= rate * (gradient[d:] / len(last) + reg * v[last])


@pytest.mark.parametrize("text", OBJECTIVES)
def test_an_epoch_is_the_papers_steps(text):
    train, seed = small_world(), 3
    model = FPMC(embedding_dim=4, epochs=1, objective=text, negatives_per_positive=2, reg=0.02,
                 init="normal(std=0.4)")  # fmt: skip
    weights, known = derive(seed, "weights"), train.item_counts > 0
    tables = [
        model._table(side, rows, width, weights).astype(float)
        for side, rows, width in (
            ("users", train.user_counts > 0, 4), ("last", known, 4), ("items", known, 8),
        )
    ]  # fmt: skip
    tables.append(np.zeros(train.n_items))
    slow_epoch(model, train, tables, seed)
    model.fit(train, rng=seed)
    w, v, q, b = tables
    found = (model.user_factors_, model.last_factors_, model.item_factors_[:24, :8],
             model.item_factors_[:24, 8])  # fmt: skip
    for one, wanted in zip(found, (w, v, q[:24], b[:24])):
        np.testing.assert_allclose(one, wanted, rtol=1e-3, atol=1e-4)


def test_a_stranger_gets_the_part_of_the_last_items():
    train = small_world()
    model = FPMC(embedding_dim=4, epochs=3).fit(train, rng=0)
    mine = queries_of(train)[:1]
    vocabulary = Vocabulary.of(["nobody"], "user")
    stranger = replace(mine, users=np.zeros(1, np.int32), user_vocab=vocabulary)
    last = mine.history_items[mine.history_times == mine.history_times.max()]
    part = model.item_factors_[:, 4:8] @ model.last_factors_[last].mean(axis=0)
    wanted = part + model.item_factors_[:, 8]
    np.testing.assert_allclose(model.score(stranger)[0], wanted, rtol=1e-5, atol=1e-6)
    taste = model.item_factors_[:, :4] @ model.user_factors_[0]
    np.testing.assert_allclose(model.score(mine)[0], wanted + taste, rtol=1e-4, atol=1e-6)


def test_the_next_item_is_learnt_from_the_last():
    """Users walk a ring of items from random places: what comes next depends on the last alone."""
    import polars as pl

    import fullrank as fr

    rng = np.random.default_rng(0)
    rows = [(u, (s + t) % 20, t) for u in range(200) for s in rng.integers(0, 20, 1)
            for t in range(6)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["user_id", "item_id", "timestamp"], orient="row")
    log = fr.read(frame).interactions
    model = FPMC(embedding_dim=16, epochs=30, learning_rate=0.1, reg=0.001).fit(log, rng=0)
    queries = queries_of(log)
    scores = model.score(queries)
    scores[queries.history_csr().toarray() > 0] = -np.inf
    labels = log.item_vocab.ids.astype(int)
    ends = np.array([labels[queries.history(row)[-1]] for row in range(len(queries))])
    assert (labels[scores.argmax(axis=1)] == (ends + 1) % 20).mean() > 0.9


def test_needs_times():
    with pytest.raises(DataError, match="FPMC needs a time for every row"):
        FPMC().fit(replace(small_world(), times=None))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embedding_dim": 0}, "FPMC: embedding_dim must be a whole number >= 1"),
        ({"learning_rate": -1.0}, "FPMC: learning_rate must be > 0"),
        ({"reg": -1.0}, "FPMC: reg must be >= 0"),
        ({"negatives": "in_batch"}, "FPMC: negatives in_batch need batches"),
        ({"objective": "multinomial"}, "FPMC"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(SpecError, match=message):
        FPMC(**settings)
