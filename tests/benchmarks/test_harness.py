"""The benchmark table says what it should; the figures themselves are no test."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from benchmarks._measure import alone
from benchmarks._rows import HEAD, Row, table
from benchmarks._world import HISTORY, TARGETS, recall_at_10, world
from benchmarks.growth import decades, fitted

from benchmarks import __main__ as command
from benchmarks import _peers

ROW = Row(
    "ranking", "at most 2x", 3.0, True, limit=2.0, limit_name="sgemm",
    peers={"fast": 6.0, "slow": 30.0, "none": "no wheel"}, note="median of 3",
)  # fmt: skip


def test_row_tells_ratio_and_peers():
    assert ROW.ratio == 1.5
    assert ROW.fastest_peer == 6.0
    assert ROW.cells() == [
        "ranking (median of 3)", "at most 2x", "sgemm 2.00 s",
        "fast 6.00 s (2.0×); slow 30.0 s (10.0×); none: no wheel", "3.00 s", "1.50×", "yes",
    ]  # fmt: skip


def test_row_without_figure_is_not_a_zero():
    row = Row("x", "under 1 s", None, False, limit=1.0, peers={"other": 2.0})
    assert row.ratio is None
    assert row.cells()[3:] == ["other 2.00 s", "–", "–", "**no**"]


def test_table_keeps_its_columns_whatever_a_note_says():
    lines = table([ROW, Row("a | b", "", 1.0, None)]).splitlines()
    assert {line.count("|") for line in lines} == {len(HEAD) + 1}


def test_alone_ends_the_workers_of_what_it_ends(tmp_path):
    """One that went on would run beside all that is measured after it."""
    mark = tmp_path / "alive"
    worker = f"sleep 2 && touch {mark}"
    assert alone("os:system", f"sh -c '{worker}' & sleep 60", limit=0.5).error.startswith("over")
    time.sleep(2.5)
    assert not mark.exists()


def test_alone_gives_value_time_and_memory_or_the_reason():
    found = alone("math:sqrt", 4.0)
    assert found.value == 2.0
    assert found.peak_gib > 0
    assert found.process_seconds >= found.seconds
    assert alone("math:sqrt", -1.0).error == "ValueError: math domain error"
    assert alone("time:sleep", 60, limit=0.5).error == "over 0 s"
    assert "MemoryError" in alone("builtins:bytearray", 2**31, gib=1).error


def test_failed_part_is_a_row():
    rows = command.rows_of(alone("benchmarks._rows:as_json", "absent", True))
    assert rows[0].met is False
    assert "absent" in rows[0].note


def test_quick_runs_judge_no_goals():
    missed = [replace(ROW, met=False)]
    assert command.heading("lists", missed, quick=False) == "## lists: not all goals are met"
    assert command.heading("lists", [ROW], quick=False) == "## lists"
    assert (
        command.heading("lists", missed, quick=True)
        == "## lists: goals are not judged at these sizes"
    )
    failed = command.rows_of(alone("benchmarks._rows:as_json", "absent", True))
    assert command.heading("absent", failed, quick=True) == "## absent: failed"


def test_section_of_the_readme_is_replaced_alone():
    page = "before\n<!-- lists -->\nold\n<!-- /lists -->\nafter"
    found = command.written(page, "lists", r"new \1")
    assert found == "before\n<!-- lists -->\n\nnew \\1\n\n<!-- /lists -->\nafter"
    assert command.written(found, "lists", r"new \1") == found
    with pytest.raises(ValueError, match="training"):
        command.written(page, "training", "new")


@pytest.mark.parametrize("part", command.PARTS)
def test_every_part_has_a_place(part):
    command.written(command.README.read_text("utf-8"), part, "")


def test_peer_that_cannot_be_installed_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setenv("FULLRANK_PEERS", str(tmp_path))
    missing = (str(tmp_path / "absent.whl"),)
    for _ in range(2):
        with pytest.raises(_peers.PeerUnavailableError, match=r"absent\.whl"):
            _peers.python_of("absent", missing)
    assert (tmp_path / "absent" / ".failed").exists()


@pytest.mark.parametrize("c", [128, 1000])
def test_world_is_one_problem_for_all(c):
    w = world(50, c, 8)
    items = np.concatenate([w.history, w.targets], axis=1)
    assert w.history.shape == (50, HISTORY)
    assert w.targets.shape == (50, TARGETS)
    assert all(len(set(row)) == HISTORY + TARGETS for row in items.tolist())
    assert 0 <= items.min() <= items.max() < c
    few = world(20, c, 8)
    np.testing.assert_array_equal(few.users, w.users[:20])
    np.testing.assert_array_equal(few.targets, w.targets[:20])
    assert recall_at_10(w.targets, w.targets) == 1.0
    assert recall_at_10(w.history[:, :10], w.targets) == 0.0


@pytest.mark.parametrize("exponent", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("constant", [0.0, 0.02])
def test_fit_finds_the_exponent(exponent, constant):
    sizes = decades(100, 100_000)
    rng = np.random.default_rng(0)
    noise = np.exp(rng.normal(0, 0.02, len(sizes)))
    values = (constant + 1e-4 * np.array(sizes) ** exponent) * noise
    fit = fitted(list(sizes), values.tolist())
    assert fit.exponent == pytest.approx(exponent, abs=0.08)
    assert abs(fit.exponent - exponent) < 4 * fit.error + 0.01


def test_fit_needs_points():
    assert fitted([1, 10, 100], [1.0, 1.0, 1.0]) is None
    assert fitted([1, 10, 100, 1000], [1.0, float("nan"), 1.0, 0.0]) is None


def test_decades_are_even():
    assert decades(1000, 1_000_000) == (1000, 3200, 10_000, 32_000, 100_000, 320_000, 1_000_000)
