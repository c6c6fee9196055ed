"""An analysis as text, and as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fullrank.core.paths import check_file_place
from fullrank.experiment.analyse import Analysis
from fullrank.experiment.provenance import provenance
from fullrank.report import _analysis_figures as figures
from fullrank.report import _analysis_grids as grids
from fullrank.report import _analysis_words as words
from fullrank.report._aside import write_aside
from fullrank.report._figure import Figure, Looks
from fullrank.report._grid import Grid
from fullrank.report._wide import WIDTH, render_fitted, wrapped
from fullrank.report.html import page_of

SHOWN = 10
"""Pairs of conditions that the text shows; the page and JSON have all."""


@dataclass(frozen=True)
class Part:
    """One analysis, in the order of the page.

    Attributes:
        name: heading.
        sentences: what the tables say in words.
        grids: tables.
        figures: charts.
    """

    name: str
    sentences: list[str]
    grids: list[Grid]
    figures: list[Figure]


def analysis_text(analysis: Analysis, *, width: int = WIDTH, color: bool = False) -> str:
    """Every part as tables and sentences.

    Args:
        analysis: from ``analyse``.
        width: columns of the terminal.
        color: with escape codes for a terminal.
    """
    parts = [wrapped(text, width) + "\n" for text in words.conditions_words(analysis)]
    for part in _parts(analysis, most=SHOWN):
        parts += [render_fitted(grid, width, color=color) for grid in part.grids]
        parts += ["\n".join([*(wrapped(text, width) for text in part.sentences), ""])]
    return "\n".join(parts)


def print_analysis(analysis: Analysis) -> None:
    """Print ``analysis_text`` as wide as the terminal, in colour where it has any."""
    from rich.console import Console

    console = Console()
    width = max(console.width, 60) if console.is_terminal else 120
    text = analysis_text(analysis, width=width, color=console.color_system is not None)
    console.file.write(text)


def write_analysis(analysis: Analysis, path: str | Path) -> Path:
    """Write the report of an analysis: one HTML file that opens without network.

    Args:
        analysis: from ``analyse``.
        path: of the file; its folder must exist.
    """
    path = Path(path)
    check_file_place(path)
    return write_aside(path, render_analysis(analysis))


def render_analysis(analysis: Analysis) -> str:
    """The HTML of an analysis."""
    looks = Looks(analysis.study.models, "")
    factors = [{**c.factors, **c.settings} for c in analysis.study.conditions]
    made = provenance()
    return page_of(
        "analysis.html.j2",
        {
            "title": "Analysis",
            "made": made["time"],
            "parts": _parts(analysis, charts=True),
            "reading": words.conditions_words(analysis),
            "conditions": list(zip(analysis.study.conditions, factors, strict=True)),
            "key": looks.key,
        },
    )


def _parts(analysis: Analysis, most: int | None = None, *, charts: bool = False) -> list[Part]:
    """The parts that ran."""
    made: dict[str, Callable[[], Part]] = {
        "co-optimality": lambda: _co_optimality(analysis, charts),
        "correlation": lambda: _correlation(analysis, charts),
        "stability": lambda: _stability(analysis, most, charts),
        "effects": lambda: _effects(analysis, charts),
        "costs": lambda: _costs(analysis, charts),
    }
    return [make() for name, make in made.items() if name in analysis.parts]


def _co_optimality(analysis: Analysis, charts: bool) -> Part:
    found = analysis.co_optimality
    tip = "How often what is best by the row's metric is best by the column's."
    maps = figures.matrix_figures(found.matrices, "Co-optimality", 0.0, tip) if found else []
    said = words.co_optimality_words(analysis)
    tables = grids.co_optimality_grids(analysis)
    return Part("Co-optimality of metrics", said, tables, maps if charts else [])


def _correlation(analysis: Analysis, charts: bool) -> Part:
    tip = "Kendall's tau-b between the orders of models that two metrics give."
    maps = figures.matrix_figures(analysis.correlation, "Correlation", -1.0, tip)
    said = words.correlation_words(analysis)
    return Part(
        "Correlation of metrics", said, grids.correlation_grids(analysis), maps if charts else []
    )


def _stability(analysis: Analysis, most: int | None, charts: bool) -> Part:
    first = analysis.stability[0].metric if analysis.stability else ""
    rows = [row for row in analysis.stability if row.metric == first]
    by_factor = grids.by_factor_grid(analysis)
    tables = [by_factor] if by_factor else []
    if most is not None and rows:  # the page has the pairs below its charts
        tables.append(grids.stability_grid(rows, most))
    maps = figures.stability_figures(analysis) if charts else []
    return Part("Stability of ranks", words.stability_words(analysis), tables, maps)


def _effects(analysis: Analysis, charts: bool) -> Part:
    tables = [grids.effects_grid(analysis), grids.variance_grid(analysis)]
    drawn = [*figures.effect_figures(analysis), *figures.variance_figures(analysis)]
    said = words.effects_words(analysis)
    return Part("Effects of factors", said, [g for g in tables if g], drawn if charts else [])


def _costs(analysis: Analysis, charts: bool) -> Part:
    table = grids.costs_grid(analysis)
    looks = Looks(analysis.study.models, "")
    drawn = figures.cost_figures(analysis, looks) if charts else []
    return Part("Cost", words.costs_words(analysis), [table] if table else [], drawn)
