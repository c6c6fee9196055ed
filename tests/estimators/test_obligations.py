"""What the specification asks to be shown and no other file does: paths, coverage, faults."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from replications.item_sampling.tables import errors
from scipy import stats
from tests.estimators.test_designs import drawn_places, world
from tests.estimators.worlds import as_ranks, full_ranks, law, sampled

from fullrank.core.errors import DataError, EstimateError, SpecError
from fullrank.core.queries import Queries
from fullrank.core.vocabulary import Vocabulary
from fullrank.estimators import (
    BV,
    MLE,
    Doubling,
    HorvitzThompson,
    Screened,
    Thinned,
    Unthinned,
    difference,
    estimate,
    read_ranks,
    simulate,
)
from fullrank.estimators._likelihood import log_pmf
from fullrank.models import PairFunction
from fullrank.negatives import Given, Popularity, Uniform, Weighted
from fullrank.rank import rank

N = 250


def step(hits: int, drawn: int, more: int, marked: int, replacement: bool) -> np.ndarray:
    """Probability of 0, 1, … further hits."""
    new = np.arange(more + 1)
    if replacement:
        return stats.binom.pmf(new, more, marked / (N - 1))
    return stats.hypergeom.pmf(new, N - 1 - drawn, marked - hits, more)


def endings(design, marked: int, replacement: bool) -> dict[tuple[int, int], float]:
    """Probability of each way that a design ends: candidates drawn, and hits among them."""
    pool, first = np.array([N - 1]), design.negatives.m
    going = {(first, h): p for h, p in enumerate(step(0, 0, first, marked, replacement))}
    out: dict[tuple[int, int], float] = {}
    for stage in range(1, 20):
        after: dict[tuple[int, int], float] = {}
        for (drawn, hits), p in going.items():
            if not p:
                continue
            on, off = (
                int(design.more(stage, np.array([drawn]), np.array([hits]), pool, np.array([c]))[0])
                for c in (0.0, 1.0)
            )
            keep = getattr(design, "keep", 1.0) if on != off else 1.0
            more = min(on, N - 1) - drawn
            stays = p if more <= 0 else (1 - keep) * p
            out[drawn, hits] = out.get((drawn, hits), 0.0) + stays
            for new, q in enumerate(
                step(hits, drawn, more, marked, replacement) if more > 0 else ()
            ):
                key = drawn + more, hits + new
                after[key] = after.get(key, 0.0) + keep * p * q
        going = after
        if not going:
            return out
    raise AssertionError("the design never ends")


@pytest.mark.parametrize(
    ("design", "replacement"),
    [
        (Doubling(first=6, n_max=96), False),
        (Doubling(first=6, n_max=96, replacement=True), True),
        (Screened(ceiling=0.5), False),
        (Thinned(), False),
        (Unthinned(), False),
    ],
    ids=str,
)
def test_why_a_design_stopped_says_nothing_of_the_rank(design, replacement):
    """The probability of an ending is the pmf of a fixed size times a factor free of the rank."""
    factors: dict[tuple[int, int], list[float]] = {}
    for marked in range(0, N, 7):
        found = endings(design, marked, replacement)
        assert sum(found.values()) == pytest.approx(1.0)
        for (drawn, hits), p in found.items():
            fixed = step(0, 0, drawn, marked, replacement)[hits]
            if p > 1e-12 and fixed > 1e-12:
                factors.setdefault((drawn, hits), []).append(p / fixed)
    assert len({drawn for drawn, _ in factors}) > 2
    several = [f for f in factors.values() if len(f) > 1]
    assert len(several) > 5
    for factor in several:
        assert factor == pytest.approx([factor[0]] * len(factor), rel=1e-8)


def test_adaptive_is_plain_em_when_nothing_doubles():
    places = full_ranks("pow.6", N, 600, np.random.default_rng(0))
    places = np.maximum(places, 200)  # nobody comes first among 30 then
    twin = [simulate(places, N, d, 3) for d in (Doubling(first=30, n_max=120), Uniform(m=29))]
    assert (twin[0].sample.sizes == 30).all()
    assert np.array_equal(twin[0].sample.ranks, twin[1].sample.ranks)
    metrics = ["recall@20", "ndcg", "mrr"]
    adaptive, fixed = (estimate(s, metrics, method="mle", resamples=20) for s in twin)
    assert [one.to_dict() for one in adaptive] == [one.to_dict() for one in fixed]
    # And by hand: pi <- pi * A (share / A' pi), over all ranks singly.
    hits = np.arange(30)
    a = stats.hypergeom.pmf(hits, N - 1, np.arange(N)[:, None], 29)
    share = np.bincount(twin[0].sample.ranks, minlength=31)[1:] / 600
    pi = np.full(N, 1 / N)
    for _ in range(MLE().steps):
        pi = pi * (a @ np.divide(share, pi @ a, out=np.zeros(30), where=share > 0))
    assert adaptive[2].value == pytest.approx(pi @ (1 / np.arange(1, N + 1)), rel=1e-3)


def test_with_keep_1_every_target_of_rank_one_is_resolved_as_in_unthinned():
    places = drawn_places()
    for_all = [rank(*world(places), candidates=d).targets.sample
               for d in (Thinned(keep=1.0), Unthinned())]  # fmt: skip
    whole = for_all[0].sizes == for_all[0].catalog_sizes
    assert whole[places == 1].all()
    for name in ("ranks", "sizes"):
        assert np.array_equal(*(getattr(s, name) for s in for_all))


def test_intervals_of_the_default_cover():
    """Nominal 95 %: of 40 samples at least 34, for these users and for the population."""
    n, p = 1500, law("sharp", 1500)
    b = (np.arange(1, n + 1) <= 10) / np.log2(np.arange(2, n + 2))
    these = population = 0
    for seed in range(40):
        places = full_ranks("sharp", n, 1200, np.random.default_rng(seed))
        found = estimate(simulate(places, n, Thinned(), seed), "ndcg@10", rng=seed)[0]
        these += found.these_users.low <= b[places - 1].mean() <= found.these_users.high
        population += found.estimate.low <= p @ b <= found.estimate.high
    assert these >= 34
    assert population >= 34


def test_intervals_of_a_fixed_table_cover_its_expectation():
    """Bias is outside them: they are of what the table tends to, not of the truth."""
    n, size, m, p = 400, 20, 300, law("sharp", 400)
    a = stats.binom.pmf(np.arange(size), size - 1, np.arange(n)[:, None] / (n - 1))
    covered, bias = 0, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        r = sampled(full_ranks("sharp", n, m, rng), n, size, rng, replacement=True)
        ranks = as_ranks(r, size, n, replacement=True)
        one = estimate(ranks, "recall@10", method=BV(gamma=0.1, prior="uniform"))[0].estimate
        if not seed:
            x = table_of(n, size)
            expected = p @ a @ x
        covered += one.low <= expected <= one.high
        bias.append(one.value - expected)
    assert 180 <= covered <= 199
    assert abs(np.mean(bias)) < 4 * np.std(bias) / np.sqrt(200)
    assert abs(expected - p[:10].sum()) > 0.02


def table_of(n: int, size: int) -> np.ndarray:
    """BV(0.1) for Recall@10 under a uniform prior, by its formula."""
    a = stats.binom.pmf(np.arange(size), size - 1, np.arange(n)[:, None] / (n - 1))
    b, p = (np.arange(1, n + 1) <= 10) * 1.0, np.full(n, 1 / n)
    d = a * p[:, None]
    return np.linalg.solve(0.9 * a.T @ d + 0.1 * np.diag(d.sum(axis=0)), d.T @ b)


def test_errors_where_the_truth_is_zero_count_as_zero():
    """The study's error: cut-offs that nobody reaches are no infinite errors, nor left out."""
    true = np.concatenate([np.zeros(10), np.full(40, 0.5)])
    values = np.stack([np.full(50, 0.6), true])
    assert errors(values, true) == pytest.approx(np.array([[100 * 0.2 * 40 / 50], [0.0]]))


