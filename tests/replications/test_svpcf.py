"""The SVP-CF study: the grids that were promised, and the page from a few numbers."""

from __future__ import annotations

import shutil
from itertools import product

import numpy as np
import pytest
from replications.svpcf import (
    claims,
    grids,
    more,
    numbers,
    page,
    paper,
    parts,
    plots,
    tables,
    trap_auc,
    trap_choice,
    work,
)
from replications.svpcf.sets import ALL, LINEAR, MORE, Source

from fullrank.experiment.psi.grid import total
from fullrank.subsample import parse_sampler

LABELS = [sampler["label"] for sampler in parts.SAMPLERS]
PLACES = [("implicit", "NDCG@10"), ("explicit", "RMSE")]


def test_the_sixteen_samplers_differ_and_are_labelled_apart():
    texts = {str(parse_sampler(s["name"], s.get("settings", {}))) for s in parts.SAMPLERS}
    assert len(texts) == len(set(LABELS)) == 16


def test_grids_have_the_cells_that_were_promised():
    samples = 1 + 16 * 6
    cells = {source.name: total(grids.grid(source, 1, {})) for source in LINEAR}
    assert cells == {
        "amazon-musical-instruments": samples * (6 + 10 + 10),
        "ml-100k": samples * (6 + 10 + 10),
        "amazon-video-games-seq": samples * (10 + 10),
    }
    lists = Source("any", ("implicit",))
    assert total(grids.grid(lists, 1, {}, keep=more.KEEP)) == (1 + 15 * 3) * 10  # no Temporal


def test_ten_models_differ_in_each_scenario():
    for scenario in ("implicit", "sequential"):
        assert len(set(parts.names_of(scenario))) == 10
    assert len({model["label"] for model in parts.EXPLICIT}) == len(parts.EXPLICIT)


def test_a_repeat_has_its_seed_in_split_draws_and_fits():
    seeds = grids.grid(LINEAR[0], 3, {}).seeds
    assert (seeds.split, seeds.sampler, seeds.training) == ((3,), (3,), (3,))


def test_what_was_chosen_is_used():
    spec = grids.grid(LINEAR[1], 1, {"implicit": {"EASE": {"reg": 7.0}}})
    by_scenario = {
        scenario.name: {model.title: model.settings for model in scenario.model}
        for scenario in spec.scenario
    }
    assert by_scenario["implicit"]["EASE"] == {"reg": 7.0}
    assert by_scenario["sequential"]["EASE"] == {}


def test_the_papers_algorithms_are_in_their_scenarios():
    counts = {name: len(models) for name, models in paper.MODELS.items()}
    assert counts == {"explicit": 3, "implicit": 5, "sequential": 7}
    ordered = [sampler["label"] for sampler in paper.ordered()]
    assert sorted(ordered) == sorted(LABELS)
    assert ordered[: len(paper.FIRST)] == list(paper.FIRST)


def test_sets_are_named_once():
    names = [source.name for source in (*LINEAR, *MORE)]
    assert len(names) == len(set(names))
    assert all(set(source.scenarios) <= set(ALL) for source in (*LINEAR, *MORE))


def results(folder, tau, seeds=(1, 2, 3), name="ml-100k", keeps=(0.6, 0.2, 0.1), gone=()):
    """Numbers of a data set as ``work`` writes them; ``tau(sampler, keep, seed)``."""
    for seed in seeds:
        rows = []
        for label, (scenario, metric), keep in product(LABELS, PLACES, keeps):
            row = {"scenario": scenario, "metric": metric, "keep": keep, "sampler": label}
            if (label, keep) in gone:
                rows.append({**row, "missing": "too small"})
                continue
            values = dict.fromkeys(numbers.MEASURES, float(tau(label, keep, seed)))
            rows.append({**row, **values, "warm": None, "sd_users": 0.1, "missing": None})
        work.write(folder / name, f"terms-{seed}", rows)
        costs = [{"sampler": "", "keep": 1.0, "study_seconds": 10.0, "seconds": 10.0}]
        samples = []
        for label, keep in product(LABELS, keeps):
            about = {"sampler": label, "keep": keep}
            spent = {"study_seconds": 10 * keep, "seconds": 10 * keep + 1}
            costs.append({**about, **spent})
            samples.append({**about, "rows": 1000 * keep, "users": 50, "cold_users": 50})
        work.write(folder / name, f"costs-{seed}", costs)
        work.write(folder / name, f"samples-{seed}", samples)
    return folder


