"""Adaptive designs on models: exact at the end, kept draws, better than a fixed size."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import SpecError
from fullrank.core.queries import Queries
from fullrank.core.ragged import rows_of
from fullrank.core.vocabulary import Vocabulary
from fullrank.estimators import Doubling, Screened, Thinned, Unthinned, estimate
from fullrank.models import Recommender
from fullrank.negatives import Uniform
from fullrank.rank import rank

N, M = 1500, 1200


class Placed(Recommender):
    """The target of user ``u`` has rank ``places[u]`` among all items; ties nowhere."""

    def _fit(self, train, rng, monitor):
        raise NotImplementedError

    def score_pairs(self, queries, indptr, candidates):
        users = queries.users[rows_of(indptr)]
        # Target 0 stands at places[u]: items 1 … places - 1 are above it.
        scores = np.where(candidates == 0, self.places[users] - 0.5, candidates.astype(float))
        return -scores.astype(np.float32)

    def _score(self, queries):
        every = np.tile(np.arange(N), (len(queries), 1))
        indptr = np.arange(len(queries) + 1) * N
        return self.score_pairs(queries, indptr, every.ravel()).reshape(len(queries), N)


def world(places):
    m = len(places)
    users, items = Vocabulary(np.arange(m), "user"), Vocabulary(np.arange(N), "item")
    queries = Queries.from_lists(
        np.arange(m), [[]] * m, [[0]] * m, user_vocab=users, item_vocab=items
    )
    model = Placed()
    model.places = np.asarray(places)
    model.user_vocab_, model.item_vocab_ = users, items
    model.known_items_, model.item_counts_ = np.ones(N, bool), np.ones(N, np.int64)
    model.known_users_ = np.ones(m, bool)
    return model, queries


def drawn_places(seed: int = 0):
    p = 1 / (np.arange(1, N + 1) + 2.0)
    return np.random.default_rng(seed).choice(np.arange(1, N + 1), M, p=p / p.sum())


def test_unthinned_knows_every_rank_one_and_every_full_sample():
    places = drawn_places()
    model, queries = world(places)
    sample = rank(model, queries, candidates=Unthinned()).targets.sample
    whole = sample.sizes == sample.catalog_sizes
    assert np.array_equal(sample.ranks[whole], places[whole])
    assert whole[places == 1].all()


def test_thinned_ranks_a_few_in_full_and_exactly():
    places = drawn_places()
    model, queries = world(places)
    sample = rank(model, queries, candidates=Thinned()).targets.sample
    whole = sample.sizes == sample.catalog_sizes
    assert 5 < whole.sum() < 0.5 * (places == 1).sum()
    assert np.array_equal(sample.ranks[whole], places[whole])


def test_sizes_are_those_of_each_design():
    model, queries = world(drawn_places())
    sizes = {d: set(rank(model, queries, candidates=d).targets.sample.sizes.tolist())
             for d in (Doubling(n_max=800), Screened(), Thinned(), Unthinned())}  # fmt: skip
    assert sizes[Doubling(n_max=800)] == {100, 200, 400, 800}
    assert sizes[Screened()] == {25, 50, 100, 187}
    assert sizes[Thinned()] == sizes[Unthinned()] == {25, 50, 100, 200, 400, 800, 1500}


def test_doubling_stops_at_the_first_hit_and_thinned_costs_less():
    model, queries = world(drawn_places())
    ranks = {}
    for design in (Doubling(n_max=800), Thinned(), Unthinned()):
        ranks[design] = rank(model, queries, candidates=design).targets
    sample = ranks[Doubling(n_max=800)].sample
    assert (sample.ranks[sample.sizes < 800] > 1).all()
    cost = {d: r.counts["scored_pairs"] for d, r in ranks.items()}
    assert cost[Thinned()] < 0.6 * cost[Unthinned()]
    for design, found in ranks.items():
        assert cost[design] == int(found.sample.sizes.sum())


def test_thinned_is_nearer_than_a_fixed_size_of_as_many_items():
    """Mean absolute relative error of NDCG@10 over 8 worlds."""
    off = {}
    for seed in range(8):
        places = drawn_places(seed)
        model, queries = world(places)
        true = ((places <= 10) / np.log2(places + 1)).mean()
        for design in (Thinned(), Uniform(m=200)):
            found = estimate(rank(model, queries, candidates=design, seed=seed).targets, "ndcg@10")
            off.setdefault(design, []).append(abs(found[0].value / true - 1))
            cost = rank(model, queries, candidates=design, seed=seed).targets.counts
            assert cost["scored_pairs"] / M < 260
    assert np.mean(off[Thinned()]) < np.mean(off[Uniform(m=200)])


def test_the_same_coins_and_draws_for_every_model():
    one, queries = world(drawn_places())
    two, _ = world(drawn_places(1))
    first, second = (rank(m, queries, candidates=Thinned()).targets.sample for m in (one, two))
    same = one.places == two.places
    assert same.sum() > 5
    assert np.array_equal(first.sizes[same], second.sizes[same])
    assert np.array_equal(first.ranks[same], second.ranks[same])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Doubling(first=1),
        lambda: Doubling(n_max=50),
        lambda: Screened(ceiling=0.0),
        lambda: Screened(ceiling=1.5),
        lambda: Thinned(keep=0.0),
        lambda: Thinned(first=2.5),
    ],
)
def test_settings_that_cannot_be_are_refused(make):
    with pytest.raises(SpecError):
        make()
