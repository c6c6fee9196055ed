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
from fullrank.estimators import (
    Doubling,
    Thinned,
    estimate,
    plan,
    read_ranks,
    scoring_cost,
    simulate,
    write_ranks,
)
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
        assert both == pytest.approx(0.02, rel=0.01)
    full = next(row for row in found.rows if row.design == "full")
    assert all(row.queries >= full.queries for row in found.rows)
    assert full.pairs > 2 * found.best.pairs


@pytest.mark.parametrize("name", ["pow.6", "sharp", "mass"])
def test_the_planned_half_width_is_what_estimate_gives(name):
    """Mean half-width over 8 samples of the planned size; a fifth off at most."""
    p, wanted = law(name, N), 0.03
    designs = (Uniform(m=99), Thinned(), Doubling(n_max=400))
    found = plan("ndcg@10", catalog_size=N, law=p, half_width=wanted, designs=designs)
    for row, design in ((r, d) for r in found.rows for d in designs if _is(r, d)):
        half, items = [], []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            places = rng.choice(np.arange(1, N + 1), row.queries, p=p)
            drawn = simulate(places, N, design, rng)
            one = estimate(drawn, "ndcg@10")[0].estimate
            half.append((one.high - one.low) / 2)
            items.append(drawn.counts["scored_pairs"] / row.queries)
        assert np.mean(half) == pytest.approx(wanted, rel=0.2), (name, row)
        assert np.mean(items) == pytest.approx(row.items, rel=0.1), (name, row)


def _is(row, design):
    """A row is of this design."""
    return row.design.startswith(type(design).__name__)


def test_a_design_that_cannot_see_a_point_mass_is_said_to_mislead():
    designs = (Uniform(m=49), Thinned())
    found = plan("ndcg@10", catalog_size=N, law=law("mass", N), half_width=0.03, designs=designs)
    fixed, thinned = (next(r for r in found.rows if _is(r, d)) for d in designs)
    assert fixed.misleads
    assert fixed.bias < -0.02
    assert plan("ndcg@10", catalog_size=N, law="power:0.8", half_width=0.1,
                designs=(Thinned(keep=0.9),)).best.design == "Thinned(keep=0.9)"  # fmt: skip
    assert not thinned.misleads
    assert found.best_sampled == thinned
    assert not found.full.misleads


def test_full_rows_are_exact_and_ranks_beyond_the_catalogue_are_none():
    p = law("sharp", N)
    found = plan("mrr", catalog_size=N, law=p, half_width=0.02, designs=())
    b = 1 / np.arange(1, N + 1)
    spread = np.sqrt(p @ b**2 - (p @ b) ** 2)
    assert found.value == pytest.approx(p @ b, rel=1e-12)
    assert found.full.queries == np.ceil((spread * norm.ppf(0.975) / 0.02) ** 2)
    assert found.verdict == f"the full ranking needs {found.full.queries:,} queries"


def test_the_verdict_says_what_is_cheaper_and_how_much():
    options = {"catalog_size": N, "law": "power:0.8", "half_width": 0.02, "designs": (Thinned(),)}
    remote = plan("ndcg@10", pair_seconds=0.05, **options)
    ratio = remote.full.seconds / remote.best_sampled.seconds
    assert remote.full.seconds == pytest.approx(remote.full.pairs * 0.05)
    assert remote.verdict.startswith("sample: Thinned takes")
    assert f"{ratio:.3g} times as long" in remote.verdict
    batched = plan("ndcg@10", pair_seconds=0.05, query_seconds=0.01, **options)
    assert batched.best == batched.full
    assert batched.full.seconds == pytest.approx(batched.full.queries * 0.01)
    assert batched.verdict.startswith("rank in full: ")
    even = remote.best_sampled.pairs / remote.full.queries
    assert f"than it scores {even:,.0f} pairs" in plan("ndcg@10", **options).verdict


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


def test_a_pilot_with_several_targets_a_query_is_taken_whole():
    rng = np.random.default_rng(0)
    places = np.sort(rng.integers(1, 80, (300, 4)), axis=1).ravel()
    frame = {"rank": places, "user_id": np.repeat(np.arange(300), 4), "others": [0, 1, 2, 3] * 300}
    pilot = read_ranks(frame, sample_size=100, catalog_size=N, replacement=False)
    found = plan("auc", pilot=pilot, half_width=0.05, designs=())
    assert found.value == pytest.approx(1 - (places - 1).mean() / 99, abs=0.02)
    assert "each of a query's targets" in found.assumptions[0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "either half_width or difference"),
        ({"half_width": 0.1, "difference": 0.1}, "either half_width or difference"),
        ({"half_width": -0.1, "law": "power:1"}, "must be above 0"),
        ({"half_width": 0.1}, "either a pilot"),
        ({"half_width": 0.1, "law": "flat"}, "spelled power:EXPONENT"),
        ({"half_width": 0.1, "law": "power:nan"}, "spelled power:EXPONENT"),
        ({"half_width": 0.1, "law": "power:-900"}, "spelled power:EXPONENT"),
        ({"half_width": 0.1, "law": np.full(N, np.nan)}, "one for each rank"),
        ({"half_width": 0.1, "law": "power:1", "pair_seconds": -1.0}, "pair_seconds must be"),
        ({"half_width": 0.1, "law": "power:1", "query_seconds": 1.0}, "goes with pair_seconds"),
        ({"half_width": np.nan, "law": "power:1"}, "must be above 0"),
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
    assert "sample: " in out
    assert "a model with factors takes" in out
    assert run([*words, "--difference", "0.02", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "cheaper only where a model ranks the catalogue" in found["verdict"]
    assert {row["design"] for row in found["rows"]} >= {"full", "Thinned", "Uniform, n=100"}
    assert {"misleads", "bias", "se_items"} <= set(found["rows"][0])
    assert all(found["seconds_with_factors"][name] > 0 for name in ("pair", "query"))
    assert run([*words]) == 2
    assert "half_width or difference" in capsys.readouterr().err


def test_a_pilot_that_was_written_says_its_own_sizes(tmp_path, capsys):
    places = full_ranks("sharp", N, 600, np.random.default_rng(0))
    write_ranks(simulate(places, N, Uniform(m=49), 1), tmp_path / "pilot.csv")
    words = ["plan", "-m", "ndcg@10", "--pilot", str(tmp_path / "pilot.csv")]
    assert run([*words, "--half-width", "0.05", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["catalog_size"] == N
    assert run([*words, "--half-width", "0.05", "--catalog-size", str(N)]) == 2
    assert "leave one out" in capsys.readouterr().err
