"""Samplers of nodes against plain walks, fires, cores and a dense PageRank."""

from __future__ import annotations

import numpy as np
import pytest
from tests.subsample.worlds import LOW, rows, world

from fullrank.core.errors import SpecError
from fullrank.core.random import mix
from fullrank.data.filters import Core
from fullrank.kernels.graph import core_numbers, forest_fire, random_walk
from fullrank.subsample import ForestFire, PageRank, RandomWalk, subsample
from fullrank.subsample._graph import LATE, Graph
from fullrank.subsample.page_rank import descending, page_rank

TRAIN = world(4, n=300, n_users=50, n_items=30)
GRAPH = Graph(TRAIN)
STARTS = GRAPH.starts(1)
KEY = np.uint64(12345)


def uniform(number):
    """The stream of draws, from NumPy's twin of the mixer."""
    with np.errstate(over="ignore"):
        z = mix(np.array([KEY + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)]))
    return float(z[0] >> np.uint64(11)) * 2.0**-53


def partners(node):
    """Ascending, from the rows themselves."""
    n = TRAIN.n_users
    if node < n:
        return sorted({n + int(i) for i in TRAIN.items[TRAIN.users == node]})
    return sorted({int(u) for u in TRAIN.users[TRAIN.items == node - n]})


def rows_within(nodes):
    met = np.zeros(TRAIN.n_users + TRAIN.n_items, bool)
    met[list(nodes)] = True
    return int((met[TRAIN.users] & met[TRAIN.n_users + TRAIN.items]).sum())


def order_of(places):
    met = np.flatnonzero(places >= 0)
    return met[np.argsort(places[met])].tolist()


def plain_walk(restart, patience, wanted, nodes):
    met, number, starts = [], 0, 0
    for start in STARTS.tolist():
        if rows_within(met) >= wanted or len(met) >= nodes:
            break
        if start in met:
            continue
        starts += 1
        met.append(start)
        here, idle = start, 0
        while idle < patience and rows_within(met) < wanted and len(met) < nodes:
            u, number, idle = uniform(number), number + 1, idle + 1
            if u < restart:
                here = start
                continue
            near = partners(here)
            here = near[min(int((u - restart) / (1 - restart) * len(near)), len(near) - 1)]
            if here not in met:
                met.append(here)
                idle = 0
    return met, starts


@pytest.mark.parametrize(
    ("restart", "patience", "wanted", "nodes"),
    [(0.1, 50, 100, 99), (0.5, 3, 200, 99), (0.0, 20, 999, 99), (0.1, 1000, 999, 25)],
)
def test_random_walk_is_the_plain_one(restart, patience, wanted, nodes):
    places = np.empty(len(GRAPH.degrees), np.int32)
    starts = random_walk(*GRAPH.arrays(), STARTS, KEY, restart, patience, wanted, nodes, places)
    assert (order_of(places), starts) == plain_walk(restart, patience, wanted, nodes)


def plain_fire(burn, wanted, nodes):
    met, queue, backlog, number, at, fires = [], [], [], 0, 0, 0
    while rows_within(met) < wanted and len(met) < nodes:
        while not queue and backlog:
            for _ in range(min(10, len(backlog))):
                node = backlog.pop()
                if node not in met and node not in queue:
                    queue.append(node)
        while not queue and at < len(STARTS):
            if STARTS[at] not in met:
                queue.append(int(STARTS[at]))
                fires += 1
            at += 1
        if not queue:
            break
        node = queue.pop(0)
        met.append(node)
        free = [other for other in partners(node) if other not in met]
        k = 1 + int(np.log(1 - uniform(number)) / np.log1p(-burn))
        number += 1
        k = min(k, len(free))
        drawn = min(len(free), k + 100)
        for j in range(drawn):
            other = j + min(int(uniform(number) * (len(free) - j)), len(free) - j - 1)
            number += 1
            free[j], free[other] = free[other], free[j]
        queue += [other for other in free[:k] if other not in queue]
        backlog = (backlog + free[k:drawn])[-100:]
    return met, fires


@pytest.mark.parametrize(
    ("burn", "wanted", "nodes"), [(0.4, 100, 99), (0.4, 999, 99), (0.9, 250, 99), (0.1, 999, 30)]
)
def test_forest_fire_is_the_plain_one(burn, wanted, nodes):
    places = np.empty(len(GRAPH.degrees), np.int32)
    fires = forest_fire(*GRAPH.arrays(), STARTS, KEY, float(np.log1p(-burn)), wanted, nodes, places)
    assert (order_of(places), fires) == plain_fire(burn, wanted, nodes)


def test_a_fire_burns_a_geometric_number_of_partners():
    """A star of 1,000: 1 / burn partners burn at the first node, 2.5 on average."""
    star = Graph(rows([0] * 1000, list(range(1000))))
    counts = []
    for seed in range(2000):
        places = np.empty(1001, np.int32)
        forest_fire(
            *star.arrays(), np.array([0], np.int32), np.uint64(seed * 7919), float(np.log1p(-0.4)),
            1, 1001, places,
        )  # fmt: skip
        counts.append(int((places == -2).sum()) + 1)  # the one that met the size, and who waits
    assert abs(np.mean(counts) - 2.5) < 5 * np.sqrt(0.6) / 0.4 / np.sqrt(2000)


def test_keys_are_when_the_later_end_was_met():
    places = np.arange(len(GRAPH.degrees), dtype=np.int32)
    places[:10] = -1
    keys = GRAPH.induced(places)
    for key, user, item in zip(keys, TRAIN.users, TRAIN.items):
        assert key == (LATE if user < 10 else max(user, TRAIN.n_users + item))


