"""Ranking from factors against exact scores in whole numbers and a plain sort."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.rank import reference
from tests.rank.test_full import check_list

from fullrank.core.errors import ScoreError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.vocabulary import Vocabulary
from fullrank.models._base import Recommender
from fullrank.models._product import product
from fullrank.rank import _factors, rank
from fullrank.rank._factors import Layout, rounding_error
from fullrank.rank._job import entries_wanted


@dataclass(eq=False)
class Scored(Recommender):
    """Given factors, scored by their canonical product: the generic path."""

    thread_safe: ClassVar[bool] = True
    users: np.ndarray | None = None
    items: np.ndarray | None = None

    def _fit(self, train, rng, monitor):
        pass

    def _score(self, queries):
        return product(self.users[queries.users], self.items)


@dataclass(eq=False)
class Factored(Scored):
    """The same, which shows its factors: the fused path."""

    def _score(self, queries):
        raise AssertionError("the fused path asks for factors only")

    def item_factors(self):
        return self.items

    def query_factors(self, queries):
        return self.users[queries.users]


BOTH = {name: vars(Factored)[name] for name in ("item_factors", "query_factors")} | {
    "_score": Scored._score
}
"""Of a class that shows its factors and scores as well, for what can't be ranked by factors."""


def exact_scores(users, items):
    """Canonical scores by whole numbers of any size, one row at a time."""
    d = users.shape[1]
    bits = min(24, (53 - math.ceil(math.log2(d))) // 2)

    def whole(row):
        exponent = math.frexp(float(np.abs(row).max(initial=0.0)))[1]
        most = 2**bits - 1
        steps = [round(math.ldexp(float(x), bits - exponent)) for x in row]
        return [min(max(n, -most), most) for n in steps], exponent - bits

    left, right = [whole(u) for u in users], [whole(v) for v in items]
    out = np.empty((len(users), len(items)), dtype=np.float32)
    for i, (u, e) in enumerate(left):
        for j, (v, f) in enumerate(right):
            out[i, j] = math.ldexp(sum(a * b for a, b in zip(u, v)), e + f)
    return out


@st.composite
def worlds(draw):
    """Factors with ties, near ties, twins and zeros; histories, targets and a catalogue."""
    q, c, d = draw(st.integers(1, 7)), draw(st.integers(1, 120)), draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["normal", "whole", "near", "few", "zero", "skewed"]))
    users = rng.normal(size=(q, d))
    items = rng.normal(size=(c, d))
    if kind == "whole":
        users, items = rng.integers(-2, 3, (q, d)), rng.integers(-2, 3, (c, d))
    elif kind == "near":  # every item a rounding away from every other
        items = items[:1] * (1 + rng.integers(-3, 4, (c, d)) * 2.0**-22)
    elif kind == "few":
        items = items[rng.integers(0, min(3, c), c)]
    elif kind == "zero":
        users[rng.random(q) < 0.5] = 0.0
        items[rng.random(c) < 0.5] = 0.0
    elif kind == "skewed":
        items *= np.exp(rng.normal(0, 4, (c, 1)))
    role = rng.choice(3, (q, c), p=draw(st.sampled_from([(0.4, 0.3, 0.3), (0, 0.5, 0.5)])))
    histories = [np.flatnonzero(role[u] == 1).tolist() for u in range(q)]
    histories = [rng.permutation(h + h[:2]).tolist() for h in histories]
    targets = [np.flatnonzero(role[u] == 2).tolist() for u in range(q)]
    known = rng.random(c) < draw(st.sampled_from([1.0, 0.8]))
    known[0] = True
    return users.astype(np.float32), items.astype(np.float32), histories, targets, known


def fitted(kind, users, items, histories, targets, known, repeats="drop"):
    user_ids = Vocabulary.of(np.arange(len(users)), "user")
    item_ids = Vocabulary.of(np.arange(len(items)), "item")
    rows = np.flatnonzero(known).astype(np.int32)
    model = kind(users=users, items=items)
    model.fit(Interactions(np.zeros(len(rows), np.int32), rows, user_ids, item_ids))
    queries = Queries.from_lists(
        np.arange(len(users)),
        histories,
        targets,
        user_vocab=user_ids,
        item_vocab=item_ids,
        repeats=repeats,
    )
    return model, queries


