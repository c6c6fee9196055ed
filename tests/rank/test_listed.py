"""Ranking with lists that are scored before anything is drawn: against plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from tests.rank.test_candidates import WORLD, Scored, world_queries

from fullrank.core.errors import SpecError
from fullrank.core.ragged import as_indptr, rows_of
from fullrank.core.random import derive, hash_elements, mix, uniform_elements
from fullrank.estimators import ProxyList
from fullrank.models import EASE, IALS, Popularity, PureSVD, Random
from fullrank.negatives import Given, Pool, Uniform
from fullrank.rank import rank
from fullrank.rank._catalogue import Catalogue

SEED = 5
EVERY = np.ones(25, bool)


def orders(q, scores):
    """Sort key of each item for each query: score, then the tie key, then the item."""
    query_keys = hash_elements(SEED, q.user_vocab.hashes[q.users], q.query_ids)
    item_keys = mix(q.item_vocab.hashes)
    return [
        [(-scores[row, i], mix(query_keys[row] ^ item_keys[[i]])[0], i) for i in range(25)]
        for row in range(len(q))
    ]


def plain_lists(q, proxy, length):
    """The proxy's best items of each query, history and targets left out."""
    by_proxy, out = orders(q, proxy.score(q.without_targets())), []
    for row in range(len(q)):
        gone = {*q.history(row).tolist(), *q.targets(row).tolist()}
        free = [i for i in sorted(range(25), key=by_proxy[row].__getitem__) if i not in gone]
        out.append(free[:length])
    return out


def plain_walk(design, draws, order, item, pool_size, coins):
    """Draws of one target by the rule, and how many of them precede it."""
    drawn, top = min(design.first - 1, pool_size), int((pool_size + 1) * design.ceiling)
    for coin in coins:
        hits = sum(order[i] < order[item] for i in draws[:drawn])
        if hits or coin >= design.keep or drawn + 1 >= top:
            return drawn, hits
        drawn = min(2 * (drawn + 1), top) - 1
    raise AssertionError("more stages than coins")


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("proxy", [Popularity(), PureSVD(embedding_dim=5), Random()],
                         ids=lambda p: type(p).__name__)  # fmt: skip
def test_lists_draws_and_ranks_are_those_of_plain_counting(proxy, n_targets):
    q, proxy = world_queries(n_targets), proxy.fit(WORLD)
    model = Scored().fit(WORLD)
    design = ProxyList(proxy=proxy, length=6, k_max=4, first=3, ceiling=0.8)
    found = rank(model, q, candidates=design, seed=SEED, catalogue="all").targets
    sample, lists = found.sample, plain_lists(q, proxy, 6)
    rows = as_indptr([len(x) for x in lists]), np.concatenate(lists).astype(np.int32)
    pool = Pool.of(q, EVERY, derive(SEED, "candidates"), listed=rows)
    indptr, items = Uniform().draw(pool, np.zeros(len(q), np.int64), pool.sizes)
    coins = np.array([uniform_elements(derive(SEED, "coins") + s, pool.keys) for s in range(1, 9)])
    order = orders(q, model.table[q.users])
    for row in range(len(q)):
        draws = items[indptr[row] : indptr[row + 1]].tolist()
        gone = {*q.history(row).tolist(), *q.targets(row).tolist(), *lists[row]}
        assert sorted(draws) == [i for i in range(25) if i not in gone]
        for t in range(found.indptr[row], found.indptr[row + 1]):
            item, mine = found.items[t], order[row]
            ahead = sum(mine[i] < mine[item] for i in lists[row])
            others = sum(mine[i] < mine[item] for i in q.targets(row))
            assert (sample.listed[t], sample.others[t]) == (ahead, others)
            settled = ahead + others >= 4
            walk = (0, 0)
            if not settled:
                walk = plain_walk(design, draws, mine, item, len(draws), coins[:, row])
            assert sample.settled[t] == settled
            assert (sample.sizes[t] - 1, sample.ranks[t] - 1) == walk
            assert sample.catalog_sizes[t] == len(draws) + 1
            seen, scores = [*lists[row], *draws[: walk[0]]], model.table[q.users[row]]
            assert found.best[t] == 1 + sum(scores[i] > scores[item] for i in seen)
            assert found.worst[t] == 1 + sum(scores[i] >= scores[item] for i in seen)
    assert 0 < sample.settled.sum() < len(sample)
    assert len(np.unique(sample.sizes)) > 3


def test_factors_and_pairs_find_the_same():
    q, proxy = world_queries(), Popularity().fit(WORLD)
    model = IALS(embedding_dim=8).fit(WORLD)
    design = ProxyList(proxy=proxy, length=5, k_max=9, first=3)

    class Pairs(Scored):
        def score_pairs(self, queries, indptr, candidates):
            return scores[queries.users[rows_of(indptr)], candidates]

    by_pairs = Pairs().fit(WORLD)
    scores = np.zeros((WORLD.n_users, 25), np.float32)
    scores[q.users] = model.score(q)
    some = [rank(m, q, candidates=design).targets for m in (model, by_pairs)]
    for name in ("ranks", "sizes", "others", "catalog_sizes", "listed"):
        assert np.array_equal(*(getattr(s.sample, name) for s in some)), name


