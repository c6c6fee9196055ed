"""Planning: the full ranking by hand, designs by simulation, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm
from tests.estimators.test_designs import world
from tests.estimators.worlds import as_ranks, full_ranks, law, sampled

from fullrank.cli._run import run
from fullrank.core.errors import SpecError
from fullrank.estimators import Thinned, plan, scoring_cost, simulate
from fullrank.negatives import Uniform
from fullrank.rank import rank

N = 1500


def test_simulated_samples_are_those_of_the_design():
    places = full_ranks("sharp", N, 5000, np.random.default_rng(0))
    for design in (Uniform(m=49), Thinned(), Uniform(m=49, replacement=True)):
        made = simulate(places, N, design, 1).sample
        real = rank(*world(places), candidates=design).targets.sample
        assert made.replacement == real.replacement
        for name in ("ranks", "sizes"):
            ours, theirs = (np.log(getattr(x, name)) for x in (made, real))
            error = np.hypot(ours.std(), theirs.std()) / np.sqrt(5000)
            assert abs(ours.mean() - theirs.mean()) < 4 * error
        whole = made.sizes == made.catalog_sizes
        assert np.array_equal(made.ranks[whole], places[whole])


def test_full_ranking_needs_what_the_spread_says():
    p = law("sharp", N)
    found = plan("recall@10", catalog_size=N, law=p, half_width=0.02, designs=())
    share = p[:10].sum()
    spread = np.sqrt(share * (1 - share))
    expected = (spread * norm.ppf(0.975) / 0.02) ** 2
    assert found.best.design == "full"
    assert found.best.queries == pytest.approx(expected, rel=0.05)
    assert found.best.pairs == found.best.queries * N
    assert found.value == pytest.approx(share, rel=0.1)


def test_planned_designs_reach_what_was_wanted():
    p = law("sharp", N)
    found = plan("ndcg@10", catalog_size=N, law=p, half_width=0.02,
                 designs=(Uniform(m=99), Thinned()))  # fmt: skip
    assert found.rows == tuple(sorted(found.rows, key=lambda row: row.pairs))
    for row in found.rows:
        both = np.hypot(row.se_items, row.se_users) * norm.ppf(0.975)
        assert both == pytest.approx(0.02, rel=0.05)
    full = next(row for row in found.rows if row.design == "full")
    assert all(row.queries >= 0.9 * full.queries for row in found.rows)
    assert full.pairs > 2 * found.best.pairs


def test_a_cost_makes_full_ranking_the_cheapest_where_it_is():
    model, queries = world(np.full(300, 3))
    cost = scoring_cost(model, queries)
    assert cost.pair > 0
    assert cost.query > 0
    found = plan("ndcg@10", catalog_size=N, law="power:0.8", half_width=0.02,
                 designs=(Uniform(m=99),), cost=type(cost)(1e-3, 1e-3))  # fmt: skip
    assert found.best.design == "full"


def test_a_comparison_needs_more_where_models_agree_less():
    options = {"catalog_size": N, "law": "power:0.8", "difference": 0.02, "designs": ()}
    near = plan("ndcg@10", correlation=0.9, **options)
    far = plan("ndcg@10", correlation=0.0, **options)
    assert far.best.queries == pytest.approx(10 * near.best.queries, rel=0.02)
    assert "power of 80%" in near.wanted


def test_a_pilot_says_what_its_law_does():
    rng = np.random.default_rng(0)
    pilot = as_ranks(sampled(full_ranks("sharp", N, 4000, rng), N, 100, rng), 100, N)
    found = plan("recall@10", catalog_size=N, pilot=pilot, half_width=0.02, designs=())
    same = plan("recall@10", catalog_size=N, law=law("sharp", N), half_width=0.02, designs=())
    assert found.best.queries == pytest.approx(same.best.queries, rel=0.15)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "either half_width or difference"),
        ({"half_width": 0.1, "difference": 0.1}, "either half_width or difference"),
        ({"half_width": -0.1, "law": "power:1"}, "must be above 0"),
        ({"half_width": 0.1}, "either a pilot"),
        ({"half_width": 0.1, "law": "flat"}, "spelled power:EXPONENT"),
        ({"half_width": 0.1, "law": np.ones(3)}, "one for each rank"),
        ({"difference": 0.1, "law": "power:1", "power": 1.5}, "power within 0 and 1"),
    ],
)
def test_refusals(options, says):
    with pytest.raises(SpecError, match=says):
        plan("ndcg@10", catalog_size=N, **options)


def test_command_line(capsys):
    words = ["plan", "-m", "ndcg@10", "--catalog-size", str(N), "--law", "power:0.8"]
    assert run([*words, "--half-width", "0.02", "--pair-seconds", "0.01"]) == 0
    out = capsys.readouterr().out
    assert "Thinned" in out
    assert "in full in" in out
    assert run([*words, "--difference", "0.02", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["design"] for row in found["rows"]} >= {"full", "Thinned", "Uniform, n=100"}
    assert found["full_query_seconds_with_factors"] > 0
    assert run([*words]) == 2
    assert "half_width or difference" in capsys.readouterr().err