def flat(users, items):
    """D02: every pair scores the same."""
    return np.zeros(len(users))


def shuffled(users, items):
    """D07: a scorer without any knowledge."""
    return np.random.default_rng(0).random(len(users))


def one_target(n: int, items: int, history: list[int], target: int) -> Queries:
    users, known = Vocabulary(np.arange(n), "user"), Vocabulary(np.arange(items), "item")
    return Queries.from_lists(
        np.arange(n), [history] * n, [[target]] * n, user_vocab=users, item_vocab=known
    )


def fitted(function, queries: Queries) -> PairFunction:
    model = PairFunction(function)
    model.user_vocab_, model.item_vocab_ = queries.user_vocab, queries.item_vocab
    model.known_users_ = np.ones(len(queries.user_vocab), bool)
    model.known_items_ = np.ones(len(queries.item_vocab), bool)
    model.item_counts_ = np.ones(len(queries.item_vocab), np.int64)
    return model


@pytest.mark.parametrize("target", [1, 59])
def test_d02_a_constant_model_is_estimated_as_chance(target):
    """Wherever the target stands among the items."""
    queries = one_target(2000, 60, [0], target)
    sampled_ranks = rank(fitted(flat, queries), queries, candidates=Uniform(m=19)).targets
    found = estimate(sampled_ranks, "recall@10")[0]
    assert found.these_users.low <= 10 / 59 <= found.these_users.high
    assert found.raw == pytest.approx(0.5, abs=0.05)


