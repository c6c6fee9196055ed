"""Segments, ranks across data sets, costs and looks, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from tests.report.stores import make_results, ranks_of
from tests.report.test_board import row

from fullrank.core.ranked import TargetRanks
from fullrank.metrics import NDCG, Recall
from fullrank.report._across import across_grid, mean_ranks
from fullrank.report._costs import cost_grid
from fullrank.report._curves import curve_figures
from fullrank.report._figure import GREY, Looks
from fullrank.report._forest import _test_name
from fullrank.report._segments import _only, _target_rows, segment_figures, thirds
from fullrank.report._series import averaged
from fullrank.report._trials import ticks
from fullrank.report.board import boards
from fullrank.report.html import render_report


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_mean_ranks_are_those_of_scipy(values: list[int]) -> None:
    assert mean_ranks(np.array(values, dtype=float)).tolist() == rankdata(values).tolist()


def test_across_data_sets() -> None:
    rows = [
        row("A", 0.9),
        row("B", 0.8),
        row("C", 0.7),
        row("A", 0.1, data="e"),
        row("B", 0.3, data="e"),
        row("C", None, data="e"),
    ]
    grid = across_grid(boards(rows))
    assert grid is not None
    shown = {cells[0].text: (cells[1].text, cells[1].more) for cells in grid.rows}
    assert shown == {"A": ("1.50", ("1 best",)), "B": ("1.50", ("1 best",)), "C": ("–", ())}
    assert across_grid(boards(rows[:3])) is None


def test_across_data_sets_lower_is_better() -> None:
    rows = [row(m, v, "MeanRank", data=d) for d in "de" for m, v in (("A", 5.0), ("B", 9.0))]
    grid = across_grid(boards(rows))
    assert grid is not None
    assert [cells[1].text for cells in grid.rows] == ["1.00", "2.00"]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_thirds_hold_every_count_once(counts: list[int]) -> None:
    array = np.array(counts)
    spans = thirds(array, ("low", "mid", "high"), "none", "rows")
    held = sum(span.holds(array).astype(int) for span in spans)
    assert held.tolist() == [1] * len(counts)
    assert all(span.holds(array).any() for span in spans)
    assert (spans[0].name == "none") == (0 in counts)


def test_thirds_by_hand() -> None:
    spans = thirds(np.array([0, 1, 2, 3, 4, 5, 6]), ("tail", "middle", "head"), "new", "rows")
    assert [s.name for s in spans] == [
        "new",
        "tail (1–2 rows)",
        "middle (3–4 rows)",
        "head (5–6 rows)",
    ]


def test_targets_of_one_part_keep_their_ranks(tmp_path: Path) -> None:
    """Recall over the targets of a part equals counting them one by one."""
    results = make_results(tmp_path / "s", {"a": ranks_of(0.5, 30, 1, targets=3)})
    cell = results.cells[0]
    rows = _target_rows(cell)
    assert rows.tolist() == (cell.ranked.items * 10).tolist()
    (span,) = [s for s in thirds(rows, ("t", "m", "h"), "new", "rows") if s.name == "new"]
    values = averaged(results, "hand", "a", [Recall @ 10], _only(span))[:, 0]
    ranked = cell.ranked
    for q in range(len(ranked)):
        part = slice(ranked.indptr[q], ranked.indptr[q + 1])
        best = ranked.best[part][rows[part] == 0]
        expected = np.mean(best <= 10) if len(best) else np.nan
        assert values[q] == pytest.approx(expected, nan_ok=True)


def test_values_are_averaged_over_seeds(tmp_path: Path) -> None:
    one, two = ranks_of(0.5, 30, 1), ranks_of(0.5, 30, 2)
    results = make_results(tmp_path / "s", {"a": [one, two]})
    found = averaged(results, "hand", "a", [NDCG @ 10])[:, 0]
    wanted = ((NDCG @ 10).per_query(one) + (NDCG @ 10).per_query(two)) / 2
    assert found == pytest.approx(wanted)


def test_costs(tmp_path: Path) -> None:
    resources = {"fit_seconds": 2.0, "rank_seconds": 0.5, "fit_joules": 10.0, "rank_joules": 5.0}
    results = make_results(tmp_path / "s", {"a": ranks_of(0.5, 30, 1)}, resources=resources)
    grid = cost_grid(results, "hand")
    assert grid.header[-1] == "energy"
    assert [cell.text for cell in grid.rows[0]] == [
        "a",
        "1",
        "2 s",
        "500 ms",
        "60",
        "–",
        "–",
        "15 J",
    ]
    without = replace(results, cells=())
    assert cost_grid(without, "hand").rows == ()


def test_models_look_different_and_the_baseline_is_grey() -> None:
    looks = Looks(tuple(f"m{i}" for i in range(30)), "m3")
    pairs = list(zip(looks.colours, map(tuple, looks.dashes)))
    assert looks.colours[3] == GREY
    assert len(set(pairs)) == 30


@pytest.mark.parametrize(
    ("last", "expected"),
    [(1, [1]), (3, [1, 2, 3]), (20, [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]), (60, None)],
)
def test_trials_are_numbered_from_one(last: int, expected: list[int] | None) -> None:
    found = ticks(last)
    assert found[0] == 1
    assert found[-1] <= last
    assert len(found) <= 12
    assert expected is None or found == expected


def test_no_chart_is_empty(tmp_path: Path) -> None:
    nothing = TargetRanks.of([[]] * 30, n_candidates=[50] * 30)
    results = make_results(tmp_path / "s", {"a": nothing, "b": nothing})
    looks = Looks(results.models, "a")
    assert curve_figures(results, "hand", looks) == {}
    assert segment_figures(results, "hand", looks) == []
    assert "No ranking metric has a value here." in render_report(results)


def test_a_test_without_a_note_has_no_empty_brackets() -> None:
    assert _test_name({"test": "paired t by user", "note": "9 degrees"}).endswith("(9 degrees)")
    assert (
        _test_name({"test": "sign flip by user, exact", "note": ""}) == "sign flip by user, exact"
    )
