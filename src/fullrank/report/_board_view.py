"""A leaderboard for HTML: each value with a small drawing of its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fullrank.core.brief import count
from fullrank.report._grid import best_note
from fullrank.report._numbers import (
    UNDEFINED,
    interval_text,
    known,
    p_text,
    percent_text,
    spread_text,
    value_text,
)
from fullrank.report.board import BETTER, Board, Place

WIDTH = 100.0
"""Units of the drawing: per cent of its width."""


@dataclass(frozen=True)
class Drawing:
    """Places on a line from 0 to 100 that a whole column shares.

    Attributes:
        low: where the interval starts.
        high: where it ends.
        value: where the value lies.
        baseline: where the baseline's value lies, or None.
    """

    low: float
    high: float
    value: float
    baseline: float | None


@dataclass(frozen=True)
class CellView:
    """One cell: texts are ready to show, escaping is the template's job."""

    value: str = UNDEFINED
    spread: str = ""
    interval: str = ""
    ties: str = ""
    mark: str = ""
    verdict: str = ""
    hint: str = ""
    best: bool = False
    drawing: Drawing | None = None


@dataclass(frozen=True)
class BoardView:
    """A leaderboard, column by column ready to show."""

    board: Board
    rows: tuple[tuple[str, tuple[CellView, ...]], ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the marks mean."""
        best = any(cell.best for _, cells in self.rows for cell in cells)
        return (*([best_note("Bold")] if best else []), *self.board.legend)


def board_view(board: Board, baseline: str) -> BoardView:
    """Prepare a leaderboard for the template."""
    columns = {metric: _column(board, metric, baseline) for metric in board.metrics}
    rows = tuple(
        (model, tuple(columns[metric][i] for metric in board.metrics))
        for i, model in enumerate(board.models)
    )
    return BoardView(board, rows)


def _column(board: Board, metric: str, baseline: str) -> list[CellView]:
    places = [board.places.get((model, metric)) for model in board.models]
    ends = [
        place.row[name]
        for place in places
        if place is not None
        for name in ("low", "high", "value")
        if known(place.row[name])
    ]
    base = board.places.get((board.baseline(metric) or baseline, metric))
    at = base.row["value"] if base is not None else None
    digits = board.decimals(metric)
    return [_cell(place, digits, ends, at) if place else CellView() for place in places]


def _cell(place: Place, digits: int, ends: Sequence[float], at: float | None) -> CellView:
    row = place.row
    if not known(row["value"]):
        return CellView(hint="undefined for every query")
    return CellView(
        value=value_text(row["value"], digits),
        spread=spread_text(row.get("seed_spread"), digits),
        interval=interval_text(row["low"], row["high"], digits),
        ties=_ties(place, digits),
        mark=place.mark,
        verdict={"": "", BETTER: "better than the baseline"}.get(
            place.mark, "worse than the baseline"
        ),
        hint=_hint(place, digits),
        best=place.best,
        drawing=_drawing(place, ends, at),
    )


def _ties(place: Place, digits: int) -> str:
    if not place.ties_matter:
        return ""
    ends = sorted((place.row["worst"], place.row["best"]))
    return f"ties: {value_text(ends[0], digits)} to {value_text(ends[1], digits)}"


def _hint(place: Place, digits: int) -> str:
    row, test = place.row, place.test
    queries = count(row["n_queries"], "query", "queries")
    parts = [f"{queries} of {count(row['n_users'], 'user')}"]
    if row["undefined"]:
        parts.append(f"{row['undefined']:,} without a value")
    if test is not None and known(test["difference"]):
        ends = interval_text(test["low"], test["high"], digits)
        difference = value_text(test["difference"], digits, sign=True)
        parts.append(f"difference to {test['baseline']}: {difference} {ends}")
        parts.append(f"adjusted {p_text(test['p_adjusted'])} ({test['test']})")
    parts.append(f"{percent_text(row['level'])} interval: {row['method']}")
    return "; ".join(parts)


def _drawing(place: Place, ends: Sequence[float], at: float | None) -> Drawing | None:
    row = place.row
    span = max(ends) - min(ends)
    if not (known(row["low"]) and known(row["high"])) or span == 0:
        return None

    def place_of(value: float) -> float:
        return round(4 + (WIDTH - 8) * (value - min(ends)) / span, 1)

    base = place_of(at) if at is not None and known(at) else None
    return Drawing(place_of(row["low"]), place_of(row["high"]), place_of(row["value"]), base)