def test_d07_candidates_are_the_four_that_qualify():
    """Eight items, three in the history, one target: 4 asked for are all; of 10 there are 4."""
    queries = one_target(500, 8, [0, 1, 2], 3)
    seen: list[set[int]] = []

    def spy(users, items):
        seen.append(set(np.unique(items).tolist()))
        return np.zeros(len(users))

    for seed in range(20):
        for m in (4, 10):
            seen.clear()
            model = fitted(spy, queries)
            found = rank(model, queries[:1], candidates=Uniform(m=m), seed=seed).targets
            assert set.union(*seen) == {3, 4, 5, 6, 7}
            assert found.sample.sizes.tolist() == [5]
            assert found.sample.catalog_sizes.tolist() == [5]
    found = rank(fitted(shuffled, queries), queries, candidates=Uniform(m=4)).targets
    share = (found.sample.ranks == 1).mean()
    assert abs(share - 0.2) < 4 * np.sqrt(0.16 / 500)


def test_d05_targets_without_a_rank_stay_in_the_mean():
    frame = pl.DataFrame({"rank": [1, 2, None, None] * 100})
    found = estimate(read_ranks(frame, sample_size=50, catalog_size=50, replacement=False),
                     "recall@10")[0]  # fmt: skip
    assert found.raw == pytest.approx(0.5)
    assert found.value == pytest.approx(0.5, abs=1e-6)
    assert found.estimate.n_queries == 400


def test_d10_no_difference_and_no_certainty_from_one_user():
    rng = np.random.default_rng(0)
    mine = as_ranks(sampled(full_ranks("sharp", N, 300, rng), N, 40, rng), 40, N)
    same = difference(mine, mine, "ndcg@10", method="mle", resamples=20)[0]
    assert (same.difference.value, same.difference.low, same.difference.high) == (0.0, 0.0, 0.0)
    assert same.p_value == 1.0
    for ranks in ([[1], [3]], [[1] * 50, [3] * 50]):  # one user; users who all agree
        two = [as_ranks(r, 40, N) for r in ranks]
        found = difference(*two, "ndcg@10", method="mle", resamples=20)[0]
        assert found.difference.value < -0.1
        assert np.isnan([found.difference.low, found.difference.high, found.p_value]).all()
    with pytest.raises(SpecError, match="resamples must be a whole number of at least 2"):
        difference(mine, mine, "ndcg@10", resamples=1)


@pytest.mark.parametrize("method", ["sh", "mle", "bv", "rankestimate", "raw"])
def test_one_user_shows_no_spread_between_users(method):
    found = estimate(as_ranks([2], 40, N), "ndcg@10", method=method)[0]
    assert np.isnan([found.estimate.low, found.estimate.high, found.estimate.se]).all()
    assert found.value >= 0
    assert np.isfinite(found.these_users.high) == (method == "sh")


def test_samples_of_a_fixed_size_are_no_screened_ones():
    with pytest.raises(EstimateError, match="3 targets came first in their sample and were not"):
        estimate(as_ranks([1, 1, 1, 7], 100, N), "recall@5", method=HorvitzThompson())


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"rank": [1.0, 2.5]}, "rank is 2.5 in row 2; ranks are whole numbers from 1"),
        ({"rank": [1, -2]}, "rank is -2 in row 2"),
        ({"rank": [0, 2]}, "rank is 0 in row 1"),
        ({"rank": [1.0, float("nan")]}, "rank is nan in row 2"),
        ({"rank": [True, False]}, "rank must hold whole numbers, got Boolean"),
        ({"rank": [[1], [2]]}, "rank must hold whole numbers, got List"),
        ({"rank": ["1", "two"]}, "rank is 'two' in row 2"),
        ({"rank": [1, 2**40]}, "rank is 1099511627776 in row 2"),
        ({"rank": []}, "has columns but no rows"),
        ({"best": [1], "worst": [3]}, "ties are left open"),
        ({"place": [1]}, "expected a column 'rank'"),
        ({"rank": [1], "user_id": [1.5]}, "user_id must hold integers or text, got Float64"),
        ({"rank": [1], "user_id": [True]}, "user_id must hold integers or text, got Boolean"),
        ({"rank": [1], "user_id": [{"a": 1}]}, "user_id must hold integers or text, got Struct"),
        ({"rank": [1, 2], "user_id": ["a", ""]}, "user_id is empty in row 2"),
        ({"rank": [1], "user_id": pl.Series([2**80], dtype=pl.Int128)}, "beyond 64 bits"),
        ({"rank": [1], "others": [2**31 - 2]}, "add up to 2,147,483,647 in row 1"),
    ],
    ids=str,
)
def test_frames_that_hold_no_sampled_ranks_are_refused(columns, says):
    with pytest.raises(Exception, match=says) as error:
        read_ranks(pl.DataFrame(columns), sample_size=40, catalog_size=N, replacement=False)
    assert type(error.value).__name__ in ("DataError", "EstimateError", "IdTypeError")


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt64, pl.Int8])
def test_integers_of_any_width_are_ids(kind):
    frame = pl.DataFrame({"rank": [1, 2], "user_id": pl.Series([3, 1], dtype=kind)})
    found = read_ranks(frame, sample_size=40, catalog_size=N, replacement=False)
    assert found.user_vocab.ids.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("grades", "says"),
    [
        (pl.Series([date(2020, 1, 1)] * 2), "'g' is a column of Date"),
        (pl.Series(["1", "2"], dtype=pl.Categorical), "'g' is a column of Categorical"),
        (pl.Series([[1], [2]]), "'g' is a column of List"),
    ],
)
def test_grades_that_are_no_numbers_are_refused(grades, says):
    frame = pl.DataFrame({"rank": [1, 2], "g": grades})
    with pytest.raises(DataError, match=says):
        read_ranks(frame, sample_size=40, catalog_size=N, replacement=False, grade="g")