def assert_same(first, second):
    for name in ("best", "worst", "n_candidates"):
        np.testing.assert_array_equal(
            getattr(first.targets, name), getattr(second.targets, name), name
        )
    if first.top is not None:
        np.testing.assert_array_equal(first.top.items, second.top.items)
        np.testing.assert_array_equal(first.top.scores, second.top.scores)


@given(
    worlds(),
    st.integers(0, 150),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 3, 256]),
    st.sampled_from([16, 48, 512]),
)
def test_fused_equals_plain_sort_of_exact_scores(case, k, threads, block, width):
    users, items, histories, targets, known = case
    model, queries = fitted(Factored, *case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_factors, "BLOCK", block)
        patch.setattr(_factors, "TILE", block * width)
        got = rank(model, queries, k=k, threads=threads)
    scores = exact_scores(users, items)
    for u in range(len(users)):
        part = got.targets[np.array([u])]
        pairs, n = reference.rank_row(scores[u], known, histories[u], targets[u])
        by_item = dict(zip(part.items.tolist(), zip(part.best.tolist(), part.worst.tolist())))
        assert by_item == dict(zip(targets[u], pairs))
        assert part.n_candidates[0] == n
        if k:
            check_list(got.top, u, scores[u], known, histories[u], min(k, int(known.sum())))
    plain, _ = fitted(Scored, *case)
    assert_same(got, rank(plain, queries, k=k, threads=threads))


