"""A table as a value, and its renderings as aligned text, Markdown and LaTeX."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    left: int = 1


def render_text(
    grid: Grid, *, width: int | None = None, color: bool = False, stacked: bool = False
) -> str:
    """Aligned text by Rich; the best of a column has ``*``.

    Args:
        grid: the table.
        width: columns of the terminal; None for as wide as it needs.
        color: with escape codes for a terminal.
        stacked: put spread and interval on lines of their own.
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
        width=width or 10_000,
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        _environ={},
    )
    console.print(Text(one_line(grid.title), style="bold"))
    console.print(table)
    for note in grid.notes:
        console.print(Text(one_line(note), style="dim"), soft_wrap=width is None)
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
    for note in grid.notes:
        lines += ["", escape(note)]
    return "\n".join(lines) + "\n"


def render_latex(grid: Grid) -> str:
    """A LaTeX table that needs the package booktabs; the best of a column is bold."""
    marks = {BETTER: r"$^{\uparrow}$", WORSE: r"$^{\downarrow}$", "": ""}

    def cell(c: Cell) -> str:
        text = escape_latex(c.text)
        more = "".join(rf" {{\scriptsize {escape_latex(part)}}}" for part in c.more)
        return (rf"\textbf{{{text}}}" if c.best else text) + marks[c.mark] + more

    shape = "l" * grid.left + "r" * (len(grid.header) - grid.left)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(grid.title)}}}"]
    lines += [rf"\begin{{tabular}}{{{shape}}}", r"\toprule"]
    lines += [_ampersands([escape_latex(name) for name in grid.header]), r"\midrule"]
    lines += [_ampersands([cell(c) for c in row]) for row in grid.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if grid.notes:
        notes = "\n".join(escape_latex(note) for note in grid.notes)
        lines += ["", rf"\smallskip{{\footnotesize {notes}}}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


RENDERERS: dict[str, Callable[[Grid], str]] = {
    "text": render_text,
    "markdown": render_markdown,
    "latex": render_latex,
}

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': "''",  # the straight sign needs another font encoding than the default
    "−": "$-$",
    "±": r"$\pm$",
    "–": "--",
    BETTER: r"$\uparrow$",
    WORSE: r"$\downarrow$",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def escape_latex(text: str) -> str:
    """Text that LaTeX sets as it reads."""
    return "".join(_LATEX.get(character, character) for character in one_line(text))


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it reads, also within a table; no HTML gets through."""
    text = re.sub(r"([\\`*_\[\]|#~$])", r"\\\1", one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _ampersands(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
