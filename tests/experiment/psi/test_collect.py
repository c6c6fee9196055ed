"""Meta-data of a finished grid: taus, features of the samples themselves, costs."""

import numpy as np
import pytest
from tests.experiment.psi.worlds import psi_file, scenario

from fullrank.advise import Features, MetaData
from fullrank.advise.learners import Ridge
from fullrank.advise.table import cells
from fullrank.core.errors import DataError
from fullrank.experiment.psi import collect, psi, read_psi
from fullrank.experiment.psi.grid import _draw, reference
from fullrank.experiment.psi.samples import draw
from fullrank.experiment.psi.shapes import SeedsSpec
from fullrank.experiment.store import Store

QUICK = Features(singular_values=2, sources=8)
SAMPLERS = [
    {"name": "RandomInteractions", "label": "chance"},
    {"name": "HeadUsers"},
    {"name": "SVPCF", "label": "hard", "settings": {"unit": "user", "proxy": "EASE"}},
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A grid of two draws, in which few users are too few at the smaller size."""
    folder = tmp_path_factory.mktemp("grid")
    path = psi_file(
        folder, sampler=SAMPLERS, seeds={"sampler": [1, 2]}, keep=[0.6, 0.1],
        floor={"rows": 20, "users": 10, "items": 5},
        scenario=[scenario(metrics=["ndcg@10"], tune=None, model=[{"name": "Popularity"},
                  {"name": "ItemKNN"}, {"name": "EASE"}])],
    )  # fmt: skip
    results = psi(path, folder / "store")
    return folder, results, collect("small", results, folder / "store", base=folder, source="made",
                                    features=QUICK)  # fmt: skip


def test_taus_are_means_over_repeats_under_the_samplers_own_names(found):
    _, results, meta = found
    assert set(meta.taus["strategy"]) == {
        "RandomInteractions", "HeadUsers", "SVPCF(proxy=EASE, unit=user)"
    }  # fmt: skip
    mine = [t.values["tau"] for t in results.terms.terms
            if t.sampler == "hard" and t.place.keep == 0.6]  # fmt: skip
    row = meta.taus.filter(meta.taus["strategy"].str.starts_with("SVP"), meta.taus["keep"] == 0.6)
    assert row["repeats"].to_list() == [2]
    assert row["tau"][0] == pytest.approx(np.mean(mine), abs=1e-6)
    few = meta.taus.filter(meta.taus["strategy"] == "HeadUsers", meta.taus["keep"] == 0.1)
    assert few["tau"].to_list() == [None]  # below the floor
    assert few["repeats"].to_list() == [0]


def test_features_are_those_of_the_grids_samples(found):
    folder, _, meta = found
    spec, base, _ = read_psi(folder / "psi.toml")
    full = reference(spec, 0, 1, base)
    samples = draw(Store.open(folder / "store"), full, _draw(spec, 0, 2, 1, base), "hard")
    here = meta.features.filter(
        meta.features["strategy"].str.starts_with("SVP"), meta.features["keep"] == 0.6
    )
    of = QUICK.of(samples.folds[0.6].split.train, 0)
    assert here["sample.users.gini"][0] == pytest.approx(of["users.gini"], rel=1e-6)
    assert here["change.size.log_rows"][0] == pytest.approx(np.log(0.6), abs=0.01)
    assert len(meta.features) == 4  # two are below the floor


def test_costs_have_the_proxy_and_the_full_data(found):
    _, results, meta = found
    assert len(meta.costs) == 6
    hard = next(c for c in results.costs if c.sampler == "hard" and c.keep == 0.6)
    row = meta.costs.filter(
        meta.costs["strategy"].str.starts_with("SVP"), meta.costs["keep"] == 0.6
    ).row(0, named=True)
    assert row["draw_seconds"] == pytest.approx(hard.draw_seconds, abs=1e-4)
    assert row["study_seconds"] == pytest.approx(hard.study_seconds, abs=1e-4)
    assert row["full_seconds"] == pytest.approx(results.costs[0].study_seconds, abs=1e-4)
    assert meta.costs["study_seconds"].null_count() == 2


def test_what_is_said_of_the_data_set(found):
    _, _, meta = found
    told = meta.about["small"]
    assert told["source"] == "made"
    assert told["rows"] > told["users"] > 0
    assert told["scenarios"]["implicit"]["models"] == ["Popularity", "ItemKNN", "EASE"]


def test_learners_take_it_when_it_was_saved_and_joined(found, tmp_path):
    _, _, meta = found
    parts = []
    for j in range(3):
        tables = (t.with_columns(data=t["data"] + str(j))
                  for t in (meta.taus, meta.features, meta.costs))  # fmt: skip
        MetaData(*tables, {f"small{j}": meta.about["small"]}).save(tmp_path / str(j))
        parts.append(MetaData.load(tmp_path / str(j)))
    whole = MetaData.join(parts)
    assert whole.names == ["small0", "small1", "small2"]
    fitted = Ridge().fit(whole.taus, whole.features)
    known = cells(whole.taus)
    assert len(fitted.predict(known, whole.features)) == len(known) == 12


def test_samplers_of_the_same_settings_are_refused(found, tmp_path):
    twice = [{"name": "HeadUsers"}, {"name": "head_users", "label": "again"}]
    path = psi_file(tmp_path, sampler=twice, keep=[0.6], scenario=[
        scenario(metrics=["auc"], tune=None, model=[{"name": "Popularity"}, {"name": "EASE"}])
    ])  # fmt: skip
    results = psi(path, tmp_path / "store")
    with pytest.raises(DataError, match="'HeadUsers' and 'again' are both HeadUsers"):
        collect("small", results, tmp_path / "store", base=tmp_path)


def test_grids_of_single_seeds_come_to_the_same_as_one_of_all(found, tmp_path):
    folder, results, meta = found
    parts = []
    for seed in (1, 2):
        spec = results.spec.model_copy(update={"seeds": SeedsSpec(sampler=(seed,))})
        alone = psi(spec, folder / "store", base=folder)
        parts.append(collect("small", alone, folder / "store", base=folder, features=QUICK))
    both = MetaData.repeated(parts)
    assert both.taus.drop("tau", "tau_sd").equals(meta.taus.drop("tau", "tau_sd"))
    for name in ("tau", "tau_sd"):
        np.testing.assert_allclose(both.taus[name].fill_null(9), meta.taus[name].fill_null(9),
                                   atol=3e-6)  # fmt: skip
    assert both.features.equals(meta.features)
    np.testing.assert_allclose(both.costs["draw_seconds"], meta.costs["draw_seconds"], atol=3e-4)
