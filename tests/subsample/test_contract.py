"""What every sampler promises: exact sizes, nested samples, the same rows whatever their order."""

from __future__ import annotations

import json
from math import floor

import numpy as np
import pytest
from tests.subsample.worlds import LOW, rows, shuffled, world

import fullrank as fr
from fullrank.core.errors import DataError, SpecError
from fullrank.core.registry import names
from fullrank.subsample import Floor, Subsample, parse_sampler, subsample, subsamples

SHARES = [0.8, 0.6, 0.4, 0.2, 0.1, 0.01]
QUICK = "proxy=BPRMF(embedding_dim=4, epochs=2)"
ALL = [
    f"{name}({QUICK})" if "proxy" in parse_sampler(name).settings else name
    for name in names("subsampler")
]
EXACT = [name for name in ALL if parse_sampler(name).exact]
PUBLISHED = [name for name in ALL if parse_sampler(name).published]
TRAIN = world()


@pytest.mark.parametrize("name", EXACT)
def test_sizes_are_exact_and_samples_nested(name):
    samples = subsamples(TRAIN, name, SHARES, 3, floor=LOW)
    before = np.arange(len(TRAIN))
    for share, sample in zip(SHARES, samples):
        gone = floor(round((1 - share) * 100) * len(TRAIN) / 100)
        assert len(sample.rows) == len(TRAIN) - gone
        assert sample.manifest["exact"]
        assert np.isin(sample.rows, before).all()
        before = sample.rows


@pytest.mark.parametrize("name", EXACT)
def test_one_size_is_what_it_is_among_several(name):
    several = subsamples(TRAIN, name, SHARES, 3, floor=LOW)
    for share, sample in zip(SHARES[2:4], several[2:4]):
        assert np.array_equal(subsample(TRAIN, name, share, 3, floor=LOW).rows, sample.rows)


@pytest.mark.parametrize("name", ALL)
def test_the_order_of_the_rows_changes_nothing(name):
    one = subsample(TRAIN, name, 0.3, 5, floor=LOW)
    other = subsample(shuffled(TRAIN), name, 0.3, 5, floor=LOW)
    assert one.manifest["fingerprint"] == other.manifest["fingerprint"]


@pytest.mark.parametrize("name", [name for name in ALL if parse_sampler(name).seeded])
def test_another_seed_gives_another_sample(name):
    one, other = (subsample(TRAIN, name, 0.3, seed, floor=LOW).rows for seed in (1, 2))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("name", EXACT)
def test_whole_units_are_never_cut(name):
    sample = subsample(TRAIN, name, 0.4, 1, size="whole", floor=LOW)
    assert len(sample.rows) <= 0.4 * len(TRAIN)
    if sample.manifest["units"] in ("users", "items"):
        codes = getattr(TRAIN, sample.manifest["units"])
        kept = np.bincount(codes[sample.rows], minlength=codes.max() + 1)
        whole = np.bincount(codes)
        assert ((kept == 0) | (kept == whole)).all()


@pytest.mark.parametrize("name", PUBLISHED)
def test_faithful_samples_say_that_they_are(name):
    sample = subsample(TRAIN, name, 0.4, 1, size="faithful", floor=LOW)
    assert 0 < len(sample.rows) < len(TRAIN)
    assert sample.manifest["size"] == "faithful"
    assert any("mistakes" in note for note in sample.manifest["notes"])


def test_what_is_not_published_has_nothing_to_be_faithful_to():
    with pytest.raises(SpecError, match="RandomItems is no strategy of the published code"):
        subsample(TRAIN, "RandomItems", 0.4, size="faithful")


def test_the_manifest_counts_what_is_left():
    train = rows([1, 1, 2, 3], [7, 8, 8, 9])
    sample = subsample(train, "HeadUsers", 0.5, floor=LOW)
    told = sample.manifest
    assert json.loads(json.dumps(told)) == told
    assert told["asked"] == {"rows": 2, "share": 0.5}
    assert told["realised"] == {
        "rows": {"kept": 2, "of": 4, "share": 0.5},
        "users": {"kept": 1, "of": 3, "share": 1 / 3},
        "items": {"kept": 2, "of": 3, "share": 2 / 3},
    }
    assert told["cold_users"] == {"count": 2, "policy": "apart"}
    assert told["catalogue"] == {"policy": "full", "items": 3, "cold_items": 1}
    assert told["fingerprint"]["train"] == train.fingerprint
    assert told["fingerprint"]["sample"] == sample.train.fingerprint
    assert sample.train.recipe[-1]["subsample"]["strategy"] == "HeadUsers"
    assert sample.catalogue.tolist() == [True] * 3
    assert "2 rows" in repr(sample)


@pytest.mark.parametrize("name", [name for name in ALL if "proxy" not in name])
def test_held_out_rows_of_a_split_are_untouched(name):
    split = fr.LeaveLast(n=1, valid=1).split(TRAIN)
    sample = subsample(split, name, 0.4, 1, floor=LOW)
    assert isinstance(sample, Subsample)
    for part in ("valid", "test"):
        assert sample.split.part_fingerprints[part] == split.part_fingerprints[part]
    assert sample.split.train.fingerprint == sample.train.fingerprint
    refitted = sample.split.fit_rows("train+valid")
    assert len(refitted) == len(sample.rows) + split.counts["valid"]
    assert sample.split.recipe["subsample"]["keep"] == 0.4
    assert any("left out" in note for note in sample.split.notes)


def test_rows_of_a_refit_are_left_out_too():
    split = fr.LeaveLast(n=1, valid=1).split(TRAIN)
    chosen = fr.Split(split.data, split.part, split.recipe, refit=split.fit_mask("train+valid"))
    sample = subsample(chosen, "RandomUsers", 0.4, floor=LOW)
    assert len(sample.split.fit_rows("train+valid")) == len(sample.rows) + split.counts["valid"]


@pytest.mark.parametrize("keep", [0, 1, -0.1, 1.5, "half", True, float("nan")])
def test_shares_outside_are_refused(keep):
    with pytest.raises(SpecError, match=r"keep must be a share in \(0, 1\), got"):
        subsample(TRAIN, "RandomUsers", keep)


def test_a_sample_below_the_floor_is_refused():
    with pytest.raises(
        DataError, match=r"RandomUsers with keep = 0.1 leaves 60 rows, .* of 600 rows"
    ):
        subsample(TRAIN, "RandomUsers", 0.1)
    with pytest.raises(DataError, match=r"at least 50 users; .*--floor users=\d+"):
        subsample(TRAIN, "HeadUsers", 0.3)
    with pytest.raises(SpecError, match="floor: users must be a whole number >= 1"):
        Floor(users=0)


def test_what_is_no_strategy_is_refused():
    with pytest.raises(SpecError, match="unknown strategy 'RandomUser'; did you mean"):
        subsample(TRAIN, "RandomUser", 0.1)
    with pytest.raises(SpecError, match="has no setting 'units'"):
        subsample(TRAIN, "RandomUsers(units=3)", 0.1)
    with pytest.raises(SpecError, match="settings by name only"):
        subsample(TRAIN, "RandomUsers(3)", 0.1)
    with pytest.raises(SpecError, match="a strategy is a sampler or its name"):
        subsample(TRAIN, 3, 0.1)
    with pytest.raises(SpecError, match="size must be one of exact, whole, faithful"):
        subsample(TRAIN, "RandomUsers", 0.5, size="half")
    with pytest.raises(DataError, match="no training rows"):
        subsample(TRAIN.take(np.zeros(len(TRAIN), bool)), "RandomUsers", 0.5)
