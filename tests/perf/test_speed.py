"""Nothing gets slower by a fifth, and the suite that says so would see it."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.perf import suite

CASES = list(json.loads(suite.BASELINE.read_text())["counts"])


@pytest.fixture(scope="module")
def found() -> dict[str, int]:
    """Counts, all of one start under valgrind; skips aloud where they can't be had."""
    try:
        return suite.counts("--twice", "fullrank.kernels.bootstrap:poisson_sums", "bootstrap")
    except suite.CannotCountError as error:
        pytest.skip(f"SPEED WAS NOT CHECKED: {error}")


@pytest.fixture(scope="module")
def verdicts(found) -> dict[str, suite.Verdict]:
    try:
        return {verdict.name: verdict for verdict in suite.verdicts(found)}
    except suite.CannotCountError as error:
        pytest.skip(f"SPEED WAS NOT CHECKED: {error}")


@pytest.mark.parametrize("name", CASES)
def test_no_case_is_slower_than_its_baseline(name, verdicts):
    assert not verdicts[name].slower, (
        f"{verdicts[name]}; if what is gained is worth it, say so in the commit and run "
        f"{suite.COMMAND}"
    )


@pytest.mark.parametrize("name", CASES)
def test_a_gain_is_kept(name, verdicts):
    assert not verdicts[name].faster, f"{verdicts[name]}; keep the gain: {suite.COMMAND}"


@pytest.mark.parametrize("name", CASES)
def test_a_fifth_more_work_would_fail(name, found):
    verdict = suite.Verdict(name, found[name] + found[f"{name}: more"], found[name])
    assert verdict.slower, f"{verdict}: a fifth more work was not seen"


def test_a_kernel_that_works_twice_would_fail(found):
    verdict = suite.Verdict("bootstrap", found["bootstrap: twice"], found["bootstrap"])
    assert verdict.change > 0.5, str(verdict)


def test_a_machine_without_valgrind_is_told(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(suite.CannotCountError, match=r"apt-get install valgrind|are counted on"):
        suite.counts()


def test_another_build_is_told(monkeypatch):
    monkeypatch.setattr(suite, "versions", lambda: {"numpy": "1.0"})
    with pytest.raises(suite.CannotCountError, match=r"the baseline is of .* this is"):
        suite.verdicts({})
