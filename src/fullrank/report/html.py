"""One self-contained HTML file: protocol, leaderboard, charts, costs, provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fullrank.experiment.leaderboard import leaderboard, paired_tests
from fullrank.experiment.results import Results
from fullrank.experiment.store import Store
from fullrank.report import _protocol as protocol
from fullrank.report._across import across_grid
from fullrank.report._aside import write_aside
from fullrank.report._board_view import BoardView, board_view
from fullrank.report._costs import cost_figures, cost_grid
from fullrank.report._curves import curve_figures, curve_note
from fullrank.report._facts import conventions, provenance_terms
from fullrank.report._figure import Figure, Looks
from fullrank.report._forest import forest_figures, forest_note
from fullrank.report._grid import Grid
from fullrank.report._segments import segment_figures
from fullrank.report._sentences import reading
from fullrank.report._trials import settings_grid, trial_figures
from fullrank.report.board import Row, boards, untested
from fullrank.report.standing import standings
from fullrank.report.text import NO_VALUE

VL_VERSION = "6.4"
"""Vega-Lite of the bundle; Altair 6 writes this version's specifications."""

SEGMENTS = {"all": "All users", "warm": "Warm users", "cold": "Cold users"}


@dataclass(frozen=True)
class DataSection:
    """Everything about one data set, in the order of the page."""

    name: str
    boards: dict[str, BoardView]
    forests: dict[str, tuple[str, list[Figure]]]
    curves: dict[str, list[Figure]]
    segments: list[Figure]
    costs: list[Figure]
    cost_grid: Grid
    trials: list[Figure]
    settings: Grid
    terms: dict[str, protocol.Terms]
    parts: Grid
    counts: Grid


def write_report(results: Results | Store | str | Path, path: str | Path) -> Path:
    """Write the report of a benchmark: one HTML file that opens without network.

    Args:
        results: of a benchmark, or the store that holds them.
        path: of the file; its folder must exist.

    Returns:
        The path.

    Raises:
        StoreError: no finished benchmark in the store, or a cell is damaged.
    """
    found = results if isinstance(results, Results) else Results.load(results)
    return write_aside(Path(path), render_report(found))


def render_report(results: Results) -> str:
    """The HTML of a report."""
    rows, tests = leaderboard(results), paired_tests(results)
    looks = Looks(results.models, results.spec.baseline_title)
    sections = [_section(results, data, rows, tests, looks) for data in results.data]
    page = {
        "title": results.spec.name,
        "readings": reading(standings(results, tests)),
        "across": across_grid(boards(rows, tests)),
        "sections": sections,
        "segments": SEGMENTS,
        "no_value": NO_VALUE,
        "key": looks.key,
        "curve_note": curve_note(results),
        "baseline": results.spec.baseline_title,
        "conventions": conventions(results),
        "provenance": provenance_terms(results),
    }
    return page_of("report.html.j2", page)


def page_of(template: str, content: Mapping[str, Any]) -> str:
    """The HTML of a page that needs nothing beside it.

    Args:
        template: its name.
        content: what the template asks for, but styles and scripts.
    """
    shared = {
        "css": _template_text("report.css"),
        "script": _template_text("report.js"),
        "bundle": _bundle(),
    }
    return str(_environment().get_template(template).render({**content, **shared}))


def _section(
    results: Results, data: str, rows: Sequence[Row], tests: Sequence[Row], looks: Looks
) -> DataSection:
    found = {
        users: board
        for users in SEGMENTS
        for board in boards(rows, tests, users=users)
        if board.data == data
    }
    here = {u: [t for t in tests if t["data"] == data and t["users"] == u] for u in found}
    here = {users: judged for users, judged in here.items() if judged}
    return DataSection(
        name=data,
        boards={users: board_view(board, looks.baseline) for users, board in found.items()},
        forests={
            u: (" ".join([forest_note(judged), *untested(found[u])]), forest_figures(judged))
            for u, judged in here.items()
        },
        curves=curve_figures(results, data, looks),
        segments=segment_figures(results, data, looks),
        costs=cost_figures(results, data, looks),
        cost_grid=cost_grid(results, data),
        trials=trial_figures(results, data, looks),
        settings=settings_grid(results, data),
        terms={
            "Data": protocol.data_terms(results, data),
            "Split": protocol.split_terms(results, data),
            "Ranking": protocol.ranking_terms(results, data),
            "Settings": protocol.tuning_terms(results),
        },
        parts=protocol.parts_grid(results, data),
        counts=protocol.counts_grid(results, data),
    )


def script_json(content: Any) -> str:
    """JSON that can stand inside ``<script>``: no ``<`` ends it early."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["script_json"] = lambda content: Markup(script_json(content))  # noqa: S704
    environment.filters["trusted"] = Markup
    return environment


def _template_text(name: str) -> str:
    return Path(__file__).with_name("templates").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _bundle() -> str:
    """Vega, Vega-Lite and the embedder in one script."""
    import vl_convert

    # Its stub asks for a snippet that its documentation calls optional.
    bundle: str = vl_convert.javascript_bundle(vl_version=VL_VERSION)  # type: ignore[call-arg]
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
