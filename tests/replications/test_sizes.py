"""The table of sizes sees a manifest that is incomplete or disagrees with itself."""

import pytest
from replications.svpcf.sizes import HEAD, _line, faults
from tests.subsample.worlds import world

from fullrank.subsample import Floor, subsample


@pytest.fixture(scope="module")
def manifest():
    return subsample(world(), "RandomUsers", 0.4, floor=Floor(1, 1, 1)).manifest


def test_a_manifest_is_complete(manifest):
    assert faults(manifest, 0.4) == []
    line = _line(manifest, "RandomUsers", 0.4)
    assert len(line) == len(HEAD)
    assert line[-1] == "complete"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"about": None}, "about: of another kind"),
        ({"exact": False}, "exact: not what the rows say"),
        ({"keep": 0.2}, "keep: not what was asked"),
        ({"cold_users": {"count": -1}}, "cold users: not those without rows"),
        ({"catalogue": {"cold_items": -1}}, "cold items: not those without rows"),
    ],
)
def test_faults_are_named(manifest, changes, fault):
    assert faults({**manifest, **changes}, 0.4) == [fault]
    del (bare := dict(manifest))["seconds"]
    assert faults(bare, 0.4) == ["seconds: missing"]
