"""The card of a split: what a reader must know before believing a number measured on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from fullrank.core.brief import count
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.data.filters.moments import from_units
from fullrank.split._base import PART_CODES, FitOn, Part, Split
from fullrank.split._verify import present

ONE_CUT = ("GlobalTime", "GlobalCut", "ExpandingWindow", "SlidingWindow")
"""Strategies with the same cut for all users: their ties are counted in rows."""


def card(split: Split) -> dict[str, Any]:
    """Describe a split.

    Returns:
        ``recipe``; ``data_recipe`` (filters before it); fingerprints; ``parts`` (rows, users,
        items, first and last time of each); ``valid`` and ``test``: targets per user and, for each
        thing that models may be fitted on, cold users (without any history: no row fitted, none
        folded in), ``users_not_fitted`` (folded in only), cold items (no row fitted), what leaks;
        ``ties_at_cut``; ``notes``.
    """
    out: dict[str, Any] = {
        "recipe": _plain(dict(split.recipe)),
        "data_recipe": _plain([dict(step) for step in split.data.recipe]),
        "fingerprint": split.fingerprint,
        "data_fingerprint": split.data.fingerprint,
        "repeats": split.repeats,
        "parts": {name: _describe(split.rows(name)) for name, n in split.counts.items() if n},  # type: ignore[arg-type]
    }
    if split.has_valid:
        out["valid"] = _held_out(split, "valid", ("train",))
    fits: tuple[FitOn, ...] = ("train", "train+valid") if split.has_valid else ("train",)
    out["test"] = _held_out(split, "test", fits)
    out["ties_at_cut"] = dict(split.ties_at_cut)
    out["notes"] = list(split.notes)
    return out


def tied_at_cut(card: Mapping[str, Any]) -> list[str]:
    """By cut in words, what shares its time: rows after a global cut, users with cuts of their own.

    Args:
        card: of a split.
    """
    whole = card["recipe"].get("strategy") in ONE_CUT
    return [
        f"{name}: {count(n, 'row')} with the time of the cut"
        if whole
        else f"{name}: {count(n, 'user')} with one time on both sides"
        for name, n in card["ties_at_cut"].items()
        if n
    ]


def _plain(value: Any) -> Any:
    """The same after a trip through JSON, as it is when a saved split comes back."""
    return json.loads(json.dumps(value))


def _describe(rows: Interactions) -> dict[str, Any]:
    out: dict[str, Any] = {
        "rows": len(rows),
        "users": int(np.count_nonzero(rows.user_counts)),
        "items": int(np.count_nonzero(rows.item_counts)),
    }
    if rows.times is not None:
        known = rows.times[rows.times != NO_TIME]
        for name, pick in (("first", np.min), ("last", np.max)):
            out[name] = from_units(int(pick(known)), rows.time_unit) if len(known) else None
    return out


def _held_out(split: Split, part: Part, fits: tuple[FitOn, ...]) -> dict[str, Any]:
    return {
        "targets": _targets(split, part),
        "fit": {
            fit: {**_cold(split, part, fit), "leaks": _leaks(split, part, fit)} for fit in fits
        },
    }


def _targets(split: Split, part: Part) -> dict[str, Any]:
    """Targets per user as they are evaluated by default (distinct, repeats as the split says)."""
    queries = split.queries(part)  # type: ignore[arg-type]
    n = queries.target_counts
    return {
        "queries": len(queries),
        "without_targets": int(np.count_nonzero(n == 0)),
        "total": int(n.sum()),
        "mean": float(n.mean()),
        "median": float(np.median(n)),
        "max": int(n.max()),
        "repeated": queries.counts["repeated_targets"],
        "duplicates": queries.counts["duplicate_targets"],
    }


def _cold(split: Split, part: Part, fit: FitOn) -> dict[str, int]:
    """Users of a part without a history that models may use, and items that are not fitted."""
    fitted = split.fit_mask(fit)
    data = split.data
    held = split.part == PART_CODES[part]
    held_users, held_items = data.users[held], data.items[held]
    fitted_users = present(data.users[fitted], data.n_users)
    warm_items = present(data.items[fitted], data.n_items)
    shown = split.part == PART_CODES[f"{part}_history"]
    warm_users = fitted_users | present(data.users[shown], data.n_users)
    users = present(held_users, data.n_users)
    items = present(held_items, data.n_items)
    return {
        "cold_users": int(np.count_nonzero(users & ~warm_users)),
        "users_not_fitted": int(np.count_nonzero(users & warm_users & ~fitted_users)),
        "cold_items": int(np.count_nonzero(items & ~warm_items)),
        "rows_of_cold_users": int(np.count_nonzero(~warm_users[held_users])),
        "rows_of_cold_items": int(np.count_nonzero(~warm_items[held_items])),
    }


def _leaks(split: Split, part: Part, fit: FitOn) -> dict[str, Any] | None:
    """How much of the future models may see; None where no times can tell.

    ``own_future``: share of held-out rows that are earlier than some row that the model may use of
    the same user. ``global_future``: share of fitted rows that are later than the earliest
    held-out row, and ``mean_future`` the share that is later than a held-out row, on average over
    those rows (Ji, Sun, Zhang & Li 2023 report the like). Rows without a time are left aside.
    """
    data = split.data
    if data.times is None or not np.any(data.times != NO_TIME):
        return None
    if data.time_unit == "order":  # places in each user's own sequence: no time across users
        return _own(split, part, fit)
    fitted = data.times[split.fit_mask(fit)]
    held = data.times[split.part == PART_CODES[part]]
    held = held[held != NO_TIME]
    n = max(int(np.count_nonzero(fitted != NO_TIME)), 1)
    # Rows before all that is held out are later than none: nearly all after a global cut.
    fitted = fitted[(fitted != NO_TIME) & (fitted > (held.min() if len(held) else NO_TIME))]
    later = len(fitted) - np.searchsorted(np.sort(fitted), held, side="right")
    most = int(later.max()) if len(held) else 0
    return {
        **_own(split, part, fit),
        "global_future_rows": most,
        "global_future": most / n,
        "mean_future": float(later.mean()) / n if len(held) else 0.0,
    }


def _own(split: Split, part: Part, fit: FitOn) -> dict[str, Any]:
    data = split.data
    assert data.times is not None
    usable = split.fit_mask(fit) | (split.part == PART_CODES[f"{part}_history"])
    last = np.full(data.n_users, NO_TIME)
    last[data.users[usable]] = data.times[usable]  # in order of time: the last one stays
    held = (split.part == PART_CODES[part]) & (data.times != NO_TIME)
    earlier = int(np.count_nonzero(data.times[held] < last[data.users[held]]))
    n = int(np.count_nonzero(held))
    return {"own_future_rows": earlier, "own_future": earlier / n if n else 0.0}
