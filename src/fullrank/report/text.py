"""What a run prints at its end: the leaderboard, and sentences that read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fullrank.core.text import one_line
from fullrank.experiment.leaderboard import leaderboard, paired_tests
from fullrank.experiment.results import Results
from fullrank.report._grid import Cell, Grid
from fullrank.report._sentences import reading
from fullrank.report._wide import render_fitted, wrapped
from fullrank.report.board import Board, Row, boards
from fullrank.report.standing import standings
from fullrank.report.tables import board_grid, place_cell

NO_VALUE = "No model has a value: rating metrics need models that predict ratings."


def summary_text(
    results: Results,
    rows: Iterable[Row] | None = None,
    tests: Iterable[Row] | None = None,
    *,
    width: int = 100,
    color: bool = False,
) -> str:
    """The leaderboard of every data set, warm and cold users beside all, and its reading.

    Args:
        results: of a benchmark.
        rows: of ``experiment.leaderboard``, if they are at hand.
        tests: of ``experiment.paired_tests``, if they are at hand.
        width: columns of the terminal; a wide table puts intervals on lines of their own.
        color: with escape codes for a terminal.
    """
    rows = leaderboard(results) if rows is None else list(rows)
    tests = paired_tests(results) if tests is None else list(tests)
    by_users = {
        users: {board.data: board for board in boards(rows, tests, users=users)}
        for users in ("all", "warm", "cold")
    }
    parts = []
    for data, board in by_users["all"].items():
        beside = [by_users[users][data] for users in ("warm", "cold") if data in by_users[users]]
        parts.append(render_fitted(_beside(board, beside), width, color=color))
    for data, paragraphs in reading(standings(results, tests)).items():
        lines = [wrapped(text, width) for text in paragraphs]
        title = [f"{one_line(data)}:"] if len(results.data) > 1 else []
        parts.append("\n".join([*title, *lines, ""]))
    return "\n".join(parts) or f"{NO_VALUE}\n"


def _beside(board: Board, others: Sequence[Board]) -> Grid:
    """The table of all users with columns of the first metric for the other segments."""
    grid = board_grid(board)
    metric = board.metrics[0]
    names = [f"{metric}, {other.users}" for other in others]
    header = (*grid.header[:2], *names, *grid.header[2:])
    rows = tuple(
        (*row[:2], *_cells(others, model, metric), *row[2:])
        for row, model in zip(grid.rows, board.models)
    )
    counts = "; ".join(f"{other.users}: {other.counts}" for other in others)
    notes = (*grid.notes, f"Users with and without a history that models may use: {counts}.")
    return replace(grid, header=header, rows=rows, notes=notes if others else grid.notes)


def _cells(others: Sequence[Board], model: str, metric: str) -> list[Cell]:
    return [place_cell(other, other.places.get((model, metric)), metric) for other in others]