def big(kind, q=40, c=3000, d=16, n_targets=8, seed=0, twins=1, order=None):
    rng = np.random.default_rng(seed)
    users = rng.normal(size=(q, d)).astype(np.float32)
    items = np.repeat(rng.normal(size=(c // twins, d)), twins, axis=0).astype(np.float32)
    if order == "best last":
        users[:] = users[0]
        items = items[np.argsort(items @ users[0], kind="stable")]
    c = len(items)
    picks = [rng.choice(c, n_targets + 30, replace=False) for _ in range(q)]
    return fitted(
        kind,
        users,
        items,
        [p[n_targets:].tolist() for p in picks],
        [p[:n_targets].tolist() for p in picks],
        np.ones(c, bool),
    )


@pytest.mark.parametrize("n_targets", [1, 4, 7, 127, 129, 1000])
@pytest.mark.parametrize("twins", [1, 2, 100, 3000])
def test_few_and_many_targets_with_twins(n_targets, twins):
    sizes = {"q": 6, "n_targets": n_targets, "twins": twins}
    fused, queries = big(Factored, **sizes)
    plain, _ = big(Scored, **sizes)
    assert_same(rank(fused, queries, k=20), rank(plain, queries, k=20))


@pytest.mark.parametrize("order", [None, "best last"])
@pytest.mark.parametrize("k", [1, 10, 100, 2500, 3000])
def test_long_lists(order, k):
    fused, queries = big(Factored, order=order)
    plain, _ = big(Scored, order=order)
    assert_same(rank(fused, queries, k=k), rank(plain, queries, k=k))


def test_a_guess_that_fails_is_made_good(monkeypatch):
    """A threshold that only half of the list can reach: each row is ranked again without it."""
    fused, queries = big(Factored, c=6000)
    want = rank(fused, queries, k=50)
    calls = []
    ranked = _factors.FactorBlocks._rank

    def counting(self, job, product, guess):
        calls.append((len(job.queries), guess))
        return ranked(self, job, product, guess)

    monkeypatch.setattr(_factors.FactorBlocks, "_rank", counting)
    monkeypatch.setattr(_factors, "entries_wanted", lambda k, share: max(1, int(k * share / 2)))
    assert_same(rank(fused, queries, k=50), want)
    assert (40, False) in calls


def test_users_without_factors():
    """All their scores are 0: one row for all of them, beside the product for the others."""
    fused, queries = big(Factored)
    plain, _ = big(Scored)
    for model in (fused, plain):
        model.users[::3] = 0.0
    assert_same(rank(fused, queries, k=50), rank(plain, queries, k=50))
    for model in (fused, plain):
        model.users[:] = 0.0
    assert_same(rank(fused, queries, k=50), rank(plain, queries, k=50))


def test_repeats_are_kept_unmasked():
    users = np.array([[1.0]], np.float32)
    items = np.array([[3.0], [2.0], [1.0]], np.float32)
    model, queries = fitted(Factored, users, items, [[0, 1]], [[1]], np.ones(3, bool), "keep")
    got = rank(model, queries, k=3)
    assert (got.targets.best[0], got.targets.n_candidates[0]) == (2, 3)
    assert got.top.items[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("where", ["users", "items"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_factors_that_are_not_finite(where, bad):
    model, queries = big(Scored, q=5, c=100, n_targets=3)
    model.__class__ = type("Broken", (Factored,), BOTH)
    getattr(model, where)[3, 2] = bad
    cause = rf"Broken.item_factors holds {bad} at \[3, 2\]: make factors finite"
    match = f"Broken scored .* user .*{cause if where == 'items' else 'check the model'}"
    with np.errstate(invalid="ignore"), pytest.raises(ScoreError, match=match):
        rank(model, queries, k=3)


def test_huge_factors_go_by_scores():
    model, queries = big(Scored, q=5, c=100, n_targets=3)
    model.users *= np.float32(1e19)
    model.items *= np.float32(1e18)
    want = rank(model, queries, k=3)
    model.__class__ = type("Huge", (Factored,), BOTH)
    assert_same(rank(model, queries, k=3), want)


def test_factors_of_another_shape_are_named():
    model, queries = big(Factored, q=5, c=100, n_targets=3)
    model.users = model.users[:, :5]
    with pytest.raises(ScoreError, match=r"query_factors gave float32 \(5, 5\), expected"):
        rank(model, queries)
    model.items = model.items[:50]
    with pytest.raises(ScoreError, match=r"item_factors gave float32 \(50, 16\), expected"):
        rank(model, queries)
    model.items = [[1.0]]
    with pytest.raises(ScoreError, match="item_factors gave a list, expected a float32 array"):
        rank(model, queries)
    alone = type("Alone", (Scored,), {"item_factors": lambda self: np.ones((100, 2), np.float32)})
    model.__class__ = alone
    with pytest.raises(ScoreError, match="Alone has item_factors and no query_factors"):
        rank(model, queries)


@given(st.integers(1, 5000), st.sampled_from([16, 48, 512]))
@example(20_000, 512)
def test_layout_holds_each_item_once(n, most):
    layout = Layout.of(n, most)
    assert layout.width % 16 == 0
    assert layout.width <= most
    filled = [layout.filled(i) for i in range(layout.n_tiles)]
    assert sum(filled) == n
    assert min(filled) >= 0
    assert max(filled) <= layout.width


@given(st.integers(0, 2**32), st.sampled_from([1, 3, 16, 64, 200]))
def test_rounding_error_bounds_what_float32_does(seed, d):
    rng = np.random.default_rng(seed)
    users = (rng.normal(size=(5, d)) * np.exp(rng.normal(0, 3, (5, 1)))).astype(np.float32)
    items = (rng.normal(size=(50, d)) * np.exp(rng.normal(0, 3, (50, 1)))).astype(np.float32)
    screened = users @ items.T
    lengths = np.linalg.norm(users.astype(np.float64), axis=1)
    largest = float(np.linalg.norm(items.astype(np.float64), axis=1).max())
    off = np.abs(screened.astype(np.float64) - product(users, items))
    # The grid moves scores too, by less than the bound of the sum itself.
    grid = np.sqrt(d) * 2.0**-22 * lengths * largest
    assert (off <= (rounding_error(d, lengths, largest) + grid)[:, None]).all()


@pytest.mark.parametrize(("k", "share"), [(100, 1.0), (100, 0.02), (1, 0.001), (3000, 0.5)])
def test_entries_wanted_are_the_least_that_are_safe(k, share):
    r = entries_wanted(k, share)
    assert r - 3.3 * math.sqrt(r) >= k * share > (r - 1) - 3.3 * math.sqrt(r - 1)
