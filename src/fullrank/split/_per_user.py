"""The last rows of each user test, those before them validate: by time, or in a drawn order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.split._base import TEST, TRAIN, VALID, Split, Strategy
from fullrank.split._build import build, require_rows
from fullrank.split._draws import row_draws, timed_order


@dataclass(frozen=True)
class Tail:
    """How many rows at the end of each user's order are held out: int64 ``[n_users]`` each."""

    valid: NDArray[np.int64]
    test: NDArray[np.int64]
    min_train: int

    def short(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Users that would keep fewer than ``min_train`` rows: they stay in train whole."""
        held = self.valid + self.test
        return np.asarray((counts > 0) & (held > 0) & (counts - held < self.min_train))


def split_by_time(
    strategy: Strategy, data: Interactions, tail: Tail, seed: int, wants_valid: bool
) -> Split:
    """Hold out the latest rows of each user; a hash of seed and ids orders rows of one time.

    The order within one time is unknown, and any order by id would favour the same items in every
    user. So it is drawn, per row, and the users whose cut falls into a tie are counted.
    """
    require_rows(strategy, data)
    name = type(strategy).__name__
    times = data.require_times(f"split {name}")
    order = timed_order(data, times, lambda: row_draws(data, seed, name, "ties"))
    part = _assign(data, order, tail)
    ties = tied_users(data, times[order], part[order])
    # The seed mattered only where a tie was drawn: splits without ties are equal for all seeds.
    extra: dict[str, Any] = {"seed": seed} if any(ties.values()) else {}
    notes = [*_notes(data, tail), *_tie_notes(ties)]
    return build(strategy, data, part, wants_valid=wants_valid, ties=ties, extra=extra, notes=notes)


def split_at_random(
    strategy: Strategy, data: Interactions, tail: Tail, seed: int, wants_valid: bool
) -> Split:
    """Hold out random rows of each user."""
    require_rows(strategy, data)
    draws = row_draws(data, seed, type(strategy).__name__)
    part = _assign(data, np.lexsort((draws, data.users)), tail)
    extra = {"seed": seed}
    notes = _notes(data, tail)
    return build(strategy, data, part, wants_valid=wants_valid, extra=extra, notes=notes)


def _assign(data: Interactions, order: NDArray[np.int64], tail: Tail) -> NDArray[np.int8]:
    """Codes ``[n]``; ``order`` sorts the rows by user, and within a user first to last."""
    users = data.users[order]
    from_end = data.user_indptr[users + 1] - 1 - np.arange(len(order))
    short = tail.short(data.user_counts)
    test = np.where(short, 0, tail.test)[users]
    valid = np.where(short, 0, tail.valid)[users]
    codes = np.where(from_end < test, TEST, np.where(from_end < test + valid, VALID, TRAIN))
    part = np.empty(len(order), dtype=np.int8)
    part[order] = codes
    return part


def tied_users(
    data: Interactions, times: NDArray[np.int64], codes: NDArray[np.int8]
) -> dict[str, int]:
    """By later part, users whose cut lies between two rows of one time (arrays in user order)."""
    same_user = data.users[1:] == data.users[:-1]
    tied = same_user & (times[1:] == times[:-1]) & (codes[1:] != codes[:-1])
    return {
        name: int(np.count_nonzero(tied & (codes[1:] == code)))
        for name, code in (("valid", VALID), ("test", TEST))
        if np.any(codes == code)
    }


def _notes(data: Interactions, tail: Tail) -> list[str]:
    short = int(np.count_nonzero(tail.short(data.user_counts)))
    if not short:
        return []
    return [
        f"{short:,} users have too few rows to hold any out and keep {tail.min_train} for "
        "training: all their rows train, and they are not evaluated"
    ]


def _tie_notes(ties: dict[str, int]) -> list[str]:
    return [
        f"{n:,} users have rows of one time on both sides of the {name} cut; which of them is "
        "held out was drawn (a hash of seed, user and item)"
        for name, n in ties.items()
        if n
    ]
