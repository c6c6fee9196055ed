"""A table as a value, and its renderings as aligned text and Markdown."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fullrank.core.text import one_line
from fullrank.report.board import BETTER, WORSE


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        text: the value.
        mark: of significance, or nothing.
        more: spread and interval, each where there is one, shown after the value.
        best: the best of its column.
    """

    text: str
    mark: str = ""
    more: tuple[str, ...] = ()
    best: bool = False


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        title: what the numbers are.
        header: names of the columns.
        rows: cells ``[row][column]``.
        notes: sentences below it.
        left: columns from the left that hold text; the others are numbers.
        name: for references to it; empty for none.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    left: int = 1
    name: str = ""

    def columns(self, chosen: Sequence[int]) -> Grid:
        """Some columns beside the first."""
        rows = tuple((row[0], *(row[j] for j in chosen)) for row in self.rows)
        return replace(self, header=(self.header[0], *(self.header[j] for j in chosen)), rows=rows)

    @property
    def has_best(self) -> bool:
        """Some cell is marked as the best."""
        return any(cell.best for row in self.rows for cell in row)


def best_note(mark: str) -> str:
    """What the mark of the best says."""
    return f"{mark}: best value of a metric, before rounding; no claim in itself."


def notes_of(grid: Grid, mark: str) -> tuple[str, ...]:
    """The notes of a table, the mark of the best among them where it is used."""
    return (*([best_note(mark)] if grid.has_best else []), *grid.notes)


def render_text(
    grid: Grid,
    *,
    color: bool = False,
    stacked: bool = False,
    notes: bool = True,
) -> str:
    """Aligned text by Rich; the best of a column has ``*``.

    Args:
        grid: the table.
        color: with escape codes for a terminal.
        stacked: put spread and interval on lines of their own.
        notes: write the notes below.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=None, show_edge=False, pad_edge=False)
    for j, name in enumerate(grid.header):
        table.add_column(Text(one_line(name)), justify="left" if j < grid.left else "right")
    styles = {BETTER: "green", WORSE: "red"}
    for row in grid.rows:
        cells = []
        for cell in row:
            text = Text(one_line(cell.text), style="bold" if cell.best else "")
            text.append("*" if cell.best else "")
            text.append(cell.mark, style=styles.get(cell.mark, ""))
            for part in cell.more:
                text.append(("\n" if stacked else " ") + part, style="dim")
            cells.append(text)
        table.add_row(*cells)
    out = io.StringIO()
    console = Console(
        file=out,
        width=10_000,
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        _environ={},
    )
    console.print(Text(one_line(grid.title), style="bold"))
    console.print(table)
    for note in notes_of(grid, "*") if notes else ():
        console.print(Text(one_line(note), style="dim"), soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def render_markdown(grid: Grid) -> str:
    """A GitHub-flavoured Markdown table; the best of a column is bold."""
    escape = escape_markdown

    def cell(c: Cell) -> str:
        text = escape(c.text)
        more = "".join(f" {escape(part)}" for part in c.more)
        return (f"**{text}**" if c.best else text) + c.mark + more

    lines = [f"**{escape(grid.title)}**", ""] if grid.title else []
    lines.append(_pipes([escape(name) for name in grid.header]))
    lines.append(_pipes([":--" if j < grid.left else "--:" for j in range(len(grid.header))]))
    lines.extend(_pipes([cell(c) for c in row]) for row in grid.rows)
    for note in notes_of(grid, "Bold"):
        lines += ["", escape(note)]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it reads, also within a table; no HTML gets through."""
    text = re.sub(r"([\\`*_\[\]|#~$])", r"\\\1", one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
