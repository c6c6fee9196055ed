"""Draws: stated probabilities, exclusion, parts of one sequence, the same for any batch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fullrank.core.errors import DataError, SpecError
from fullrank.core.queries import Queries
from fullrank.core.random import mix
from fullrank.core.vocabulary import Vocabulary
from fullrank.negatives import Given, Pool, Popularity, Uniform, Weighted

N_ITEMS, N_QUERIES = 30, 4000
HISTORY, TARGETS, OUTSIDE = [1, 2, 3], [7, 29], 5
WEIGHTS = np.arange(N_ITEMS, dtype=np.float64)
LEFT = np.setdiff1d(np.arange(N_ITEMS), [*HISTORY, *TARGETS, OUTSIDE])


def queries(n: int = N_QUERIES, **options) -> Queries:
    return Queries.from_lists(
        np.arange(n),
        [HISTORY] * n,
        [TARGETS] * n,
        user_vocab=Vocabulary(np.arange(n), "user"),
        item_vocab=Vocabulary(np.arange(N_ITEMS), "item"),
        **options,
    )


def pool(n: int = N_QUERIES, seed: int = 3, **options) -> Pool:
    catalogue = np.ones(N_ITEMS, bool)
    catalogue[OUTSIDE] = False
    return Pool.of(queries(n, **options), catalogue, seed)


def drawn(design, of: Pool, first: int = 0, last: int = 10) -> np.ndarray:
    n = len(of)
    _, items = design.draw(of, np.full(n, first), np.full(n, last))
    return items.reshape(n, last - first)


DESIGNS = {
    "uniform": Uniform(m=10),
    "uniform, repeated": Uniform(m=10, replacement=True),
    "weighted": Weighted(m=10, weights=WEIGHTS),
    "weighted, distinct": Weighted(m=10, weights=WEIGHTS, replacement=False),
}


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_history_targets_and_items_outside_the_catalogue_are_never_drawn(design):
    assert set(np.unique(drawn(design, pool()))) <= set(LEFT)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_first_draw_has_the_stated_probabilities(design):
    weights = np.ones(N_ITEMS) if design.scheme == "uniform" else WEIGHTS
    found = np.bincount(drawn(design, pool())[:, 0], minlength=N_ITEMS)[LEFT]
    expected = weights[LEFT] / weights[LEFT].sum() * N_QUERIES
    some = expected > 0
    assert found[~some].sum() == 0
    assert stats.chisquare(found[some], expected[some]).pvalue > 1e-4


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_second_draw_given_the_first_has_the_stated_probabilities(design):
    rows = drawn(design, pool(20_000))
    first = LEFT[-1]
    after = rows[rows[:, 0] == first, 1]
    weights = np.ones(N_ITEMS) if design.scheme == "uniform" else WEIGHTS.copy()
    if not design.replacement:
        weights[first] = 0.0
    share = weights[LEFT] / weights[LEFT].sum()
    some = share > 0
    found = np.bincount(after, minlength=N_ITEMS)[LEFT]
    assert found[~some].sum() == 0
    assert stats.chisquare(found[some], share[some] * len(after)).pvalue > 1e-4


@pytest.mark.parametrize("name", ["uniform", "weighted, distinct"])
def test_without_replacement_nothing_is_drawn_twice_and_the_whole_pool_can_be(name):
    design, of = DESIGNS[name], pool(200)
    most = int(design.limits(of)[0])
    expected = LEFT if design.scheme == "uniform" else LEFT[WEIGHTS[LEFT] > 0]
    assert most == len(expected)
    for row in drawn(design, of, 0, most):
        assert sorted(row) == expected.tolist()


def test_draws_are_the_order_of_fisher_and_yates_by_splitmix():
    """Another order would change the candidates of every run that was ever published."""
    of, golden = pool(50), 0x9E3779B97F4A7C15
    for key, row in zip(of.keys.tolist(), drawn(Uniform(m=10), of, 3, 20)):
        order = of.items.tolist()
        for j in range(len(order)):
            state = np.array([(key + j * golden) % 2**64], np.uint64)
            share = float(mix(state)[0] >> np.uint64(11)) * 2.0**-53
            other = j + min(int(share * (len(order) - j)), len(order) - j - 1)
            order[j], order[other] = order[other], order[j]
        assert row.tolist() == [item for item in order if item in LEFT][3:20]


def test_with_replacement_items_repeat():
    rows = drawn(DESIGNS["uniform, repeated"], pool())
    assert any(len(set(row)) < len(row) for row in rows.tolist())


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_a_part_of_a_sequence_is_the_same_in_any_batch(design):
    of = pool(1500)
    whole = drawn(design, of, 0, 12)
    some = np.array([3, 1400, 77])
    assert np.array_equal(drawn(design, of[some], 4, 12), whole[some, 4:])


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_equal_for_one_and_many_threads(design, monkeypatch):
    rows = []
    for threads in ("1", "3"):
        monkeypatch.setenv("FULLRANK_THREADS", threads)
        rows.append(drawn(design, pool(9000)))  # more than one chunk
    assert np.array_equal(*rows)


def test_draws_follow_the_outside_ids_and_the_seed():
    swapped = queries(50)[np.arange(49, -1, -1)]
    catalogue = np.ones(N_ITEMS, bool)
    catalogue[OUTSIDE] = False
    there = drawn(Uniform(m=10), Pool.of(swapped, catalogue, 3))
    here = drawn(Uniform(m=10), pool(50))
    assert np.array_equal(there[::-1], here)
    assert not np.array_equal(drawn(Uniform(m=10), pool(50, seed=4)), here)


def test_who_has_seen_everything_draws_nothing():
    q = Queries.from_lists(
        np.arange(2),
        [list(range(29)), [0]],
        [[29], [29]],
        user_vocab=Vocabulary(np.arange(2), "user"),
        item_vocab=Vocabulary(np.arange(N_ITEMS), "item"),
    )
    of = Pool.of(q, np.ones(N_ITEMS, bool), 0)
    assert of.sizes.tolist() == [0, 28]
    for design in DESIGNS.values():
        limits = design.limits(of)
        assert limits[0] == 0
        last = np.minimum(limits, 5)
        indptr, items = design.draw(of, np.zeros(2, np.int64), last)
        assert indptr.tolist() == [0, 0, 5]
        assert len(items) == 5


def test_a_kept_history_can_be_drawn():
    assert set(pool(1, repeats="keep").allowed(0)) == set(LEFT) | set(HISTORY)


def test_eligible_items_are_the_base():
    q = queries(3)
    own = (np.array([0, 4, 6, 9]), np.array([1, 4, 8, 9, 5, 10, 7, 11, 12], np.int32))
    catalogue = np.ones(N_ITEMS, bool)
    catalogue[OUTSIDE] = False
    of = Pool.of(q, catalogue, 0, own)
    assert [of.allowed(row).tolist() for row in range(3)] == [[4, 8, 9], [10], [11, 12]]
    _, items = Uniform(m=1).draw(of, np.zeros(3, np.int64), of.sizes)
    assert [sorted(part) for part in np.split(items, [3, 4])] == [[4, 8, 9], [10], [11, 12]]
    part = of[np.array([2, 0])]
    assert [part.allowed(row).tolist() for row in range(2)] == [[11, 12], [4, 8, 9]]


def test_popularity_takes_its_weights_from_the_counts():
    counts = np.arange(N_ITEMS)
    assert np.array_equal(Popularity().prepare(counts).weights, counts)
    assert np.array_equal(Popularity(exponent=0.5).prepare(counts).weights, counts**0.5)
    assert Popularity(exponent=-1.0).prepare(counts).weights[:3].tolist() == [1.0, 1.0, 0.5]


def test_given_lists_lose_history_targets_and_strangers():
    q = queries(2)
    ids = np.array([0, 0, 0, 0, 1, 9]), np.array([1, 7, 5, 4, 6, 8])
    lists = Given.of_ids(*ids, q.user_vocab, q.item_vocab)
    catalogue = np.ones(N_ITEMS, bool)
    catalogue[OUTSIDE] = False
    of = Pool.of(q, catalogue, 0, lists.own(q))
    assert [of.allowed(row).tolist() for row in range(2)] == [[4], [6]]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Uniform(m=0), "m must be a whole number"),
        (lambda: Uniform(m=2.5), "m must be a whole number"),
        (lambda: Weighted(weights=np.array([1.0, -1.0])), "got -1.0 for item code 1"),
        (lambda: Weighted(weights=np.array([1.0, np.nan])), "finite"),
        (lambda: Weighted(weights=np.zeros(3)), "all 0"),
        (lambda: Popularity(exponent=np.inf), "exponent must be finite"),
        (lambda: Weighted().draw(pool(2), np.zeros(2), np.ones(2)), "give weights="),
    ],
)
def test_settings_that_cannot_be_are_refused(make, says):
    with pytest.raises(SpecError, match=says):
        make()


def test_weights_and_lists_of_other_vocabularies_are_refused():
    with pytest.raises(DataError, match="3 weights were given for 30 items"):
        Weighted(weights=np.ones(3)).limits(pool(2))
    with pytest.raises(DataError, match="made for 2 users"):
        Given(indptr=np.array([0, 1, 2]), items=np.array([1, 2], np.int32)).own(queries(5))
    with pytest.raises(DataError, match="none of the 1 candidate pairs"):
        Given.of_ids(np.array([77]), np.array([1]), queries(2).user_vocab, queries(2).item_vocab)