def flat(label, keep, seed):
    return keep + 0.001 * seed + (0.1 if label == "users, random" else 0.0)


def test_numbers_are_read_back_as_terms(tmp_path):
    results(tmp_path, flat, gone=[("users, head", 0.1)])
    (found,) = numbers.read_all(tmp_path, ["ml-100k", "not-there"])
    assert found.terms.samplers == tuple(LABELS)
    assert found.terms.unit == "split"
    assert len(found.terms.places) == 6
    assert len(found.terms.common) == 4  # not at 10 %, where a sampler has none
    assert found.psi("users, random") == pytest.approx(0.4 + 0.002 + 0.1)
    assert found.rows_a_user == pytest.approx(10.0)


def test_shares_of_time_are_of_the_full_data_of_the_same_repeat(tmp_path):
    results(tmp_path, flat)
    rows = {
        (r["sampler"], r["keep"]): r
        for r in numbers.shares(numbers.read_all(tmp_path, ["ml-100k"]))
    }
    assert rows["users, head", 0.1]["study"] == pytest.approx(0.1)
    assert rows["users, head", 0.1]["both"] == pytest.approx(0.2)


def test_a_mean_difference_has_students_interval():
    found = numbers.gap([0.1, 0.2, 0.3])
    assert found.value == pytest.approx(0.2)
    assert found.high - found.value == pytest.approx(4.302653 * 0.1 / np.sqrt(3))
    assert found.p_value == pytest.approx(0.07417990)
    assert np.isnan(numbers.gap([0.1]).low)


def many(folder, tau, n=6):
    """Several data sets with one seed and a little noise."""
    rng = np.random.default_rng(1)
    names = [source.name for source in MORE[:n]]
    for name in names:
        results(folder, lambda *a: tau(*a) + 0.02 * rng.normal(), seeds=(1,), name=name)
    return numbers.read_all(folder, names)


def test_claims_follow_the_numbers(tmp_path):
    worth = {claims.HARDEST: 0.5, claims.HEAD: -0.5, claims.USERS: 0.2}
    worth |= {label: 0.3 for label in LABELS if "users, SVP-Prop" in label}
    sets = many(tmp_path / "as the paper", lambda label, *_: worth.get(label, 0.0))
    found = [claims.hardest(sets), claims.head(sets), claims.propensity(sets)]
    found.append(claims.random_users(sets))
    assert [claim.verdict for claim in found] == [claims.HOLDS] * 4
    other = many(tmp_path / "against", lambda label, *_: -worth.get(label, 0.0))
    found = [claims.hardest(other), claims.head(other), claims.propensity(other)]
    found.append(claims.random_users(other))
    assert [claim.verdict for claim in found] == [claims.NOT] * 4
    none = many(tmp_path / "nothing", lambda *_: 0.0)
    assert claims.hardest(none).verdict == claims.OPEN
    assert claims.head(none).verdict == claims.OPEN


def test_graph_samplers_are_judged_on_the_sparser_half(tmp_path):
    names = [source.name for source in MORE[:6]]
    rng = np.random.default_rng(2)
    for j, name in enumerate(names):
        good = 0.4 if j < 3 else -0.4
        results(
            tmp_path,
            lambda label, *_, good=good: good * (label in claims.GRAPH) + 0.02 * rng.normal(),
            seeds=(1,),
            name=name,
        )
        if j >= 3:  # denser
            path = tmp_path / name / "samples-1.csv"
            path.write_text(path.read_text().replace(",50,50", ",5,5"))
    assert claims.graphs(numbers.read_all(tmp_path, names)).verdict == claims.HOLDS


