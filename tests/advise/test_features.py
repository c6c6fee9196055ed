"""Features of logs: by hand on small graphs, against slow references, free of order and names."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from tests.subsample.worlds import LOW, rows, shuffled, world

from fullrank.advise import Features, _graph, apart
from fullrank.advise._distribution import evenness, gini, jensen_shannon, quantiles, tail_exponent
from fullrank.core.errors import DataError, SpecError
from fullrank.subsample import subsample

SQUARE = [(0, "a"), (0, "b"), (1, "a"), (1, "b")]
CHAIN = [(0, "a"), (1, "a"), (1, "b")]


def graph(pairs):
    return _graph.Bipartite(rows(*map(list, zip(*pairs))))


@pytest.mark.parametrize(
    ("pairs", "wanted"),
    [
        (SQUARE, 1.0),
        ([*SQUARE, (2, "a"), (2, "b")], 1.0),
        ([*SQUARE, (0, "c")], 2 / 3),  # one cycle, six paths
        (CHAIN, 0.0),
        ([(0, "a"), (1, "a"), (1, "b"), (2, "b"), (2, "c"), (0, "c")], 0.0),  # a cycle of six
    ],
)
def test_four_cycles_by_hand(pairs, wanted, monkeypatch):
    assert _graph.four_cycles(graph(pairs), 100, 0) == pytest.approx(wanted)
    monkeypatch.setattr(_graph, "_EXACT_WORK", -1)
    drawn = _graph.four_cycles(graph(pairs), 10_000, 0)
    assert drawn == pytest.approx(wanted, abs=4 * sqrt(wanted * (1 - wanted) / 10_000))


def test_four_cycles_against_all_paths(monkeypatch):
    one = _graph.Bipartite(world(2))
    B = one.by_user.toarray()
    users, items = np.nonzero(B)
    closed, n_paths = 0, 0
    for u, i in zip(users, items):
        block = np.delete(np.delete(B, u, 0), i, 1)
        ends = np.outer(np.delete(B[:, i], u), np.delete(B[u], i))
        closed, n_paths = closed + (block * ends).sum(), n_paths + ends.sum()
    assert _graph.four_cycles(one, 1, 0) == pytest.approx(closed / n_paths)
    monkeypatch.setattr(_graph, "_EXACT_WORK", -1)
    share = closed / n_paths
    drawn = _graph.four_cycles(one, 40_000, 3)
    assert drawn == pytest.approx(share, abs=4 * sqrt(share * (1 - share) / 40_000))
    assert drawn != _graph.four_cycles(one, 40_000, 4)


def test_a_star_has_no_path_and_no_coefficient():
    assert np.isnan(_graph.four_cycles(graph([(0, "a"), (1, "a")]), 10, 0))


def test_components_and_hops_by_hand():
    two = graph([*CHAIN, (7, "z")])
    assert _graph.component_sizes(two).tolist() == [4, 2]
    counts, drawn = _graph.hop_counts(graph(CHAIN), 64, 0)
    assert drawn == 4
    assert counts.tolist() == [4, 6, 4, 2]
    # Shares 1/2, 5/6, 1 within one, two, three hops: 0.9 lies at 2 + (0.9 - 5/6) / (1/6).
    assert _graph.effective_diameter(counts) == pytest.approx(2.4)


def test_hops_against_powers_of_the_matrix(monkeypatch):
    monkeypatch.setattr(_graph, "_BLOCK", 7)  # blocks of rows end inside the graph
    one = _graph.Bipartite(world(3, n=45, n_users=30, n_items=30))
    B = one.by_user.toarray()
    square = np.block([[np.zeros((len(B),) * 2), B], [B.T, np.zeros((B.shape[1],) * 2)]])
    reached, wanted = np.eye(len(square)) > 0, [len(square)]
    while True:
        more = reached | (reached @ square > 0)
        if (more == reached).all():
            break
        wanted.append(int((more & ~reached).sum()))
        reached = more
    counts, drawn = _graph.hop_counts(one, 64, 0)
    assert drawn == len(square) <= 64
    assert counts.tolist() == wanted


def test_singular_values_of_complete_graphs_and_of_both_methods(monkeypatch):
    found = _graph.singular_values(graph([*SQUARE, (2, "a"), (2, "b")]), 4, 0)
    np.testing.assert_allclose(found, [1, 0, 0, 0], atol=1e-6)
    one = _graph.Bipartite(world(5, n=900, n_users=90, n_items=80))
    B = one.by_user.toarray().astype(float)
    wanted = np.linalg.svd(B, compute_uv=False)[:5] / np.linalg.norm(B)
    np.testing.assert_allclose(_graph.singular_values(one, 5, 0), wanted, rtol=1e-4)
    monkeypatch.setattr(_graph, "_DENSE", 100)
    np.testing.assert_allclose(_graph.singular_values(one, 5, 0), wanted, rtol=1e-6)


def test_distributions_by_hand():
    assert gini(np.array([5, 5, 5])) == pytest.approx(0)
    assert gini(np.array([3, 1])) == pytest.approx(1 / 4)
    assert evenness(np.array([2, 2, 2])) == pytest.approx(1)
    assert evenness(np.array([3, 1])) == pytest.approx((0.75 * log(4 / 3) + 0.25 * log(4)) / log(2))
    assert np.isnan(evenness(np.array([3])))
    tenth = np.array([1] * 89 + [4] * 11)
    assert tail_exponent(tenth) == pytest.approx(1 + 1 / log(4 / 3.5))
    assert np.isnan(tail_exponent(tenth[-9:]))
    assert quantiles(np.arange(1, 101)).tolist() == [1, 10, 25, 50, 75, 90, 99, 100]
    assert jensen_shannon(np.array([1, 0]), np.array([0, 5])) == pytest.approx(1)
    assert jensen_shannon(np.array([1, 2]), np.array([2, 4])) == pytest.approx(0, abs=1e-12)
    wanted = 0.75 * log(4 / 3, 2) + 0.25 * 2 - 0.5
    assert jensen_shannon(np.array([4]), np.array([1, 1])) == pytest.approx(wanted)


def test_order_of_rows_and_unused_ids_change_nothing():
    train = world(1)
    wanted = Features().of(train)
    np.testing.assert_equal(Features().of(shuffled(train)), wanted)
    part = train.take(train.users < 20)
    compact = Features().of(part.compact())
    assert Features().of(part) == pytest.approx(compact, rel=1e-12, nan_ok=True)


def test_names_change_nothing_but_draws():
    train = world(4, n=150, n_users=30, n_items=25)
    order = np.random.default_rng(0).permutation(100)
    names = order[train.user_ids], order[train.item_ids]
    renamed = rows(*names, train.times, train.values)
    found, wanted = Features().of(renamed), Features().of(train)
    for name in set(wanted) - {"times.drift_items", "times.drift_users"}:
        assert found[name] == pytest.approx(wanted[name], abs=1e-4, nan_ok=True), name


def test_what_a_log_lacks_is_missing_and_not_zero():
    bare = Features().of(rows([0, 0, 1], ["a", "b", "a"]))
    for part in ("times", "values"):
        assert bare[f"{part}.known"] == 0
        others = [
            v for name, v in bare.items() if name.startswith(f"{part}.") and "known" not in name
        ]
        assert len(others) >= 5
        assert np.isnan(others).all()
    order = world(1)
    object.__setattr__(order, "time_unit", "order")
    assert np.isnan(Features().of(order)["times.log_days"])
    flat = Features().of(rows([0, 0, 1], ["a", "b", "a"], values=[3, 3, 3]))
    assert (flat["values.mean"], flat["values.std"]) == (3, 0)
    assert np.isnan(flat["values.skewness"])


def test_times_and_values_by_hand():
    day = 86_400
    found = Features().of(
        rows([0, 1, 0, 2], ["a", "a", "b", "c"], [0, day, 3 * day, 7 * day], [1, 1, 3, 3])
    )
    assert found["times.log_days"] == pytest.approx(log(8))
    assert found["times.new_items"] == 1  # b and c in the later half
    assert found["times.new_users"] == 1 / 2
    assert found["values.mean"] == 2
    assert found["values.kurtosis"] == pytest.approx(-2)
    assert found["values.between_items"] == pytest.approx(1)
    assert found["values.between_users"] == pytest.approx(1 / 2)
    assert found["size.repeats"] == 0
    assert Features().of(rows([0, 0], ["a", "a"]))["size.repeats"] == 1 / 2


def test_drift_is_that_of_time_alone():
    rng = np.random.default_rng(0)
    n = 4000
    times = rng.permutation(n)
    users = rng.integers(0, 200, n)
    still = Features().of(rows(users, rng.integers(0, 50, n), times))
    moved = Features().of(rows(users, rng.integers(0, 50, n) + 40 * (times > n // 2), times))
    assert abs(still["times.drift_items"]) < 0.01
    assert moved["times.drift_items"] > 0.5


def test_a_sample_beside_its_rows():
    train = world(3)
    sample = subsample(train, "RandomUsers", 0.4, 1, floor=LOW)
    found = Features().of_sample(sample)
    alone = Features().of(sample.train)
    assert found["full.users.gini"] == Features().of(train)["users.gini"]
    assert found["sample.items.gini"] == alone["items.gini"]
    assert found["change.size.log_rows"] == pytest.approx(log(len(sample.rows) / len(train)))
    assert found["apart.users_lost"] == 1 - np.count_nonzero(
        sample.train.user_counts
    ) / np.count_nonzero(train.user_counts)
    assert 0 < found["apart.item_shares"] < found["apart.user_shares"] < 1
    assert set(apart(train, train).values()) == {0.0}
    with pytest.raises(DataError, match="drawn from, by codes"):
        apart(train, sample.train.compact())


def test_refusals():
    with pytest.raises(DataError, match="no rows to measure"):
        Features().of(world().take(np.zeros(600, bool)))
    with pytest.raises(SpecError, match="sources must be at most 64, got 65"):
        Features(sources=65)
