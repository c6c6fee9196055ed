"""Leaderboards and long tables as text, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args

from fullrank.core.errors import SpecError, suggest
from fullrank.report._grid import Cell, Grid, render_markdown, render_text
from fullrank.report._latex import render_latex
from fullrank.report._numbers import (
    UNDEFINED,
    interval_text,
    known,
    plain_text,
    spread_text,
    value_text,
)
from fullrank.report._wide import render_fitted
from fullrank.report.board import Board, Place, Row, boards

Format = Literal["text", "markdown", "latex", "csv", "json"]

FORMATS: tuple[Format, ...] = get_args(Format)


RENDERERS: dict[str, Callable[[Grid], str]] = {
    "text": render_text,
    "markdown": render_markdown,
    "latex": render_latex,
}


def leaderboard_table(
    rows: Iterable[Row],
    tests: Iterable[Row] = (),
    *,
    users: str = "all",
    format: Format = "text",
) -> str:
    """One row a model, one column a metric: value, spread over seeds, interval, marks.

    Text, Markdown and LaTeX are rounded and say in notes what their marks mean; CSV and JSON
    carry every digit.

    Args:
        rows: of ``experiment.leaderboard``; rows of single seeds are left out.
        tests: of ``experiment.paired_tests``; none without a baseline.
        users: ``"all"``, ``"warm"`` or ``"cold"``.
        format: ``"text"`` (at most 100 columns), ``"markdown"``, ``"latex"`` (booktabs, at most
            five metrics a table), ``"csv"`` or ``"json"``.

    Returns:
        One table per data set; for CSV and JSON one in all.

    Raises:
        SpecError: an unknown format, or no row of these users.
    """
    check_format(format)
    rows, tests = list(rows), list(tests)
    found = boards(rows, tests, users=users)
    if not found:
        options = list(dict.fromkeys(str(row["users"]) for row in rows))
        raise SpecError(f"no leaderboard for users = {users!r}{suggest(users, options)}")
    if format == "json":
        return dump_json(
            leaderboard=[p.row for board in found for p in board.places.values()],
            tests=[test for test in tests if test["users"] == users],
        )
    if format == "csv":
        return _csv([_wide(board, model) for board in found for model in board.models])
    render = render_fitted if format == "text" else RENDERERS[format]
    return "\n".join(render(board_grid(board)) for board in found)


def long_table(rows: Iterable[Row], *, format: Format = "csv") -> str:
    """Every row with every column: of a leaderboard, of its tests, or of any such list.

    Args:
        rows: dictionaries; a key that a row lacks is left empty.
        format: CSV and JSON carry every digit, the others are rounded.

    Raises:
        SpecError: an unknown format.
    """
    check_format(format)
    rows = list(rows)
    if format == "json":
        return dump_json(rows=rows)
    if format == "csv":
        return _csv(rows)
    names = _columns(rows)
    cells = tuple(tuple(Cell(_long_text(row.get(name))) for name in names) for row in rows)
    return RENDERERS[format](Grid("", tuple(names), cells, left=len(names)))


def check_format(format: str) -> None:
    """Refuse an unknown format.

    Raises:
        SpecError: names the nearest known one.
    """
    if format not in FORMATS:
        raise SpecError(f"unknown table format {format!r}{suggest(format, FORMATS)}")


def board_grid(board: Board) -> Grid:
    """The table of a leaderboard."""
    rows = tuple(
        (
            Cell(model),
            *(place_cell(board, board.places.get((model, m)), m) for m in board.metrics),
        )
        for model in board.models
    )
    title = f"{board.data}, {board.users} users ({board.counts})"
    name = f"{board.data}-{board.users}"
    return Grid(title, ("model", *board.metrics), rows, board.legend, name=name)


def place_cell(board: Board, place: Place | None, metric: str) -> Cell:
    """One place of a leaderboard as a cell."""
    if place is None or not known(place.row["value"]):
        return Cell(UNDEFINED)
    row, digits = place.row, board.decimals(metric)
    more = (
        spread_text(row.get("seed_spread"), digits),
        interval_text(row["low"], row["high"], digits),
    )
    shown = tuple(part for part in more if part)
    return Cell(value_text(row["value"], digits), place.mark, shown, place.best)


def _wide(board: Board, model: str) -> dict[str, Any]:
    out: dict[str, Any] = {"data": board.data, "users": board.users, "model": model}
    for metric in board.metrics:
        place = board.places.get((model, metric))
        row = place.row if place else {}
        test = (place.test if place else None) or {}
        out[metric] = row.get("value")
        for name in ("low", "high", "seed_spread"):
            out[f"{metric} {name}"] = row.get(name)
        for name in ("difference", "p_adjusted"):
            out[f"{metric} {name}"] = test.get(name)
        out[f"{metric} best"] = int(place is not None and place.best)
    return out


def dump_json(**content: Sequence[Row]) -> str:
    """Lists of rows as JSON, every digit, undefined as null."""
    plain = {name: [_finite(dict(row)) for row in rows] for name, rows in content.items()}
    return json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, _columns(rows), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _flat(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _columns(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """NaN and infinities are null in JSON."""
    return {k: None if isinstance(v, float) and not known(v) else v for k, v in row.items()}


def _flat(value: Any) -> Any:
    """Lists as one field; what is undefined as an empty one."""
    if isinstance(value, list | tuple):
        return "; ".join(str(part) for part in value)
    return None if isinstance(value, float) and not known(value) else value


def _long_text(value: Any) -> str:
    if value is None or (isinstance(value, float) and not known(value)):
        return UNDEFINED
    return plain_text(value)
