"""Psi by hand: oracles of the paper, SciPy's taus, the null of permuted labels, missing terms."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import kendalltau, norm, t, ttest_1samp, weightedtau

from fullrank.core.errors import SpecError
from fullrank.subsample.psi import (
    Missing,
    Place,
    Repeat,
    Scores,
    Terms,
    agreement,
    compare_samplers,
    make_term,
    pair_shares,
    psi_null,
    standings,
)

SIZES = (0.8, 0.6, 0.4, 0.2, 0.1, 0.01)
RANKED = ("auc", "recall@100", "ndcg@10")
SCENARIOS = {"explicit": (3, ("mse",)), "implicit": (5, RANKED), "sequential": (7, RANKED)}
PLACES = tuple(
    Place(scenario, metric, keep)
    for scenario, (_, metrics) in SCENARIOS.items()
    for metric, keep in product(metrics, SIZES)
)
ONE = (Repeat(1, 1, 1),)


def scores(place, seed=0):
    n = SCENARIOS[place.scenario][0]
    return np.random.default_rng([seed, *map(ord, place.metric)]).permutation(n) + 1.0


def term(sampler, place, of, repeat=ONE[0], **more):
    """A term whose sample scores are a function of the full ones."""
    full = scores(place)
    return make_term(
        sampler,
        place,
        repeat,
        tuple("abcdefg"[: len(full)]),
        Scores(full),
        Scores(of(full)),
        **more,
    )


def grid(samplers, repeats=ONE, places=PLACES):
    """Terms by a function of the full scores, a sampler."""
    found = [term(name, place, of, r)
             for name, of in samplers.items() for place in places for r in repeats]  # fmt: skip
    terms = tuple(t for t in found if not isinstance(t, Missing))
    missing = tuple(t for t in found if isinstance(t, Missing))
    return Terms(tuple(samplers), places, repeats, terms, missing)


def test_the_full_set_has_1_reversed_rankings_have_minus_1_and_lambda_is_42():
    terms = grid({"all": lambda x: 2 * x, "reversed": lambda x: -x})
    same, other = standings(terms)
    assert (len(terms.common), same.own_terms) == (42, 42)
    assert same.psi["tau"].value == 1.0
    assert same.psi["weighted_tau"].value == same.psi["top1"].value == 1.0
    assert other.psi["tau"].value == -1.0
    assert other.psi["weighted_tau"].value == pytest.approx(-1.0)
    assert other.psi["top1"].value == 0.0
    assert (same.balanced, other.balanced, other.own, other.warm) == (1.0, -1.0, -1.0, -1.0)
    assert [len(p.by_size) for p in (same, other)] == [6, 6]
    assert set(other.by_scenario) == set(SCENARIOS)
    assert {v.value for v in other.by_metric.values()} == {-1.0}


@pytest.mark.parametrize(("n", "values"), [(3, 4), (5, 11), (7, 22)])
def test_values_that_tau_can_have(n, values):
    orders = np.array(list(permutations(range(n))), dtype=np.float64)
    tau = agreement(orders[0], orders)["tau"]
    assert len(np.unique(tau.round(9))) == values
    assert tau.mean() == pytest.approx(0.0, abs=1e-12)
    assert tau.std() == pytest.approx(np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))))


def test_taus_are_those_of_scipy_with_ties():
    rng = np.random.default_rng(4)
    a, b = (rng.integers(0, 5, (60, 7)).astype(float) for _ in range(2))
    found = agreement(a, b)
    for j in range(len(a)):
        assert found["tau"][j] == pytest.approx(kendalltau(a[j], b[j]).statistic)
        assert found["weighted_tau"][j] == pytest.approx(weightedtau(a[j], b[j]).statistic)


@pytest.mark.parametrize(
    ("full", "sample", "top1", "top3"),
    [
        ([4, 3, 2, 1], [4, 3, 2, 1], 1, 1),
        ([4, 4, 2, 1], [5, 1, 3, 2], 1, 2 / 3),  # either of the tied winners is one
        ([4, 4, 2, 1], [5, 5, 3, 2], 1, 1),
        ([4, 3, 2, 1], [5, 5, 1, 2], 1 / 2, 2 / 3),  # the sample's winner is drawn
        ([4, 3, 2, 1], [1, 5, 5, 5], 0, 2 / 3),
        ([4, 3, 2, 1], [7, 7, 7, 7], 1 / 4, 3 / 4),
    ],
)
def test_top_places_with_ties(full, sample, top1, top3):
    found = agreement(np.array(full, float), np.array(sample, float))
    assert found["top1"] == pytest.approx(top1)
    assert found["top3"] == pytest.approx(top3)


def test_missing_terms_leave_all_samplers_and_are_told():
    def ties_all_for_two(x):
        return x if len(x) != 5 else np.zeros(5)

    terms = grid({"a": lambda x: x, "b": ties_all_for_two})
    assert len(terms.common) == 42 - 18
    a, b = standings(terms)
    assert (a.own_terms, b.own_terms, len(terms.missing)) == (42, 24, 18)
    assert {(m.sampler, m.reason) for m in terms.missing} == {
        ("b", "all algorithms tie on the sample")
    }
    assert set(a.by_scenario) == set(b.by_scenario) == {"explicit", "sequential"}
    lost = term("c", PLACES[0], lambda x: np.array([1.0, np.nan, 2.0]))
    assert lost.to_dict()["reason"] == "b has no value on the sample"
    none = Terms(("a", "c"), PLACES, ONE, terms.terms)
    assert none.common == ()
    assert standings(none)[0].psi["tau"].value is None
    assert compare_samplers(none) == ()


def test_a_term_of_one_repeat_alone_does_not_count():
    repeats = (Repeat(1, 1, 1), Repeat(2, 1, 1))
    terms = grid({"a": lambda x: x}, repeats)
    short = Terms(("a",), PLACES, repeats, terms.terms[1:])
    assert len(short.common) == 41


def test_null_is_exact_centred_and_symmetric():
    place = PLACES[6]  # five algorithms
    (one,) = grid({"s": lambda x: x}, places=(place,)).terms
    null = psi_null([one])
    assert (null.exact, null.relabellings) == (True, 120)
    assert null.p_value == pytest.approx(1 / 120)
    assert null.mean == pytest.approx(0.0, abs=1e-12)
    assert null.sd == pytest.approx(np.sqrt(2 * 15 / (9 * 20)))
    lowest = psi_null([term("s", place, lambda x: -x)])
    assert lowest.p_value == 1.0
    for swap in (0, 1, 2, 3):  # the share at or above x is the share at or below -x
        up, down = (psi_null([term("s", place, signed(swap, sign))]) for sign in (1, -1))
        at = psi_share(place, signed(swap, 1))
        assert up.p_value + down.p_value == pytest.approx(1 + at)


def signed(swap, sign):
    """Scores in their order but for two neighbours, or all reversed."""

    def of(x):
        order = np.arange(5)
        order[[swap, swap + 1]] = order[[swap + 1, swap]]
        return sign * np.argsort(np.argsort(x))[order]

    return of


def psi_share(place, of):
    """Share of relabellings with just the tau of the scores themselves, by brute force."""
    full, sample = scores(place), of(scores(place)).astype(float)
    all_taus = agreement(full, np.array(list(permutations(sample))))["tau"]
    return np.mean(np.isclose(all_taus, agreement(full, sample)["tau"]))


def test_null_of_several_scenarios_against_brute_force():
    places = (PLACES[0], PLACES[6], PLACES[12])  # of three, five and five algorithms
    terms = list(grid({"s": lambda x: np.roll(x, 1)}, places=places).terms)
    null = psi_null(terms)
    assert null.relabellings == 6 * 120
    three, five = (np.array(list(permutations(range(n)))) for n in (3, 5))
    taus = [agreement(scores(p), np.roll(scores(p), 1)[orders])["tau"]
            for p, orders in zip(places, (three, five, five), strict=True)]  # fmt: skip
    sums = np.add.outer(taus[0], taus[1] + taus[2]).ravel() / 3
    observed = sums[0]
    assert null.sd == pytest.approx(np.std(sums))
    assert null.p_value == pytest.approx(np.mean(sums >= observed - 1e-9))


def test_null_of_many_algorithms_is_drawn_by_its_seed():
    full = np.arange(12.0)
    one = make_term("s", PLACES[0], ONE[0], tuple("abcdefghijkl"), Scores(full), Scores(full))
    first, again, other = (psi_null([one], seed, draws=2_000) for seed in (1, 1, 2))
    assert first == again != other
    assert not first.exact
    assert first.p_value == pytest.approx(1 / 2001)
    assert first.sd == pytest.approx(np.sqrt(2 * 29 / (9 * 12 * 11)), rel=0.1)
    with pytest.raises(SpecError, match="at least 100 draws"):
        psi_null([one], draws=9)


def noisy(seed, n=4, users=80, spread=0.3):
    """Scores of users whose algorithms differ by 1, 2, … and their resampled means."""
    rng = np.random.default_rng(seed)
    values = np.arange(n) * 0.2 + spread * rng.standard_normal((users, n))
    weights = np.random.default_rng(9).poisson(1, (400, users)).astype(float)
    return Scores(values.mean(0), weights @ values / weights.sum(1, keepdims=True))


def test_resampled_users_give_intervals_and_overlap_makes_ties():
    models, place = tuple("abcd"), PLACES[6]
    near, wide = noisy(1), noisy(2, spread=0.8)
    exact = make_term("s", place, ONE[0], models, near, wide)
    tied = make_term("s", place, ONE[0], models, near, wide, ties="intervals")
    assert np.count_nonzero(tied.sample == 0) > np.count_nonzero(exact.sample == 0) == 0
    assert np.all((tied.sample == 0) | (tied.sample == exact.sample))
    terms = Terms(("s",), (place,), ONE, (exact,))
    value = terms.value("s", "tau")
    assert 0 < value.low < value.value == value.high == 1.0
    assert value.low_repeats is None
    none = make_term("s", place, ONE[0], models, near, noisy(2, spread=50), ties="intervals")
    assert none.reason == "all algorithms tie on the sample"


def test_repeats_give_intervals_and_the_outermost_seed_is_the_unit():
    repeats = tuple(Repeat(s, d, 1) for s in (1, 2, 3) for d in (1, 2))

    def swapped(x, repeat):
        order = np.argsort(np.argsort(x))
        order[:2] = order[:2][::-1] if repeat.split == 2 else order[:2]
        return order + 0.0

    found = tuple(
        term(name, place, of, r)
        for place in PLACES for r in repeats
        for name, of in (("a", lambda x, r=r: swapped(x, r)), ("b", lambda x: -x))
    )  # fmt: skip
    terms = Terms(("a", "b"), PLACES, repeats, found)
    assert (terms.unit, terms.units) == ("split", 3)
    value = terms.value("a", "tau")
    assert value.low_repeats < value.value < value.high_repeats
    half = t.ppf(0.975, 2) * terms.by_unit("a", "tau").std(ddof=1) / np.sqrt(3)
    assert value.low_repeats == pytest.approx(value.value - half)
    assert value.value + half > 1 == value.high_repeats  # cut off: no tau is larger
    assert terms.value("a", "top1").low_repeats >= 0
    assert value.low is None  # no values of users
    (gap,) = compare_samplers(terms)
    assert gap.test == "paired t over 3 splits"
    assert gap.difference == pytest.approx(value.value + 1)
    units = terms.by_unit("a", "tau") + 1
    assert gap.p_value == gap.adjusted == pytest.approx(ttest_1samp(units, 0).pvalue)
    ends = ttest_1samp(units, 0).confidence_interval(0.95)
    assert (gap.low, gap.high) == pytest.approx(tuple(ends))


def test_comparisons_by_user_are_corrected_by_holm():
    models, place = tuple("abcd"), PLACES[6]
    full = noisy(1)
    samples = {"good": noisy(3), "same": noisy(3), "bad": Scores(-full.values, -full.drawn)}
    terms = Terms(
        tuple(samples), (place,), ONE,
        tuple(make_term(n, place, ONE[0], models, full, s) for n, s in samples.items()),
    )  # fmt: skip
    found = {(c.first, c.second): c for c in compare_samplers(terms)}
    same, bad = found["good", "same"], found["good", "bad"]
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert bad.low > 0
    assert bad.p_value == pytest.approx(2 / 401)
    assert bad.adjusted == pytest.approx(3 * 2 / 401)
    against = compare_samplers(terms, baseline="same")
    assert [(c.first, c.second) for c in against] == [("good", "same"), ("bad", "same")]
    with pytest.raises(SpecError, match="did you mean 'good'"):
        compare_samplers(terms, baseline="godo")


def test_draws_of_one_split_add_their_variance_to_that_of_users():
    models, place = tuple("abcd"), PLACES[6]
    repeats = tuple(Repeat(1, d, 1) for d in (1, 2, 3))
    full, bad = noisy(1), noisy(5, spread=1.5)
    terms = Terms(("a", "b"), (place,), repeats, tuple(
        make_term(name, place, r, models, full, sample)
        for name, sample in (("a", full), ("b", bad)) for r in repeats))  # fmt: skip
    (same,) = compare_samplers(terms)  # draws that come out alike leave the users'
    spread = (terms.drawn("a", "tau") - terms.drawn("b", "tau")).std(ddof=1)
    assert same.test == "t over users and 3 draws of one split"
    assert same.p_value == pytest.approx(2 * norm.sf(abs(same.difference) / spread), rel=1e-4)
    worse = Scores(-full.values, full.drawn)
    mixed = [make_term("b", place, r, models, full, s)
             for r, s in zip(repeats, (bad, worse, bad), strict=True)]  # fmt: skip
    both = Terms(("a", "b"), (place,), repeats, (*terms.of("a"), *mixed))
    (wide,), (only,) = compare_samplers(both), compare_samplers(both, by="repeats")
    assert only.test == "paired t over 3 draws of one split"
    users = (both.drawn("a", "tau") - both.drawn("b", "tau")).var(ddof=1)
    draws = (both.by_unit("a", "tau") - both.by_unit("b", "tau")).var(ddof=1) / 3
    df = 2 * ((users + draws) / draws) ** 2  # Satterthwaite
    assert wide.p_value == pytest.approx(2 * t.sf(wide.difference / np.sqrt(users + draws), df))
    half = t.ppf(0.975, df) * np.sqrt(users + draws)
    assert (wide.low, wide.high) == pytest.approx((wide.difference - half, wide.difference + half))


def test_shares_of_pairs():
    def swap_ends(x):
        y = x.copy()
        y[[np.argmin(x), np.argmax(x)]] = y[[np.argmax(x), np.argmin(x)]]
        return y

    terms = grid({"s": swap_ends}, places=(PLACES[0],))
    shares = pair_shares(terms)
    assert len(shares) == 3
    assert all(s.reversed == 1.0 and s.kept == s.tied == 0.0 for s in shares)
