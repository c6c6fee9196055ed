"""Samplers that go by the importance of rows share the training of their proxy."""

import pytest
from tests.experiment.psi.worlds import content, psi_file

from fullrank.core.errors import DataError, StoreError
from fullrank.experiment.psi import psi
from fullrank.experiment.psi.grid import _draw, reference
from fullrank.experiment.psi.proxies import with_proxy
from fullrank.experiment.psi.samples import draw
from fullrank.experiment.psi.shapes import PsiSpec
from fullrank.experiment.psi.spec import floor_of
from fullrank.experiment.spec import parse_as
from fullrank.experiment.store import Store, plain
from fullrank.subsample import Importance, _by_importance, subsamples

SAMPLERS = [
    f"{name}({settings}proxy={proxy})"
    for name, settings in (
        ("SVPCF", ""), ("SVPCF", "unit=user, "), ("SVPCFProp", ""), ("SVPCFProp", "unit=user, "),
    )
    for proxy in ("BPRMF(epochs=3)", "bias_only")
]  # fmt: skip


@pytest.fixture
def trainings(monkeypatch):
    """Proxies that were asked for the importance of rows, one entry a training."""
    asked, learn = [], _by_importance.importance

    def counted(train, proxy, **settings):
        asked.append((proxy, settings["rng"]))
        return learn(train, proxy, **settings)

    monkeypatch.setattr(_by_importance, "importance", counted)
    return asked


def drawn(folder, samplers, **changes):
    """The fold, and samples by strategy and seed."""
    psi_file(folder)
    names = [{"name": name, "label": name} for name in samplers]
    spec = parse_as(PsiSpec, content(sampler=names, **changes))
    full = reference(spec, 0, 1, folder)
    store = Store.open(folder / "store", create=True)
    return full, {
        (name, seed): draw(store, full, _draw(spec, 0, j, seed, folder), name)
        for j, name in enumerate(samplers)
        for seed in spec.seeds.sampler
    }


def stable(manifest):
    """A manifest without times."""
    about = {key: value for key, value in manifest["about"].items() if key != "cost"}
    return {**{k: v for k, v in manifest.items() if k != "seconds"}, "about": about}


@pytest.mark.parametrize(
    ("size", "samplers"),
    [("exact", [*SAMPLERS, "ScoreStratified(proxy=bias_only)"]), ("faithful", SAMPLERS)],
)
def test_each_proxy_is_trained_once_and_samples_are_those_of_a_sampler_alone(
    tmp_path, trainings, size, samplers
):
    full, shared = drawn(tmp_path, samplers, size=size, seeds={"sampler": [1, 2]})
    assert len(trainings) == len(set(trainings)) == 2 * 2  # proxies times draws
    for (name, seed), found in shared.items():
        alone = subsamples(
            full.split, name, [0.6, 0.3], seed, size=size,
            floor=floor_of(parse_as(PsiSpec, content())),
        )  # fmt: skip
        for keep, sample in zip((0.6, 0.3), alone, strict=True):
            told = found.manifests[keep]
            assert found.folds[keep].split.fingerprint == sample.split.fingerprint
            assert stable(told) == stable(plain(sample.manifest))
            # Each pays for the whole training, as if no other sampler had used it.
            proxy = told["about"]["cost"]
            assert told["seconds"]["order"] > proxy["proxy_seconds"] > 0
            assert found.resources["sample_seconds"] > proxy["proxy_seconds"]
            assert found.resources["sample_cpu_seconds"] > proxy["proxy_cpu_seconds"]


def test_proxies_of_other_scenarios_or_settings_are_others(tmp_path, trainings):
    names = ["SVPCF(proxy=bias_only)", "SVPCF(proxy=bias_only, scenario=explicit)"]
    drawn(tmp_path, [*names, "SVPCF(proxy=BPRMF(epochs=2))", "SVPCF(proxy=BPRMF(epochs=3))"])
    assert len(trainings) == 4


def test_a_second_run_learns_nothing_and_a_damaged_importance_is_named(tmp_path, trainings):
    first = drawn(tmp_path, SAMPLERS[1:2])[1]
    again = drawn(tmp_path, SAMPLERS[1:4:2])[1]
    assert len(trainings) == 1
    assert again[SAMPLERS[1], 1].manifests == first[SAMPLERS[1], 1].manifests
    (kept,) = (tmp_path / "store" / "importance").iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(StoreError, match=r"is damaged .* delete it and run again"):
        drawn(tmp_path, SAMPLERS[5:6])


def test_a_file_of_importances_is_looked_at_before_any_fit_and_known_by_its_content(tmp_path):
    sampler = [{"name": "SVPCF", "settings": {"importance": "given.npz"}}]
    path, store = psi_file(tmp_path, sampler=sampler), tmp_path / "runs"
    with pytest.raises(DataError, match=r"psi.toml line \d+: there is no file .*given.npz"):
        psi(path, store)
    assert not store.exists()
    spec = parse_as(PsiSpec, content(sampler=sampler))
    full = reference(spec, 0, 1, tmp_path)
    rows, keys = full.split.train, []
    for values in (rows.users, rows.items, rows.users):
        Importance(values.astype(float), rows.fingerprint, {}).save(tmp_path / "given.npz")
        keys.append(_draw(spec, 0, 0, 1, tmp_path).key(full))
    assert keys[0] == keys[2] != keys[1]


def test_what_is_not_known_of_the_costs_stays_unknown():
    sample = {"sample_seconds": 1.0, "sample_peak_mib": 50.0, "sample_joules": 3.0}
    proxy = {"proxy_seconds": 2.0, "proxy_peak_mib": 80.0, "proxy_joules": None}
    assert with_proxy(sample, proxy) == {
        "sample_seconds": 3.0, "sample_peak_mib": 80.0, "sample_joules": None,
    }  # fmt: skip