@pytest.mark.parametrize("threads", [2, 4])
def test_equal_for_any_number_of_threads_and_part_of_the_queries(threads):
    q, model = world_queries(), IALS(embedding_dim=8).fit(WORLD)
    design = ProxyList(proxy=EASE().fit(WORLD), length=5, k_max=9, first=3)
    one, many = (rank(model, q, candidates=design, threads=t).targets for t in (1, threads))
    part = rank(model, q[7:20], candidates=design).targets
    inside = slice(one.indptr[7], one.indptr[20])
    for name in ("ranks", "sizes", "others", "catalog_sizes", "listed"):
        mine = getattr(one.sample, name)
        assert np.array_equal(mine, getattr(many.sample, name)), name
        assert np.array_equal(mine[inside], getattr(part.sample, name)), name
    assert part.design == one.design


def test_lists_made_in_parts_are_the_same(monkeypatch):
    q, model = world_queries(), Scored().fit(WORLD)
    items = np.tile(q.item_vocab.ids[:13], len(q.user_vocab))
    users = np.repeat(q.user_vocab.ids, 13)
    catalogue = Catalogue(EVERY).restricted(q, users, items)
    design = ProxyList(proxy=EASE().fit(WORLD), length=4)
    whole = rank(model, q, candidates=design, catalogue=catalogue).targets
    monkeypatch.setattr("fullrank.estimators.proxy_list._CHUNK", 7)
    parts = rank(model, q, candidates=design, catalogue=catalogue).targets
    assert np.array_equal(whole.sample.listed, parts.sample.listed)
    lists = design.lists(q, catalogue, seed=0, workers=1)
    assert (lists.items < 13).all()
    assert (np.diff(lists.indptr) <= 4).all()


def test_all_that_is_scored_is_counted_and_nothing_twice():
    asked = []

    class Spy(Scored):
        def score_pairs(self, queries, indptr, candidates):
            asked.extend(zip(queries.users[rows_of(indptr)].tolist(), candidates.tolist()))
            return super().score_pairs(queries, indptr, candidates)

    q = world_queries(1)
    design = ProxyList(proxy=Popularity().fit(WORLD), length=6, first=3, ceiling=1.0)
    found = rank(Spy().fit(WORLD), q, candidates=design, catalogue="all", threads=1).targets
    lists = design.lists(q, Catalogue(EVERY), seed=0, workers=1)
    assert len(asked) == len(set(asked)) == found.counts["scored_pairs"]
    assert len(asked) == found.sample.sizes.sum() + len(lists.items)
    assert np.array_equal(found.n_candidates, found.sample.sizes + np.diff(lists.indptr))


def test_a_list_of_everything_gives_the_full_ranking():
    q, model = world_queries(), IALS(embedding_dim=8).fit(WORLD)
    design = ProxyList(proxy=Random().fit(WORLD), length=100)
    found, full = (rank(model, q, candidates=c).targets for c in (design, "full"))
    sample = found.sample
    key, same = (np.lexsort((r.items, rows_of(r.indptr))) for r in (found, full))
    mine = (sample.ranks + sample.listed + sample.others)[key]
    ranked = full.ranked[same]
    assert ((full.best[same] <= mine) & (mine <= full.worst[same]))[ranked].all()
    assert (sample.sizes[found.ranked] == 1).all()
    assert (sample.catalog_sizes[found.ranked] == 1).all()


def test_lists_from_outside_are_taken_whole():
    q, model = world_queries(), Scored().fit(WORLD)
    rng = np.random.default_rng(0)
    pairs = [(u, i) for u in range(len(q.user_vocab)) for i in rng.choice(25, 9, replace=False)]
    users, items = np.array(pairs).T
    given = Given.of_ids(q.user_vocab.ids[users], q.item_vocab.ids[items], q.user_vocab,
                         q.item_vocab)  # fmt: skip
    design = ProxyList(proxy=given, length=2)
    lists = design.lists(q, Catalogue(EVERY), seed=0, workers=1)
    for row in range(len(q)):
        gone = {*q.history(row).tolist(), *q.targets(row).tolist()}
        mine = {i for u, i in pairs if u == q.users[row]} - gone
        assert lists.items[lists.indptr[row] : lists.indptr[row + 1]].tolist() == sorted(mine)
    found = rank(model, q, candidates=design, catalogue="all").targets
    assert found.design["proxy list"] == given.settings()["lists"]
    assert "length" not in found.design
    eligible = Catalogue(EVERY).restricted(q, q.user_vocab.ids[users], q.item_vocab.ids[items])
    with pytest.raises(SpecError, match="can't be combined with eligible items"):
        rank(model, q, candidates=design, catalogue=eligible)


def test_provenance_tells_proxies_apart():
    q, model = world_queries(), Scored().fit(WORLD)
    made = {}
    for name, proxy in (("a", PureSVD(embedding_dim=4)), ("b", PureSVD(embedding_dim=5)),
                        ("again", PureSVD(embedding_dim=4))):  # fmt: skip
        made[name] = rank(model, q, candidates=ProxyList(proxy=proxy.fit(WORLD))).targets.design
    assert made["a"]["proxy list"].startswith("PureSVD(embedding_dim=4")
    assert made["a"] == made["again"] != made["b"]
    half = WORLD.take(np.arange(len(WORLD)) % 2 == 0)
    other = ProxyList(proxy=PureSVD(embedding_dim=4).fit(half)).settings()
    assert other["proxy list"] != made["a"]["proxy list"]
