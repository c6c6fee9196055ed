"""The card of a split as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fullrank.core.brief import count
from fullrank.split._card import tied_at_cut

LEAKS = (
    ("own_future", "of the {part} rows are earlier than a row of their user in the fit (own leak)"),
    ("global_future", "of the {fit} rows lie after the first {part} row (global leak)"),
    ("mean_future", "of the {fit} rows lie after a {part} row, on average over those rows"),
)


def card_lines(card: Mapping[str, Any]) -> Iterator[str]:
    """Parts, cold users and items, leaks, ties and notes, in the order of reading."""
    for name, part in card["parts"].items():
        span = f", {part['first']} to {part['last']}" if part.get("first") else ""
        counts = (count(part[f"{what}s"], what) for what in ("row", "user", "item"))
        yield f"{name}: {', '.join(counts)}{span}"
    for name in ("valid", "test"):
        for fit, found in card.get(name, {}).get("fit", {}).items():
            yield f"{name} after a fit on {fit}: {_cold(found)}"
            yield from (f"  {text}" for text in _leaks(found["leaks"], name, fit))
    yield from (f"ties at the cut of {text}" for text in tied_at_cut(card))
    yield from card["notes"]


def _cold(found: Mapping[str, Any]) -> str:
    parts = [
        f"{count(found[f'cold_{what}s'], f'cold {what}')} "
        f"({count(found[f'rows_of_cold_{what}s'], 'row')})"
        for what in ("user", "item")
    ]
    n = found["users_not_fitted"]
    more = [f"{count(n, 'user')} not fitted, whose history models see"] if n else []
    return ", ".join([*parts, *more])


def _leaks(leaks: Mapping[str, Any] | None, part: str, fit: str) -> Iterator[str]:
    """Shares of rows that let models see the future; those that are 0 are left out."""
    if leaks is None:
        yield "leaks in time can't be told: the data have no times"
        return
    names = {"train": "training", "valid": "validation", "train+valid": "training and validation"}
    for key, text in LEAKS:
        if leaks.get(key):
            rows = text.format(part=names.get(part, part), fit=names.get(fit, fit))
            yield f"{share_text(leaks[key])} {rows}"


def share_text(share: float) -> str:
    """Per cent with one decimal; what rounds to none or to all of it is said to be near that."""
    if 0 < share < 0.0005:
        return "under 0.1 %"
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return f"{share * 100:.1f} %"