@pytest.mark.parametrize("name", ["RandomWalk", "ForestFire", "PageRank"])
def test_rows_are_those_between_the_nodes(name):
    """Whole: with two ends among the users and items of the sample, a row is in it."""
    sample = subsample(TRAIN, name, 0.5, 2, size="whole", floor=LOW)
    kept = sample.train
    users, items = np.unique(kept.users), np.unique(kept.items)
    inside = np.isin(TRAIN.users, users) & np.isin(TRAIN.items, items)
    assert inside.sum() == len(kept)


@pytest.mark.parametrize("damping", [0.85, 0.5, 1e-6])
def test_page_rank_solves_its_equation(damping):
    n, m = TRAIN.n_users, TRAIN.n_items
    adjacency = np.zeros((n + m, n + m))
    adjacency[TRAIN.users, n + TRAIN.items] = adjacency[n + TRAIN.items, TRAIN.users] = 1.0
    step = adjacency / adjacency.sum(axis=0)
    x = np.linalg.solve(np.eye(n + m) - damping * step, np.ones(n + m))
    np.testing.assert_allclose(page_rank(GRAPH, damping), x, rtol=1e-9)
    assert abs((1 - damping) * x.sum() - (n + m)) < 1e-6 * (n + m), "they sum to the nodes"


def test_small_damping_orders_by_the_degrees_of_partners():
    scores = page_rank(GRAPH, 1e-6)
    first = [sum(1 / len(partners(other)) for other in partners(v)) for v in range(len(scores))]
    np.testing.assert_allclose((scores - 1) / 1e-6, first, rtol=1e-4)


def test_nodes_that_are_alike_are_drawn():
    """Ten users of one item each: their order hangs on the seed, not on rounding."""
    graph = Graph(rows(list(range(10)), [7] * 10))
    scores = page_rank(graph, 0.85)
    one, other = (descending(graph, scores, seed) for seed in (0, 1))
    assert one[10] == other[10] == 0
    assert not np.array_equal(one, other)


def test_page_rank_of_a_star_by_hand():
    """Beside lone pairs (1 each) its leaves have 0.15 + 0.085 * 5.14 = 0.586: they come last."""
    train = rows([*range(10), 20, 21, 22], [0] * 10 + [1, 2, 3])
    scores = page_rank(Graph(train), 0.85) * 0.15
    leaf = (0.15 + 0.15 * 0.085) / (1 - 0.85**2)
    np.testing.assert_allclose(scores[[0, 10, 13, 14]], [leaf, 1, 0.15 + 8.5 * leaf, 1])
    assert set(subsample(train, "PageRank", 0.2, floor=LOW).train.item_ids) == {1, 2, 3}


@pytest.mark.parametrize("k", range(1, 12))
def test_core_numbers_are_those_of_the_filter(k):
    core = np.empty(len(GRAPH.degrees), np.int64)
    core_numbers(GRAPH.indptr, GRAPH.neighbours, core)
    both = np.minimum(core[TRAIN.users], core[TRAIN.n_users + TRAIN.items])
    assert np.array_equal(both >= k, Core(users=k, items=k).mask(TRAIN))


@pytest.mark.parametrize("keep", [0.9, 0.6, 0.3, 0.01])
def test_the_nearest_core_is_taken(keep):
    sizes = {k: int(Core(users=k, items=k).mask(TRAIN).sum()) for k in range(1, 30)}
    nearest = min((n for n in sizes.values() if n), key=lambda n: abs(n - keep * len(TRAIN)))
    sample = subsample(TRAIN, "KCore", keep, floor=LOW)
    assert len(sample.rows) == nearest
    assert sample.manifest["size"] == "nearest"
    assert any("can't meet any size" in note for note in sample.manifest["notes"])


@pytest.mark.parametrize("sampler", [RandomWalk(), ForestFire(), PageRank()])
@pytest.mark.parametrize("keep", [0.8, 0.4, 0.1])
def test_as_published_enough_rows_are_gone(sampler, keep):
    """At least q |T|, and no more than the last node took along."""
    sample = subsample(TRAIN, sampler, keep, 2, size="faithful", floor=LOW)
    most = max(TRAIN.user_counts.max(), TRAIN.item_counts.max())
    gone = len(TRAIN) - len(sample.rows)
    assert (1 - keep) * len(TRAIN) <= gone < (1 - keep) * len(TRAIN) + most


def test_as_published_nodes_go_in_the_order_of_their_codes():
    """By hand: node 0 with 3 rows, then 1 with 2, of which item 9 has taken none yet."""
    graph = Graph(rows([0, 0, 0, 1, 1, 2], [7, 8, 9, 7, 9, 9]))
    places = np.array([0, 1, 2, -1, -1, -1])
    for removed, left in ((0, 6), (1, 3), (3, 3), (4, 1), (5, 1), (6, 0)):
        assert graph.without(places, removed).sum() == left


def test_a_walk_in_a_small_component_begins_elsewhere():
    """Thirty lone pairs: the published walk would never end."""
    train = rows(list(range(30)), list(range(30)))
    sample = subsample(train, "RandomWalk(patience=5)", 0.5, size="faithful", floor=LOW)
    assert len(sample.rows) == 15
    assert subsample(train, "RandomWalk", 0.5, floor=LOW).manifest["about"]["starts"] == 15


def test_settings_are_checked():
    with pytest.raises(SpecError, match="restart must be a chance"):
        RandomWalk(restart=1.0)
    with pytest.raises(SpecError, match="patience must be a whole number >= 1"):
        RandomWalk(patience=0)
    with pytest.raises(SpecError, match="burn must be a share"):
        ForestFire(burn=1.0)
    with pytest.raises(SpecError, match="damping must be a share"):
        PageRank(damping=1.0)
