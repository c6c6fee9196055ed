"""The ranking problem that all tools get: random factors, histories and targets from one seed.

NumPy alone, so that peers make it in environments of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TARGETS, HISTORY = 8, 120
PULL = 0.1
"""Share of its targets in a user's factors, so that a list holds some of them."""


@dataclass(frozen=True)
class World:
    """Factors float32 ``[q, d]``, ``[c, d]``; history int32 ``[q, 120]``, targets ``[q, 8]``."""

    users: np.ndarray
    items: np.ndarray
    history: np.ndarray
    targets: np.ndarray


def world(q: int, c: int, d: int = 64, seed: int = 0) -> World:
    """Draw the problem; the first rows are the same for any ``q``.

    The catalogue is cut into 128 strata and each user has one item of each, so that the 128 are
    distinct and spread over it; every sixteenth is a target.
    """
    item_rng, user_rng, pick_rng = np.random.default_rng(seed).spawn(3)
    n = TARGETS + HISTORY
    width = c // n
    if width < 1:
        raise ValueError(f"the catalogue must have at least {n} items, got {c}")
    picks = pick_rng.integers(0, width, (q, n), dtype=np.int32)
    picks += np.arange(n, dtype=np.int32) * width
    held_out = np.zeros(n, dtype=bool)
    held_out[3 :: n // TARGETS] = True
    targets = np.ascontiguousarray(picks[:, held_out])
    users = np.float32(0.3) * user_rng.standard_normal((q, d), dtype=np.float32)
    items = np.float32(0.3) * item_rng.standard_normal((c, d), dtype=np.float32)
    for t in range(TARGETS):
        users += np.float32(PULL) * items[targets[:, t]]
    return World(users, items, np.ascontiguousarray(picks[:, ~held_out]), targets)


def recall_at_10(lists: np.ndarray, targets: np.ndarray) -> float:
    """Mean recall of the first ten of each list, to see that tools agree."""
    hits = (lists[:, :10, None] == targets[: len(lists), None, :]).any(axis=2).sum()
    return float(hits) / targets[: len(lists)].size
