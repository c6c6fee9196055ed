"""A table as LaTeX: booktabs, intervals below the values, a part for every five metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fullrank.core.text import one_line
from fullrank.report._grid import Cell, Grid, notes_of
from fullrank.report.board import BETTER, WORSE

MOST = 5
"""Columns of numbers, with intervals, that the text block of an article holds."""

_MARKS = {BETTER: r"$^{\uparrow}$", WORSE: r"$^{\downarrow}$", "": ""}


def render_latex(grid: Grid) -> str:
    """LaTeX that needs the package booktabs; the best of a column is bold.

    A table with many columns comes in parts, the notes below the last one.
    """
    numbers = len(grid.header) - grid.left
    n_parts = -(-numbers // MOST)
    if grid.left != 1 or n_parts < 2:
        return _render(grid, grid.name)
    size = -(-numbers // n_parts)
    starts = range(1, len(grid.header), size)
    parts = [grid.columns(range(j, min(j + size, len(grid.header)))) for j in starts]
    notes = notes_of(grid, "Bold")
    out = []
    for i, part in enumerate(parts, 1):
        own = replace(part, title=f"{grid.title}, part {i} of {n_parts}", notes=())
        out.append(_render(own, f"{grid.name}-{i}", notes if i == n_parts else ()))
    return "\n".join(out)


def _render(grid: Grid, name: str, notes: Sequence[str] | None = None) -> str:
    notes = notes_of(grid, "Bold") if notes is None else notes
    shape = "l" * grid.left + "r" * (len(grid.header) - grid.left)
    lines = [r"% needs \usepackage{booktabs}", r"\begin{table}", r"\centering"]
    lines.append(rf"\caption{{{escape_latex(grid.title)}}}")
    lines += [rf"\label{{tab:{_label(name)}}}"] if name else []
    lines += [rf"\begin{{tabular}}{{{shape}}}", r"\toprule"]
    lines += [_ampersands([escape_latex(text) for text in grid.header]), r"\midrule"]
    lines += [_ampersands([_cell(cell) for cell in row]) for row in grid.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if notes:
        text = "\n".join(escape_latex(note) for note in notes)
        lines += ["", rf"\smallskip{{\footnotesize {text}}}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _cell(cell: Cell) -> str:
    """Value and mark; spread and interval on lines below."""
    text = escape_latex(cell.text)
    first = (rf"\textbf{{{text}}}" if cell.best else text) + _MARKS[cell.mark]
    if not cell.more:
        return first
    more = [rf"{{\scriptsize {escape_latex(part)}}}" for part in cell.more]
    # the interval's brackets would be read as an option of the line break before it without braces
    stack = r" \\ ".join([first, *more])
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{stack}\end{{tabular}}"


def _label(name: str) -> str:
    """A name that is safe in references."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()


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


def _ampersands(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
