"""Table estimators: the specification's tables, optimality, and the toy of Krichene & Rendle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.estimators.worlds import as_ranks, errors, full_ranks, functions, sampled, truth

from fullrank.core.errors import EstimateError, SpecError
from fullrank.estimators import (
    BV,
    CLS,
    MES,
    MLE,
    MN,
    SH,
    MinimalBias,
    MonotoneMLE,
    RankEstimate,
    estimate,
)
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._table import Design

N, SIZE, M = 300, 12, 2000

# Average relative error in percent at n = 100 (specification, section 8): Recall, NDCG, and how
# far the mean of three repeats may be off.
SHARP = {
    RankEstimate(): (81, 240, 6),
    CLS(): (42.4, 57.3, 2),
    BV(gamma=0.1, prior="uniform"): (43.2, 57.5, 2),
    BV(prior="uniform"): (23.1, 40.6, 3),
    MN(prior="uniform"): (61.8, 71.8, 2),
    MLE(): (9.36, 18.4, 5),
    MES(): (9.17, 19.2, 5),
    BV(): (8.55, 16.1, 5),
    MN(): (9.17, 17.6, 5),
    MN(prior="mes"): (9.03, 17.7, 5),
    MonotoneMLE(): (3.6, 5.75, 4),
    SH(): (2.0, 4.0, 4),
}


@pytest.mark.parametrize("estimator", SHARP, ids=str)
def test_errors_are_those_of_the_specification(estimator):
    recall, ndcg, within = SHARP[estimator]
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        ranks = full_ranks("sharp", 10_000, 20_000, rng)
        r = sampled(ranks, 10_000, 100, rng, replacement=True)
        groups, _ = Groups.of(r, np.full(20_000, 100), np.full(20_000, 10_000), replacement=True)
        fit = estimator.fit(groups, estimator.bins(10_000, 50))
        means = groups.counts @ fit.values(functions(fit.bins)) / groups.total
        found.append(errors(means, truth(ranks)))
    assert np.mean(found, axis=0) == pytest.approx((recall, ndcg), abs=within)


def small(replacement: bool = True, name: str = "pow.6"):
    rng = np.random.default_rng(0)
    r = sampled(full_ranks(name, N, M, rng), N, SIZE, rng, replacement=replacement)
    groups, _ = Groups.of(r, np.full(M, SIZE), np.full(M, N), replacement=replacement)
    bins = Bins.of(N, N)
    b = bins.means(lambda x: np.stack([x <= 10, (x <= 10) / np.log2(x + 1.0)], axis=1) * 1.0)
    return groups, bins, b, Design.all_of(groups, bins)[0]


def solved(estimator, groups, bins, b, design):
    fit = estimator.fit(groups, bins)
    return estimator.solve(design, fit.prior, b, fit), fit.prior


def test_bv_at_one_is_the_posterior_mean():
    groups, bins, b, design = small()
    for prior in ("uniform", "mle"):
        x, p = solved(BV(gamma=1.0, prior=prior), groups, bins, b, design)
        joint = design.a * p[:, None]
        assert x == pytest.approx((joint.T @ b) / joint.sum(axis=0)[:, None])


def test_mn_has_no_gradient_and_a_positive_matrix():
    groups, bins, b, design = small()
    x, p = solved(MN(), groups, bins, b, design)
    a, many = design.a, groups.total

    def loss(x):
        bias = (p[:, None] * (a @ x - b) ** 2).sum()
        spread = (a @ x**2 - (a @ x) ** 2).sum() / many
        return bias + spread

    # The matrix by its formula: (A'DA - A'A / M + diag(A'1) / M) x = A'D b.
    matrix = a.T @ (p[:, None] * a) - a.T @ a / many + np.diag(a.sum(axis=0)) / many
    assert np.linalg.eigvalsh(matrix)[0] > 0
    assert matrix @ x == pytest.approx(a.T @ (p[:, None] * b), abs=1e-12)
    rng, least = np.random.default_rng(1), loss(x)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            assert loss(x + size * rng.standard_normal(x.shape)) > least
    step = 1e-5
    for place in np.ndindex(x.shape):
        ahead, back = x.copy(), x.copy()
        ahead[place] += step
        back[place] -= step
        assert abs(loss(ahead) - loss(back)) / (2 * step) < 1e-6


def test_mn_of_many_targets_is_the_minimal_bias():
    groups, bins, b, design = small()
    five, _ = Groups.of(
        np.minimum(groups.ranks, 4), np.full(len(groups), 4), np.full(len(groups), N),
        replacement=True,
    )  # fmt: skip
    many = five.with_counts(five.counts * 1e12)
    design = Design.all_of(many, bins)[0]
    least, _ = solved(MinimalBias(), many, bins, b, design)
    x, _ = solved(MN(prior="uniform"), many, bins, b, design)
    assert x == pytest.approx(least, rel=1e-4)
    near, _ = solved(BV(gamma=1e-12, prior="uniform"), many, bins, b, design)
    assert near == pytest.approx(least, rel=1e-4)


def test_minimal_bias_refuses_noise():
    rng = np.random.default_rng(0)
    r = sampled(full_ranks("pow.6", 2000, 500, rng), 2000, 60, rng)
    with pytest.raises(EstimateError, match="ill conditioned"):
        estimate(as_ranks(r, 60, 2000), "ndcg@10", method="minimalbias")


def test_auc_is_recovered_exactly_by_an_unbiased_table():
    groups, bins, _, design = small()
    auc = bins.means(lambda x: (N - x) / (N - 1.0))[:, None]
    r = np.arange(1, SIZE + 1)
    x, _ = solved(BV(gamma=0.0, prior="uniform"), *small()[:2], auc, design)
    assert design.a @ x[:, 0] == pytest.approx(auc[:, 0], abs=1e-6)
    straight, _ = solved(RankEstimate(), groups, bins, auc, design)
    assert straight[:, 0] == pytest.approx((SIZE - r) / (SIZE - 1), abs=1.0 / N)


def test_cls_is_the_best_monotone_table():
    from scipy.optimize import minimize

    groups, bins, b, design = small()
    x, p = solved(CLS(), groups, bins, b, design)
    assert (np.diff(x, axis=0) <= 1e-12).all()
    assert (x >= 0).all()
    weight = np.sqrt(p)[:, None]

    def loss(z):
        return np.sum((weight[:, 0] * (design.a @ np.cumsum(z[::-1])[::-1] - b[:, 0])) ** 2)

    found = minimize(loss, np.full(SIZE, 0.1), bounds=[(0, None)] * SIZE, tol=1e-14)
    mine = np.sum((weight[:, 0] * (design.a @ x[:, 0] - b[:, 0])) ** 2)
    assert mine <= found.fun + 1e-10


def test_cls_of_what_grows_with_the_rank():
    groups, bins, _, design = small()
    ranks = bins.middle[:, None]
    x, _ = solved(CLS(), groups, bins, ranks, design)
    assert (np.diff(x, axis=0) >= -1e-9).all()


@pytest.mark.parametrize("weights", ["uniform", "empirical"])
def test_mes_agrees_with_a_generic_optimiser(weights):
    from scipy.optimize import minimize

    rng, n, size, eta = np.random.default_rng(2), 25, 5, 0.05
    r = sampled(rng.integers(1, n + 1, 400), n, size, rng, replacement=True)
    groups, _ = Groups.of(r, np.full(400, size), np.full(400, n), replacement=True)
    bins = Bins.of(n, n)
    pi = MES(eta=eta, weights=weights).fit(groups, bins).pi
    a = Design.all_of(groups, bins)[0].a
    share = np.bincount(r, minlength=size + 1)[1:] / 400
    w = np.ones(size) if weights == "uniform" else size * share

    def loss(logits):
        p = np.exp(logits - logits.max())
        p /= p.sum()
        return (w * (a.T @ p - share) ** 2).sum() + eta * (p * np.log(p)).sum()

    best = minimize(loss, np.zeros(n), tol=1e-14).fun
    assert loss(np.log(pi)) <= best + 1e-9
    assert pi.sum() == pytest.approx(1.0)


def test_mes_of_a_large_eta_is_uniform():
    groups, bins, _, _ = small()
    assert MES(eta=1e6).fit(groups, bins).pi == pytest.approx(np.full(N, 1 / N), rel=1e-4)


def test_monotone_mle_falls():
    groups, bins, _, _ = small()
    pi = MonotoneMLE().fit(groups, bins).pi
    assert pi.sum() == pytest.approx(1.0)
    assert (np.diff(pi) <= 1e-15).all()


# Krichene & Rendle 2020, N = 10,000 and 99 negatives: ranks, AUC, AP, NDCG, Recall@10; then the
# sampled means with the standard deviations that they print.
TOY = {
    "A": ([100] * 5, (0.990, 0.010, 0.150, 0.0),
          ((0.990, 0.004), (0.630, 0.129), (0.724, 0.097), (1.0, 0.0))),
    "B": ([40, 40, 8437, 9266, 4482], (0.555, 0.010, 0.122, 0.0),
          ((0.555, 0.014), (0.336, 0.073), (0.444, 0.054), (0.4, 0.0))),
    "C": ([212, 2, 743, 5342, 1548], (0.843, 0.101, 0.208, 0.2),
          ((0.843, 0.014), (0.325, 0.050), (0.460, 0.039), (0.567, 0.092))),
}  # fmt: skip


@pytest.mark.parametrize("name", TOY)
def test_toy_of_krichene_and_rendle(name):
    ranks, exact, published = TOY[name]
    ranks, n, size = np.array(ranks), 10_000, 100
    metrics = ["auc", "mrr", "ndcg", "recall@10"]
    by_hand = [(n - ranks) / (n - 1), 1 / ranks, 1 / np.log2(ranks + 1), ranks <= 10]
    whole = [m.value for m in estimate(as_ranks(ranks, n, n), metrics, method="raw")]
    assert whole == pytest.approx([b.mean() for b in by_hand], abs=1e-12)
    assert whole == pytest.approx(exact, abs=6e-4)  # three printed digits
    rng = np.random.default_rng(0)
    drawn = np.stack([sampled(ranks, n, size, rng, replacement=True) for _ in range(1000)])
    each = [estimate(as_ranks(r, size, n, replacement=True), metrics, method="raw")
            for r in drawn]  # fmt: skip
    found = np.array([[m.value for m in row] for row in each])
    # What they tend to: the row of each rank in the table P(r | R), times the metric of r.
    r = np.arange(1, size + 1)
    rows = stats.binom.pmf(r - 1, size - 1, (ranks[:, None] - 1) / (n - 1))
    of_r = [(size - r) / (size - 1), 1 / r, 1 / np.log2(r + 1), r <= 10]
    expected = np.array([(rows @ b).mean() for b in of_r])
    error = found.std(axis=0, ddof=1) / np.sqrt(1000)
    assert (np.abs(found.mean(axis=0) - expected) <= 4 * error + 1e-6).all()
    for tends_to, (value, spread) in zip(expected, published):
        assert abs(tends_to - value) <= 4 * spread / np.sqrt(1000) + 6e-4


def test_settings_that_cannot_be_are_refused():
    for make in (
        lambda: BV(gamma=1.5), lambda: BV(prior="none"), lambda: MES(eta=0.0),
        lambda: MES(weights="x"), lambda: MLE(steps=0), lambda: MonotoneMLE(steps=1.5),
    ):  # fmt: skip
        with pytest.raises(SpecError):
            make()


def test_tables_refuse_samples_of_several_sizes():
    mixed = as_ranks([1, 2, 3, 1], [100, 100, 100, 200], 5000)
    for method in ("bv", "mn", "cls", "mes", "rankestimate"):
        with pytest.raises(EstimateError, match="needs one sample size"):
            estimate(mixed, "ndcg@10", method=method)
    with pytest.raises(SpecError, match="did you mean 'MLE'"):
        estimate(mixed, "ndcg@10", method="mla")
