"""Psi as text, and as one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

from fullrank.core.paths import check_file_place
from fullrank.experiment.provenance import provenance
from fullrank.experiment.psi import PsiResults
from fullrank.report import _psi_grids as grids
from fullrank.report._aside import write_aside
from fullrank.report._figure import Looks
from fullrank.report._grid import Grid
from fullrank.report._numbers import percent_text, plain_text
from fullrank.report._psi_figures import psi_figures
from fullrank.report._wide import WIDTH, render_fitted, wrapped
from fullrank.report.html import page_of


def psi_text(found: PsiResults, *, width: int = WIDTH, color: bool = False) -> str:
    """What was measured, in words and tables.

    Args:
        found: from ``psi``.
        width: columns of the terminal.
        color: with escape codes for a terminal.
    """
    words = [wrapped(text, width) for text in grids.reading(found)]
    tables = [render_fitted(grid, width, color=color) for grid in _grids(found, grids.SHOWN)]
    return "\n\n".join(["\n".join(words), *(table.rstrip("\n") for table in tables)]) + "\n"


def print_psi(found: PsiResults) -> None:
    """Print ``psi_text`` as wide as the terminal, in colour where it has any."""
    from rich.console import Console

    console = Console()
    width = max(console.width, 60) if console.is_terminal else 120
    console.file.write(psi_text(found, width=width, color=console.color_system is not None))


def write_psi(found: PsiResults, path: str | Path) -> Path:
    """Write the report of Psi: one HTML file that opens without network.

    Args:
        found: from ``psi``.
        path: of the file; its folder must exist.
    """
    path = Path(path)
    check_file_place(path)
    return write_aside(path, render_psi(found))


def render_psi(found: PsiResults) -> str:
    """The HTML of Psi."""
    looks = Looks(found.terms.samplers, "")
    more = [grids.pair_grid(found), grids.sample_grid(found)]
    return page_of(
        "psi.html.j2",
        {
            "title": found.spec.name,
            "made": provenance()["time"],
            "reading": grids.reading(found),
            "grids": [*_grids(found, None), *(grid for grid in more if grid)],
            "figures": psi_figures(found, looks),
            "key": looks.key,
            "settings": _settings(found),
        },
    )


def _grids(found: PsiResults, most: int | None) -> list[Grid]:
    groups = [grids.group_grid(found, by) for by in ("size", "scenario", "metric")]
    made = [
        grids.psi_grid(found),
        *groups,
        grids.comparison_grid(found, most),
        grids.cost_grid(found),
        grids.missing_grid(found),
    ]
    return [grid for grid in made if grid is not None]


def _settings(found: PsiResults) -> list[tuple[str, str]]:
    """The protocol in words."""
    spec = found.spec
    catalogue = {
        "full": "items with training rows before the sampling, for all sizes",
        "subset": "items that the sample leaves a training row",
    }
    dropped = {
        "candidates": "candidates again, as the rows are no history any more",
        "masked": "left out for their users, as on the full data",
    }
    cold = {
        "apart": "ranked as the models do; Psi of the others is told beside",
        "fallback": "ranked by popularity for every model",
        "out": "left out",
    }
    return [
        ("Samplers", ", ".join(plain_text(s.title) for s in spec.sampler)),
        ("Sizes", ", ".join(percent_text(keep) for keep in spec.keep) + f", {spec.size}"),
        ("Seeds", "; ".join(f"{k} {plain_text(v)}" for k, v in spec.seeds.model_dump().items())),
        *((f"Split, {s.name}", s.split.strategy) for s in spec.scenario),
        ("Final fits", "on training rows alone; settings chosen on validation rows"),
        ("Catalogue", catalogue[spec.catalogue]),
        ("Users without training rows", cold[spec.cold_users]),
        ("Items of dropped rows", dropped[spec.dropped]),
    ]
