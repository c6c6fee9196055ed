"""Proxy lists: what is exact, what the interval covers, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.estimators.test_designs import world as placed
from tests.estimators.worlds import as_ranks, full_ranks
from tests.rank.test_candidates import WORLD, world_queries

from fullrank.cli._run import run
from fullrank.core.errors import EstimateError, NotFittedError, ScoreError, SpecError
from fullrank.core.queries import Queries
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample
from fullrank.core.vocabulary import Vocabulary
from fullrank.estimators import (
    MLE,
    ProxyList,
    ScreenedExact,
    Thinned,
    difference,
    efficiency,
    estimate,
    plan,
    ranks_frame,
    read_ranks,
    simulate,
    spot_check,
    write_ranks,
)
from fullrank.estimators._bins import Bins
from fullrank.estimators._cases import Cases, _enough
from fullrank.estimators._groups import Groups
from fullrank.estimators._listed_fit import ListedFit
from fullrank.estimators.smooth_head import SH, SMOOTHNESS
from fullrank.metrics import parse
from fullrank.models import IALS, PureSVD, Recommender
from fullrank.negatives import Given
from fullrank.rank import rank

N, M, H = 2000, 5000, 100
METRICS = ("recall@5", "recall@20", "recall@50", "ndcg@5", "ndcg@20", "ndcg@50")


def listed(ranks, caught: float, rng, n: int = N):
    """Items ahead in a list of ``H`` that holds each item above a target with a probability."""
    ahead = np.minimum(rng.binomial(ranks - 1, caught), H)
    return np.maximum(ahead, H - (n - ranks))


def listed_at_random(ranks, rng):
    return rng.hypergeometric(ranks - 1, N - ranks, H)


def true_values(ranks, names=METRICS, n: int = N):
    full = TargetRanks.of([[int(r)] for r in ranks], n_candidates=[n] * len(ranks))
    return np.array([parse(name).value(full) for name in names])


def sample_of(ranks, ahead, seed, **settings):
    design = ProxyList(proxy=Given(), **settings)
    return simulate(ranks, N, design, seed, listed=ahead, length=H)


@pytest.mark.parametrize("n_targets", [1, 3])
def test_exact_where_the_list_holds_the_catalogue(n_targets):
    """Then nothing is left to sample: h is all there is, and settled targets are beyond k_max."""
    model, proxy, q = tables(60, 25, n_targets)
    model.pairs_only = False
    design = ProxyList(proxy=proxy, length=100, k_max=4)
    found, full = (rank(model, q, candidates=c).targets for c in (design, "full"))
    assert 0 < found.sample.settled.sum() < len(found.sample)
    names = ("recall@1", "recall@4", "ndcg@3", "ndcg@4", "map@4", "mrr@3", "hitrate@2")
    for one, name in zip(estimate(found, names), names):
        assert one.value == pytest.approx(parse(name).value(full), abs=1e-9)
        assert one.se_items == pytest.approx(0.0, abs=1e-9)


def test_a_perfect_list_is_exact_in_h_and_nearly_so_in_metrics():
    """The list is the model's own top: nothing of the rest precedes a target that is not settled.

    The design doesn't know that the list is perfect: what a sample of the rest without a hit
    leaves open is all that is left of the error, and it makes estimates too small, never too large.
    """
    rng = np.random.default_rng(0)
    ranks = full_ranks("sharp", N, M, rng)
    ahead = np.minimum(ranks - 1, H)
    found = sample_of(ranks, ahead, 1)
    assert (found.sample.ranks[~found.sample.settled] == 1).all()
    assert np.array_equal(found.sample.settled, ranks > 50)
    true = true_values(ranks)
    value = np.array([one.value for one in estimate(found, METRICS)])
    assert (value <= true).all()
    assert np.abs(value / true - 1).max() < 0.01
    without = Thinned()
    off = [abs(estimate(simulate(ranks, N, without, s), "ndcg@20")[0].value / true[4] - 1)
           for s in range(5)]  # fmt: skip
    assert abs(value[4] / true[4] - 1) < np.mean(off)


def covered(lists, seeds, **settings):
    """Relative errors, and whether the interval for these users covers: ``[seeds, metrics]``."""
    off, inside = [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        ranks = full_ranks("sharp", N, M, rng)
        sample = sample_of(ranks, lists(ranks, rng), seed, **settings)
        found = estimate(sample, METRICS, draws=100, rng=seed)
        true, these = true_values(ranks), [one.these_users for one in found]
        off.append([one.value / t - 1 for one, t in zip(these, true)])
        inside.append([one.low <= t <= one.high for one, t in zip(these, true)])
    return np.array(off), np.array(inside)


@pytest.fixture(scope="module")
def good():
    return covered(lambda ranks, rng: listed(ranks, 0.9, rng), 20)


def test_unbiased_and_covering_with_a_good_list(good):
    off, inside = good
    assert np.abs(off.mean(axis=0)).max() < 0.02
    assert np.abs(off).mean() < 0.02
    assert inside.mean() > 0.85


def test_a_bad_proxy_costs_accuracy_and_is_covered(good):
    off, inside = covered(listed_at_random, 20)
    assert np.abs(off).mean() > 2 * np.abs(good[0]).mean()
    assert inside.mean() > 0.85
    assert (np.abs(off.mean(axis=0)) < 4 * off.std(axis=0) / np.sqrt(20) + 0.02).all()


def few_steps(groups, bins, smoothness):
    """The posterior mean of the mass at rank 1 by a plain chain that keeps the prior."""
    which = SMOOTHNESS.index(smoothness)
    fit = SH().fit(groups, bins)
    family = fit.fits[which][0]
    root = np.linalg.cholesky(np.linalg.inv(family.penalty(smoothness)))
    rng, beta = np.random.default_rng(0), fit.fits[which][1].beta

    def look(b):
        found = family.distribution(b) @ fit.likelihood
        return float(fit.cells @ np.log(found)) if found.min() > 0 else -np.inf

    level, kept = look(beta), []
    for step in range(12_000):
        tried = np.sqrt(1 - 0.2**2) * beta + 0.2 * root @ rng.standard_normal(len(beta))
        new = look(tried)
        if np.log(rng.random()) < new - level:
            beta, level = tried, new
        if step > 1000 and step % 5 == 0:
            kept.append(family.distribution(beta)[0])
    return np.array(kept)


@pytest.mark.parametrize("hits", [0, 4])
def test_draws_are_those_of_the_posterior(hits):
    """Against a chain without slices or a mode; a normal around the mode is far off."""
    ranks = np.append(np.ones(150 - hits, np.int64), np.full(hits, 2))
    size, catalog = np.full(150, 60), np.full(150, 300)
    groups, _ = Groups.of(ranks, size, catalog, replacement=False)
    bins = Bins.of(300, 20, 1.2)
    plain = few_steps(groups, bins, 1.0)
    fit = SH().fit(groups, bins)
    alone = np.zeros(len(fit.fits))
    alone[SMOOTHNESS.index(1.0)] = 1.0
    one = replace(fit, weights=alone)
    ours = np.array([pi[0] for pi in ListedFit.of(one).draws(2000, 0)])
    normal = np.array([pi[0] for pi in one.draws(2000, 0)])
    gap = abs(ours.mean() - plain.mean())
    assert gap < 0.01
    assert abs(ours.std() - plain.std()) < 0.15 * plain.std() + 0.002
    assert (
        np.abs(np.quantile(ours, [0.1, 0.5, 0.9]) - np.quantile(plain, [0.1, 0.5, 0.9])).max()
        < 0.02
    )
    assert abs(normal.mean() - plain.mean()) > 2 * gap


class Table(Recommender):
    """Scores of pairs from a table, and of nothing else."""

    thread_safe = True

    def _fit(self, train, rng, monitor):
        raise NotImplementedError

    def score_pairs(self, queries, indptr, candidates):
        rows = np.repeat(queries.users, np.diff(indptr))
        return self.table[rows, candidates].astype(np.float32)

    def _score(self, queries):
        assert not self.pairs_only, "the whole catalogue was scored"
        return self.table[queries.users].astype(np.float32)


def tables(users: int, items: int, n_targets: int):
    """A model that scores pairs only, one that is like it, and queries that like what it likes."""
    rng = np.random.default_rng(3)
    taste = rng.gumbel(size=(users, items)) + rng.gumbel(size=items) * 0.7
    liked = np.argpartition(-(taste + rng.gumbel(size=taste.shape)), n_targets)[:, :n_targets]
    ids = Vocabulary(np.arange(users), "user"), Vocabulary(np.arange(items), "item")
    queries = Queries.from_lists(
        np.arange(users), [[]] * users, liked.tolist(), user_vocab=ids[0], item_vocab=ids[1]
    )
    out = []
    for table in (taste, taste + 0.5 * rng.standard_normal(taste.shape)):
        model = Table()
        model.table, model.pairs_only = table, table is taste
        model.user_vocab_, model.item_vocab_ = ids
        model.known_items_, model.known_users_ = np.ones(items, bool), np.ones(users, bool)
        model.item_counts_ = np.ones(items, np.int64)
        out.append(model)
    return *out, queries


@pytest.mark.parametrize("n_targets", [1, 4])
def test_a_model_of_pairs_with_one_and_several_targets(n_targets):
    model, proxy, queries = tables(700, 900, n_targets)
    design = ProxyList(proxy=proxy, length=40, k_max=30)
    found = rank(model, queries, candidates=design).targets
    assert found.counts["scored_pairs"] < 0.2 * 700 * 900
    model.pairs_only = False
    full = rank(model, queries).targets
    names = ("recall@10", "recall@30", "ndcg@10", "map@30", "mrr@10")
    for one, name in zip(estimate(found, names), names):
        true, these = parse(name).value(full), one.these_users
        assert one.value == pytest.approx(true, rel=0.03)
        # Behind a list that is all but perfect, an interval may miss by a few tenths of a percent.
        assert these.low - 0.01 * true <= true <= these.high + 0.01 * true
    em = estimate(found, "recall@30", method=MLE(), resamples=20)[0]
    assert em.value == pytest.approx(parse("recall@30").value(full), rel=0.15)


def test_strata_are_by_listed_items_and_small_ones_join():
    rng = np.random.default_rng(0)
    ranks = full_ranks("sharp", N, M, rng)
    found = sample_of(ranks, listed(ranks, 0.9, rng), 0)
    strata = Cases.of(found).strata
    assert min(len(s.targets) for s in strata) >= 60
    levels = [found.sample.listed[s.targets] for s in strata]
    assert all(a.max() < b.min() for a, b in pairwise(levels))
    inside = np.sort(np.concatenate([s.targets for s in strata]))
    assert np.array_equal(inside, np.flatnonzero(~found.sample.settled))


def test_strata_join_until_they_have_enough_and_no_longer():
    """Of 943 targets (MovieLens 100k) all were once in one stratum, each small part joining it."""
    rng = np.random.default_rng(0)
    ranks = full_ranks("sharp", N, 943, rng)
    strata = Cases.of(sample_of(ranks, listed(ranks, 0.7, rng), 0)).strata
    sizes = [len(s.targets) for s in strata]
    assert len(sizes) >= 4
    assert min(sizes) >= 60
    parts = [np.arange(n) for n in (10, 30, 25, 100, 59, 1, 61, 5)]
    assert [len(part) for part in _enough(parts, 60)] == [65, 100, 60, 66]
    assert [len(part) for part in _enough(parts[:2], 60)] == [40]


def test_few_users_are_estimated_without_bias_behind_a_list():
    """A world of the size of MovieLens 100k: 943 users, 1,682 items, a list of 100."""
    n, k, off, inside = 1682, "recall@20", [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        ranks = full_ranks("sharp", n, 943, rng)
        ahead = listed(ranks, 0.7, rng, n)
        made = simulate(ranks, n, ProxyList(proxy=Given()), seed, listed=ahead, length=H)
        one, true = estimate(made, k, draws=100)[0], true_values(ranks, [k], n)[0]
        off.append((one.value - true) / one.se_items)
        inside.append(one.these_users.low <= true <= one.these_users.high)
    assert abs(np.mean(off)) < 1.2, off
    assert sum(inside) >= 6


def test_what_was_scored_counts_the_list(tmp_path, capsys):
    rng = np.random.default_rng(0)
    ranks = full_ranks("sharp", N, 200, rng)
    found = sample_of(ranks, listed(ranks, 0.7, rng), 0)
    frame = ranks_frame(found)
    assert frame["list_size"].unique().to_list() == [H]
    frame.write_csv(tmp_path / "ranks.csv")
    frame.drop("list_size").write_csv(tmp_path / "untold.csv")
    spent = found.sample.sizes.mean() + H
    assert run(["estimate", str(tmp_path / "ranks.csv"), "-m", "ndcg@10"]) == 0
    out = capsys.readouterr().out
    assert f"{spent:,.1f} of {N:,.1f} on average, those of its list among them (100.0)" in out
    assert run(["estimate", str(tmp_path / "untold.csv"), "-m", "ndcg@10"]) == 0
    assert "beside those of its list (a column list_size" in capsys.readouterr().out


def test_files_keep_the_lists(tmp_path, capsys):
    rng = np.random.default_rng(0)
    ranks = full_ranks("sharp", N, 1500, rng)
    found = sample_of(ranks, listed(ranks, 0.9, rng), 0)
    path = tmp_path / "ranks.parquet"
    write_ranks(found, path)
    back = read_ranks(path)
    assert np.array_equal(back.sample.listed, found.sample.listed)
    assert np.array_equal(back.sample.settled, found.sample.settled)
    assert back.sample.k_max == found.sample.listed[found.sample.settled].min()
    one, two = (estimate(x, "ndcg@20")[0] for x in (found, back))
    assert one.to_dict() == two.to_dict()
    assert run(["estimate", str(path), "-m", "ndcg@20", "--json"]) == 0
    assert "proxy list and uniform sample" in capsys.readouterr().out
    assert run(["estimate", str(path), "-m", "ndcg@90"]) == 2
    assert "looks beyond the first 5" in capsys.readouterr().err


def small(**settings):
    ranks = np.arange(1, 301)
    return simulate(ranks, N, ProxyList(proxy=Given(), **settings), 0,
                    listed=np.minimum(ranks - 1, H), length=H)  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "method", "says"),
    [
        ("ndcg@51", "auto", r"NDCG@51 looks beyond the first 50 places.*ProxyList\(k_max=51\)"),
        ("ndcg@51", "raw", "looks beyond the first 50 places"),
        ("mrr", "auto", "looks at the whole ranking.*take a cut-off"),
        ("auc", "mle", "AUC looks at the whole ranking"),
        ("ndcg@10", "bv", "BV can't take a proxy list.*take SH or MLE"),
        ("ndcg@10", "horvitzthompson", "HorvitzThompson can't take a proxy list"),
    ],
)
def test_metrics_and_methods_that_cannot_be_are_refused(metric, method, says):
    with pytest.raises(EstimateError, match=says):
        estimate(small(), metric, method=method)


def test_what_needs_a_sample_of_the_whole_catalogue_refuses_lists():
    found = small()
    model, queries = placed(np.arange(1, 301))
    for call in (
        lambda: spot_check(model, queries, found),
        lambda: efficiency(found),
        lambda: plan("ndcg@10", catalog_size=N, pilot=found, half_width=0.01),
    ):
        with pytest.raises(EstimateError, match="a proxy list and a sample of the rest"):
            call()
    with pytest.raises(EstimateError, match="metrics up to that cut-off are 0"):
        estimate(_beyond(), "recall@5")
    with pytest.raises(EstimateError, match="looks beyond the first 50 places"):
        difference(found, found, "recall@60")


def _beyond():
    ranks = np.arange(201, 401)
    return sample_of(ranks, np.full(200, 60), 0)


@pytest.mark.parametrize(
    "settings",
    [{"proxy": None}, {"proxy": PureSVD}, {"length": 0}, {"k_max": 0}, {"first": 1}, {"keep": 0.0},
     {"ceiling": 1.5}],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(settings):
    with pytest.raises(SpecError, match=f"ProxyList: {next(iter(settings))}"):
        ProxyList(**{"proxy": Given(), **settings})


def test_proxies_that_are_not_fitted_and_samples_that_cannot_be_are_refused():
    with pytest.raises(NotFittedError, match="PureSVD is not fitted"):
        rank(IALS().fit(WORLD), world_queries(), candidates=ProxyList(proxy=PureSVD()))
    ranks = np.array([3, 10])
    for design, ahead in ((Thinned(), ranks - 1), (ProxyList(proxy=Given()), None)):
        with pytest.raises(SpecError, match="goes with the design ProxyList"):
            simulate(ranks, N, design, listed=ahead)
    with pytest.raises(SpecError, match="target 1 of rank 3 among 2,000 can't have 3 items"):
        simulate(ranks, N, ProxyList(proxy=Given()), listed=ranks, length=H)
    one = np.ones(2, np.int32)
    with pytest.raises(ScoreError, match="needs k_max"):
        Sample(one, one, one, one, listed=one)
    bare = as_ranks(one, one, 30 * one)
    bare = replace(bare, sample=replace(bare.sample, k_max=50))
    with pytest.raises(EstimateError, match="a sample of 1 holds no candidate"):
        estimate(bare, "recall@5")


def test_screened_exact_keeps_its_own_k_max():
    """Its cut-off is that of a weight, not of what was compared."""
    made = simulate(np.arange(1, 301), N, ScreenedExact(k_max=20), 0)
    assert made.sample.k_max is None