def test_time_of_the_papers_algorithms_decides(tmp_path):
    sets = numbers.read_all(results(tmp_path, flat), ["ml-100k"])
    assert claims.shorter(sets, []).verdict == claims.OPEN
    assert claims.shorter(sets, sets).verdict == claims.HOLDS  # ten times, made up
    assert "10.0 times" in claims.shorter(sets, sets).numbers
    path = tmp_path / "ml-100k" / "costs-1.csv"
    path.write_text(path.read_text().replace('"users, head",0.1,1.0', '"users, head",0.1,0.1'))
    for seed in (2, 3):
        (tmp_path / "ml-100k" / f"costs-{seed}.csv").unlink()
    loaded = numbers.read_all(tmp_path, ["ml-100k"])
    assert claims.shorter(loaded, loaded).verdict == claims.OPEN


def test_the_page_is_filled_and_its_plots_are_drawn(tmp_path):
    results(tmp_path, flat)
    results(tmp_path, flat, seeds=(1,), name="filmtrust", gone=[("users, head", 0.1)])
    text = (page.HERE / "README.md").read_text("utf-8")
    made = page.made(tmp_path)
    filled = page.fill(text, made)
    assert page.fill(filled, made) == filled
    assert "| filmtrust | users, head | 10 % | 2 | too small |" in filled
    assert "| **+0.402** |" in filled  # random users are made the best
    sets = numbers.read_all(tmp_path, ["ml-100k"])
    for svg in plots.all_of(sets).values():
        assert svg.startswith("<svg")
    with pytest.raises(ValueError, match="0 places for 'nowhere'"):
        page.fill(text, {"nowhere": ""})


def test_a_folder_without_numbers_says_so(tmp_path):
    shutil.copytree(results(tmp_path, flat) / "ml-100k", tmp_path / "half")
    for path in (tmp_path / "half").glob("costs-*"):
        path.unlink()
    with pytest.raises(FileNotFoundError, match=r"half has no costs-SEED\.csv"):
        numbers.read(tmp_path / "half")


def test_pooling_lets_offsets_of_users_count():
    first = (np.array([2.0, 3.0]), np.array([1.0, 0.0]))
    second = (first[0] - 10, first[1] - 10)
    own, pooled = trap_auc.both([first, second])
    assert own == 1.0
    assert pooled == pytest.approx(0.75)  # targets of the second lie below all of the first
    assert trap_auc.auc(np.array([1.0]), np.array([1.0, 0.0])) == pytest.approx(0.75)


def test_choice_on_test_rows_takes_the_best_value_of_each_model():
    values = {"EASE 20.0": 0.1, "EASE 200.0": 0.3, "EASE 2000.0": 0.2, "SLIM 1.0": 0.05}
    assert trap_choice.best_of(values) == {"EASE": 0.3, "SLIM": 0.05}
    assert len(trap_choice.apart()) == 3 * len(trap_choice.searched())
    found = {("", 1.0): {"a": 1.0, "b": 2.0}, ("s", 0.1): {"a": 2.0, "b": 1.0}}
    assert trap_choice.taus(found, "s", [0.1]) == -1.0


def test_traps_are_averaged_over_seeds():
    import polars as pl

    rows = [
        {"seed": seed, "trap": "t", "sampler": "s", "without": 0.5, "with": 0.1 * seed,
         "without_same_terms": 0.4, "terms_without": 12, "terms_with": 8, "rows_at_smallest": 0.01}
        for seed in (1, 2, 3)
    ]  # fmt: skip
    line = tables.traps(pl.DataFrame(rows)).splitlines()[4]
    assert "| +0.500 | +0.200 | 12 → 8 | -0.200 | -0.300 … -0.100 |" in line
