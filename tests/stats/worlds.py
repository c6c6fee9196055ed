"""Per-query values of invented users, shared by the tests of stats."""

from __future__ import annotations

import numpy as np

MEAN = 0.3 / 2.3  # of Beta(0.3, 2): most users near 0, some near 1, like recall at small k


def skewed(n_users: int, seed: int) -> np.ndarray:
    """One value a user, float64 [n_users]."""
    return np.random.default_rng(seed).beta(0.3, 2.0, n_users)


def clustered(n_users: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and users [q]: 1 to 5 queries a user, alike within a user."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, n_users)
    users = np.repeat(np.arange(n_users), counts)
    level = rng.beta(0.3, 2.0, n_users)[users]
    return 0.8 * level + 0.2 * rng.beta(0.3, 2.0, len(users)), users