@pytest.mark.parametrize(("n", "replacement"), [(3, False), (4, False), (2, True), (3, True)])
def test_catalogues_of_a_few_items_are_estimated(n, replacement):
    ranks = as_ranks([1, 2] * 150, 2, n, replacement=replacement)
    one = estimate(ranks, "ndcg@10", draws=50)[0]
    assert 0 <= one.estimate.low <= one.value <= one.estimate.high <= 1


def test_catalogues_of_two_thousand_million_items_need_no_table_of_them():
    ranks = as_ranks([1, 2, 7, 30] * 50, 100, 2**31 - 2)
    found = estimate(ranks, ["ndcg@10", "auc"], draws=50, resamples=20)
    assert found[1].value == pytest.approx(1 - 9 / 99, abs=0.02)
    assert log_pmf(np.array(3), np.array(100), np.array(2**31 - 2), np.array([2**24]),
                   replacement=False) == pytest.approx(
        stats.binom.logpmf(2, 99, 2**24 / 2**31), abs=1e-3)  # fmt: skip


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Uniform(m=10**30), "m must be a whole number"),
        (lambda: Weighted(weights=np.ones((3, 2))), r"of shape \(3, 2\)"),
        (lambda: Weighted(weights="abc"), "an array of numbers"),
        (lambda: Weighted(weights=np.full(9, 1e308)), "no finite sum"),
        (lambda: Popularity(exponent="a"), "exponent must be finite, got 'a'"),
        (lambda: Popularity(exponent=1e9).prepare(np.array([1, 5])), "no finite sum"),
        (lambda: Thinned(keep="a"), "keep must be a probability above 0, got 'a'"),
        (lambda: Screened(ceiling=None), "ceiling must be a share of the catalogue.* got None"),
        (lambda: Doubling(n_max=10**30), "n_max must be a whole number"),
        (lambda: HorvitzThompson(design=Uniform(m=3)), r"design must be a ScreenedExact"),
        (lambda: Given(items=np.array([-1]), indptr=np.array([0, 1])), "the lowest -1"),
        (lambda: Given(items=np.array([1]), indptr=np.array([0, 3])), "end at 1"),
        (lambda: simulate(np.array([0, 3]), 9, Uniform(m=3)), "target 1 of 2 has the rank 0"),
        (lambda: simulate(np.array([1, 30]), 9, Uniform(m=3)), "rank 30 in a catalogue of 9"),
        (lambda: simulate(np.array([1.5]), 9, Uniform(m=3)), "ranks must be whole numbers"),
    ],
)
def test_settings_that_can_not_be_are_named(make, says):
    with pytest.raises(SpecError, match=says):
        make()


def test_lists_of_unlike_lengths_and_unknown_codes_are_refused():
    queries = one_target(3, 8, [0], 1)
    with pytest.raises(DataError, match="2 user_ids and 1 item_ids"):
        Given.of_ids(np.array([1, 2]), np.array([3]), queries.user_vocab, queries.item_vocab)
    far = Given(indptr=np.arange(4), items=np.array([2, 3, 10**6]))
    with pytest.raises(DataError, match="hold the item code 1,000,000, and there are 8 items"):
        rank(fitted(flat, queries), queries, candidates=far)


@pytest.mark.parametrize("seed", [1.5, "a", None, -1, True])
def test_seeds_that_are_none_are_refused(seed):
    queries = one_target(3, 8, [0], 1)
    for candidates in (Uniform(m=3), "full"):
        with pytest.raises(SpecError, match="seed must be a whole number of 0 or more"):
            rank(fitted(flat, queries), queries, candidates=candidates, seed=seed)
    with pytest.raises(SpecError, match="candidates must be 'full' or a design"):
        rank(fitted(flat, queries), queries, candidates=np.arange(3))
