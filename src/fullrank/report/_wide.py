"""Text tables that keep to a width: stacked cells, and as many parts as that needs."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from fullrank.core.text import one_line
from fullrank.report._grid import Grid, notes_of, render_text

WIDTH = 100
"""Columns of a text file that editors and mails show whole."""


def render_fitted(grid: Grid, width: int = WIDTH, *, color: bool = False) -> str:
    """One line a model if that fits, else stacked cells, in as many parts as that needs.

    Args:
        grid: the table; the models' own names are never cut.
        width: columns of the terminal or file.
        color: with escape codes for a terminal.
    """
    notes = [wrapped(note, width) for note in notes_of(grid, "*")]
    bare = replace(grid, notes=())
    if _width(bare, stacked=False) <= width:
        tables = [_bare_text(bare, color=color)]
    else:
        parts = _fitting(bare, width)
        tables = [_bare_text(part, stacked=True, color=color) for part in parts]
    return "\n".join([*tables, *notes, ""])


def wrapped(text: str, width: int) -> str:
    """A sentence in lines."""
    return textwrap.fill(one_line(text), width, break_on_hyphens=False)


def _bare_text(grid: Grid, *, stacked: bool = False, color: bool = False) -> str:
    return render_text(grid, stacked=stacked, color=color, notes=False)


def _fitting(grid: Grid, width: int) -> list[Grid]:
    """The columns of a table, the models beside each group that fits into the width."""
    groups: list[list[int]] = [[]]
    for j in range(1, len(grid.header)):
        if groups[-1] and _width(grid.columns([*groups[-1], j]), stacked=True) > width:
            groups.append([])
        groups[-1].append(j)
    return [grid.columns(group) for group in groups]


def _width(grid: Grid, *, stacked: bool) -> int:
    lines = _bare_text(replace(grid, title=""), stacked=stacked).splitlines()
    return max(len(line) for line in lines)
