"""Leaderboards written to files and printed, from results at hand."""

from __future__ import annotations

from pathlib import Path

from fullrank.core.errors import SpecError, suggest
from fullrank.experiment.leaderboard import SEGMENTS, leaderboard, paired_tests
from fullrank.experiment.results import Results
from fullrank.report._aside import write_aside
from fullrank.report.tables import Format, dump_json, leaderboard_table, long_table
from fullrank.report.text import summary_text

FORMAT_OF: dict[str, Format] = {
    ".txt": "text",
    ".md": "markdown",
    ".tex": "latex",
    ".csv": "csv",
    ".json": "json",
}


def write_table(results: Results, path: str | Path) -> Path:
    """Write the leaderboard; the ending of the name chooses the format.

    ``.txt``, ``.md`` and ``.tex`` hold a table per data set and segment of users, ``.csv`` every
    row (single seeds too) with every digit, ``.json`` the same with the tests.

    Raises:
        SpecError: an ending that names no format.
    """
    path = Path(path)
    format = FORMAT_OF.get(path.suffix.lower())
    if format is None:
        raise SpecError(f"no table format ends in {path.suffix!r}{suggest(path.suffix, FORMAT_OF)}")
    rows, tests = leaderboard(results), paired_tests(results)
    if format == "csv":
        return write_aside(path, long_table(rows))
    if format == "json":
        return write_aside(path, dump_json(leaderboard=rows, tests=tests))
    there = {row["users"] for row in rows}
    tables = [
        leaderboard_table(rows, tests, users=users, format=format)
        for users in SEGMENTS
        if users in there
    ]
    return write_aside(path, "\n".join(tables))


def print_summary(results: Results) -> None:
    """Print ``summary_text`` as wide as the terminal, in colour where it has any."""
    from rich.console import Console

    console = Console()
    width = max(console.width, 60) if console.is_terminal else 120
    text = summary_text(results, width=width, color=console.color_system is not None)
    console.file.write(text)
