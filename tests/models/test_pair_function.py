"""PairFunction: only the pairs asked for, in batches, with a clear word where it goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import ScoreError, SpecError
from fullrank.models import PairFunction
from fullrank.negatives import Uniform
from fullrank.rank import rank
from fullrank.testing.recommender import queries_of, small_world

WORLD = small_world()


def score(users, items):
    return [(7 * int(u[1:]) + 3 * int(i[1:])) % 11 for u, i in zip(users, items)]


def cases():
    q = queries_of(WORLD)
    return queries_of(WORLD, [[int(np.setdiff1d(np.arange(24), q.history(row))[0])]
                              for row in range(len(q))])  # fmt: skip


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("batch", [1, 7, 4096])
def test_batches_and_workers_change_nothing(batch, workers):
    q = cases()
    ranks = [
        rank(model.fit(WORLD), q, candidates=Uniform(m=8)).targets.sample.ranks
        for model in (PairFunction(score), PairFunction(score, batch=batch, workers=workers))
    ]
    assert np.array_equal(*ranks)


def test_only_candidates_and_targets_are_asked_for():
    asked = []

    def spy(users, items):
        asked.extend(zip(users, items))
        return score(users, items)

    q = cases()
    found = rank(PairFunction(spy).fit(WORLD), q, candidates=Uniform(m=4)).targets
    assert len(asked) == found.counts["scored_pairs"] == len(q) * 5
    assert len(set(asked)) == len(asked)


def test_full_ranking_agrees_with_the_whole_sample():
    q, model = cases(), PairFunction(score).fit(WORLD)
    full = rank(model, q).targets
    whole = rank(model, q, candidates=Uniform(m=30)).targets
    assert np.array_equal(full.best, whole.best)
    assert np.array_equal(full.worst, whole.worst)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda u, i: [1.0], "shape \\(1,\\) for"),
        (lambda u, i: ["high"] * len(i), "holds no real numbers"),
        (lambda u, i: None, "shape \\(\\) for"),
        (lambda u, i: [float("nan")] * len(i), "scored nan for user"),
        (lambda u, i: np.ma.masked_array(np.ones(len(i)), np.ones(len(i))), "masked array"),
        (lambda u, i: np.ones(len(i)) + 1j, "ndarray of complex128 that holds no real numbers"),
        (lambda u, i: np.array(["1.5"] * len(i)), "holds no real numbers"),
        (lambda u, i: -1e39 * np.ones(len(i)), "scored -1e\\+39 for user 'u.*ends at 3.4e38"),
        (lambda u, i: 1.7e9 + np.array(score(u, i)) / 100, "lost in float32.*for user 'u"),
        (lambda u, i: np.array(score(u, i)) * 1e-50, "lost in float32"),
    ],
)
def test_what_a_function_must_not_give(function, says):
    with pytest.raises(ScoreError, match=says):
        rank(PairFunction(function).fit(WORLD), cases(), candidates=Uniform(m=4))


def test_scores_that_differ_by_the_order_of_sums_are_equal():
    def nearly(users, items):
        found = np.array(score(users, items), float)
        return found / 3 * (1 + 1e-15 * (np.arange(len(found)) % 2))

    q = cases()
    exact, near = (
        rank(PairFunction(f).fit(WORLD), q, candidates=Uniform(m=8)).targets
        for f in (score, nearly)
    )
    assert np.array_equal(exact.sample.ranks, near.sample.ranks)


def test_a_function_may_write_into_what_it_gets():
    def careless(users, items):
        found = score(users, items)
        users[:] = users[0]
        items[:] = items[0]
        return found

    q = cases()
    ranks = [
        rank(PairFunction(f).fit(WORLD), q, candidates=Uniform(m=8)).targets.sample.ranks
        for f in (score, careless)
    ]
    assert np.array_equal(*ranks)


def test_settings_and_saving_are_refused(tmp_path):
    for make in (lambda: PairFunction(3), lambda: PairFunction(score, batch=0),
                 lambda: PairFunction(score, workers=1.5)):  # fmt: skip
        with pytest.raises(SpecError):
            make()
    with pytest.raises(SpecError, match="can't be saved"):
        PairFunction(score).fit(WORLD).save(tmp_path)
