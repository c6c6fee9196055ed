"""Ranking among candidates: against plain counting, the full ranking, and by design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from fullrank.core.errors import ScoreError, SpecError
from fullrank.core.queries import Queries
from fullrank.core.ragged import rows_of
from fullrank.core.random import derive, hash_elements, mix
from fullrank.core.ranked import UNRANKED
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import EASE, IALS, ItemKNN, Popularity, PureSVD, Random, Recommender
from fullrank.negatives import Given, Pool, Uniform, Weighted
from fullrank.negatives import Popularity as ByPopularity
from fullrank.rank import rank
from fullrank.rank._candidates import Adaptive
from fullrank.rank._catalogue import Catalogue
from fullrank.testing.recommender import queries_of, small_world

WORLD = small_world()
MODELS = (
    Random(), Popularity(), EASE(), ItemKNN(), IALS(embedding_dim=8), PureSVD(embedding_dim=5)
)  # fmt: skip


def world_queries(n_targets: int = 3) -> Queries:
    rng, q = np.random.default_rng(0), queries_of(WORLD)
    free = [np.setdiff1d(np.arange(25), q.history(row)) for row in range(len(q))]
    chosen = [sorted(rng.choice(f, n_targets, replace=False).tolist()) for f in free]
    return queries_of(WORLD, chosen)


def in_order(ranks, values):
    """Values of targets by query and item."""
    return values[np.lexsort((ranks.items, rows_of(ranks.indptr)))]


@dataclass(eq=False)
class Scored(Recommender):
    """Scores of pairs from a table; asking for anything else fails."""

    thread_safe: ClassVar[bool] = True

    def _fit(self, train, rng, monitor):
        self.calls = []
        self.table = np.random.default_rng(1).integers(0, 4, (train.n_users, train.n_items))

    def _score(self, queries):
        raise AssertionError("the whole catalogue was scored")

    def score_pairs(self, queries, indptr, candidates):
        assert not len(queries.target_items)
        self.calls.append(len(candidates))
        rows = rows_of(indptr)
        return self.table[queries.users[rows], candidates].astype(np.float32)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_all_candidates_give_the_full_ranking(model):
    model, q = model.fit(WORLD), world_queries()
    full = rank(model, q).targets
    some = rank(model, q, candidates=Uniform(m=100)).targets
    sample = some.sample
    ranks = in_order(some, sample.ranks + sample.others)
    best, worst = in_order(full, full.best), in_order(full, full.worst)
    known = best != UNRANKED
    assert 0 < known.sum() < len(known)
    assert ((best <= ranks) & (ranks <= worst))[known].all()
    assert (ranks == 0)[~known].all()
    assert np.array_equal(sample.sizes[some.ranked], sample.catalog_sizes[some.ranked])
    assert some.counts["queries_with_fewer_candidates"] == len(q)


@pytest.mark.parametrize(
    "design",
    [Uniform(m=7), Uniform(m=40, replacement=True), ByPopularity(m=9)],
    ids=lambda d: f"{type(d).__name__} {d.m}",
)
def test_ranks_are_those_of_plain_counting(design):
    model, q = Scored().fit(WORLD), world_queries()
    found = rank(model, q, candidates=design, seed=5, catalogue="all").targets
    catalogue = np.ones(25, bool)
    pool = Pool.of(q, catalogue, derive(5, "candidates"))
    ready = design.prepare(WORLD.item_counts)
    last = np.minimum(design.m, ready.limits(pool))
    indptr, items = ready.draw(pool, np.zeros(len(q), np.int64), last)
    query_keys = hash_elements(5, q.user_vocab.hashes[q.users], q.query_ids)
    item_keys = mix(q.item_vocab.hashes)
    for row in range(len(q)):
        mine = slice(found.indptr[row], found.indptr[row + 1])
        drawn, table = items[indptr[row] : indptr[row + 1]], model.table[q.users[row]]
        order = [(-table[i], mix(query_keys[row] ^ item_keys[[i]])[0], i) for i in range(25)]
        for t in range(mine.start, mine.stop):
            item = found.items[t]
            assert found.best[t] == 1 + (table[drawn] > table[item]).sum()
            assert found.worst[t] == 1 + (table[drawn] >= table[item]).sum()
            assert found.sample.ranks[t] == 1 + sum(order[i] < order[item] for i in drawn)
            others = [i for i in found.items[mine] if i != item]
            assert found.sample.others[t] == sum(order[i] < order[item] for i in others)
            assert found.sample.sizes[t] == len(drawn) + 1
            assert found.sample.catalog_sizes[t] == pool.sizes[row] + 1
    assert found.sample.scheme == ready.scheme
    assert found.sample.replacement == design.replacement


def test_all_models_get_the_same_candidates():
    q = world_queries()
    asked = []

    class Spy(Scored):
        def score_pairs(self, queries, indptr, candidates):
            asked[-1].append((queries.users.tolist(), candidates.tolist()))
            return super().score_pairs(queries, indptr, candidates)

    for _ in range(2):
        asked.append([])
        rank(Spy().fit(WORLD), q, candidates=Uniform(m=6), threads=1)
    assert asked[0] == asked[1]
    assert len(asked[0]) == 2  # targets, candidates


def test_only_the_pairs_asked_for_are_scored_and_counted():
    model, q = Scored().fit(WORLD), world_queries(1)
    found = rank(model, q, candidates=Uniform(m=4), catalogue="all").targets
    assert found.counts["scored_pairs"] == sum(model.calls) == len(q) * 5


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_equal_for_any_number_of_threads(threads):
    model, q = IALS(embedding_dim=8).fit(WORLD), world_queries()
    some = [rank(model, q, candidates=Uniform(m=5), threads=t).targets for t in (1, threads)]
    for name in ("ranks", "sizes", "others", "catalog_sizes"):
        assert np.array_equal(*(getattr(s.sample, name) for s in some))


@dataclass(frozen=True, kw_only=True)
class Doubling(Adaptive):
    """Twice as many while nothing precedes the target."""

    n: int = 2

    @property
    def negatives(self):
        return Uniform(m=self.n)

    def more(self, stage, drawn, hits, pool, coins):
        assert ((coins >= 0) & (coins < 1)).all()
        return np.where(hits == 0, 2 * drawn, drawn)


def test_an_adaptive_design_extends_the_same_sequence():
    model, q = Scored().fit(WORLD), world_queries()
    found = rank(model, q, candidates=Doubling(), catalogue="all").targets
    sizes = found.sample.sizes
    assert len(np.unique(sizes)) > 2
    fixed = {n: rank(model, q, candidates=Uniform(m=int(n) - 1), catalogue="all").targets
             for n in np.unique(sizes)}  # fmt: skip
    key = np.lexsort((found.items, rows_of(found.indptr)))
    for n, one in fixed.items():
        same = np.lexsort((one.items, rows_of(one.indptr)))
        mine = sizes[key] == n
        assert np.array_equal(found.sample.ranks[key][mine], one.sample.ranks[same][mine])
    full = found.sample.sizes == found.sample.catalog_sizes
    assert (found.sample.ranks[~full] > 1).all()


@dataclass(eq=False)
class Rows(Recommender):
    """Scores whole rows only, and counts them."""

    thread_safe: ClassVar[bool] = True

    def _fit(self, train, rng, monitor):
        self.rows = 0
        self.table = np.random.default_rng(1).integers(0, 4, (train.n_users, train.n_items))

    def _score(self, queries):
        self.rows += len(queries)
        return self.table[queries.users].astype(np.float32)


def test_a_model_may_write_into_what_it_gets():
    class Careless(Scored):
        def score_pairs(self, queries, indptr, candidates):
            found = super().score_pairs(queries, indptr, candidates)
            candidates[:], indptr[:] = 0, 0
            return found

    q = world_queries()
    ranks = [rank(m().fit(WORLD), q, candidates=Uniform(m=6)).targets for m in (Scored, Careless)]
    assert np.array_equal(*(one.sample.ranks for one in ranks))


@pytest.mark.parametrize("room", [True, False])
def test_rows_are_scored_once_for_all_stages(room, monkeypatch):
    if not room:
        monkeypatch.setattr("fullrank.rank._pairs.WHOLE", 0)
    model, q = Rows().fit(WORLD), world_queries(2)
    options = {"candidates": Doubling(), "catalogue": "all", "seed": 3}
    found = rank(model, q, **options).targets
    assert model.rows == len(q) if room else model.rows > 2 * len(q)
    pairs = rank(Scored().fit(WORLD), q, **options).targets
    for name in ("ranks", "sizes", "others"):
        assert np.array_equal(getattr(found.sample, name), getattr(pairs.sample, name))
    assert found.counts["scored_pairs"] == pairs.counts["scored_pairs"]


def test_given_lists_are_ranked_as_they_are():
    model, q = Scored().fit(WORLD), world_queries(1)
    users = np.repeat(q.user_vocab.ids, 25)
    items = np.tile(q.item_vocab.ids, len(q.user_vocab))
    lists = Given.of_ids(users, items, q.user_vocab, q.item_vocab)
    found = rank(model, q, candidates=lists, catalogue="all").targets
    full = rank(model, q, candidates=Uniform(m=99), catalogue="all").targets
    assert np.array_equal(found.sample.ranks, full.sample.ranks)
    assert found.sample.scheme == "given"


def test_eligible_items_bound_the_candidates():
    model, q = Scored().fit(WORLD), world_queries(1)
    users = np.repeat(q.user_vocab.ids, 13)
    items = np.tile(q.item_vocab.ids[:13], len(q.user_vocab))
    catalogue = Catalogue(np.ones(25, bool)).restricted(q, users, items)
    found = rank(model, q, candidates=Uniform(m=99), catalogue=catalogue).targets
    inside = found.items < 13
    assert np.array_equal(found.ranked, inside)
    history = np.array([(q.history(row) < 13).sum() for row in range(len(q))])
    assert np.array_equal(found.sample.catalog_sizes, 13 - history - inside + 1)


def test_refusals():
    model, q = IALS(embedding_dim=4).fit(WORLD), world_queries()
    with pytest.raises(SpecError, match="candidates must be 'full' or a design"):
        rank(model, q, candidates="uniform")
    with pytest.raises(SpecError, match="need the whole catalogue"):
        rank(model, q, candidates=Uniform(m=3), k=5)
    bad = Scored().fit(WORLD)
    bad.table = np.full(bad.table.shape, np.nan)
    with pytest.raises(ScoreError, match="Scored scored nan for user 'u00'"):
        rank(bad, q, candidates=Uniform(m=3))
    short = Scored().fit(WORLD)
    short.score_pairs = lambda queries, indptr, candidates: np.zeros(1, np.float32)
    with pytest.raises(ScoreError, match=r"score_pairs gave float32 \(1,\)"):
        rank(short, q, candidates=Uniform(m=3))
    weights = Weighted(m=3, weights=np.ones(7))
    with pytest.raises(Exception, match="7 weights were given for 25 items"):
        rank(model, q, candidates=weights)


def test_a_constant_model_ranks_like_chance():
    n = 3000
    q = Queries.from_lists(
        np.arange(n),
        [[0]] * n,
        [[1]] * n,
        user_vocab=Vocabulary(np.arange(n), "user"),
        item_vocab=Vocabulary(np.arange(50), "item"),
    )

    class Flat(Scored):
        def score_pairs(self, queries, indptr, candidates):
            return np.zeros(len(candidates), np.float32)

    model = Flat()
    model.user_vocab_, model.item_vocab_ = q.user_vocab, q.item_vocab
    model.known_items_, model.item_counts_ = np.ones(50, bool), np.ones(50, np.int64)
    found = rank(model, q, candidates=Uniform(m=9)).targets
    share = np.bincount(found.sample.ranks, minlength=11)[1:] / n
    assert np.abs(share - 0.1).max() < 5 * np.sqrt(0.09 / n)
    assert (found.best == 1).all()
    assert (found.worst == 10).all()
