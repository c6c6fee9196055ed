"""Interactions with the shape of MovieLens-20M, from one seed: low rank, noise, power-law margins.

NumPy alone (SciPy for the matrix), so that peers read them in environments of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

SHAPE = (138_493, 26_744, 20_000_000)
"""Users, items and interactions of MovieLens-20M."""
GROUPS, NOISE, LEAST, SPREAD = 40, 0.15, 20, 1.15
"""Tastes; share of draws by popularity alone; fewest interactions of a user; sigma of their log."""


def draw(n_users: int, n_items: int, n: int, seed: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Distinct pairs, about ``n``: each user draws items from a few of 40 tastes, or by popularity.

    Returns:
        Users and items, int32, sorted.
    """
    rng = np.random.default_rng(seed)
    popularity = (np.arange(n_items) + 60.0) ** -1.6
    popularity = rng.permutation(popularity / popularity.sum())
    tastes = popularity * np.exp(rng.normal(0, 1.4, (GROUPS, n_items)))
    cdfs = np.vstack([np.cumsum(tastes, axis=1), np.cumsum(popularity)])
    cdfs /= cdfs[:, -1:]
    own = np.cumsum(rng.dirichlet(np.full(GROUPS, 0.08), n_users), axis=1)
    own = (np.minimum(own, 1.0) + np.arange(n_users)[:, None]).ravel()
    wanted = np.exp(rng.normal(0, SPREAD, n_users))
    wanted = LEAST + wanted * (n / n_users - LEAST) / wanted.mean()
    keys = np.zeros(0, dtype=np.int64)
    for _ in range(6):  # popular items are drawn twice by the same user, and drawn again
        missing = wanted - np.bincount(keys // n_items, minlength=n_users)
        users = np.repeat(np.arange(n_users), rng.poisson(np.maximum(missing, 0)))
        taste = np.searchsorted(own, users + rng.random(len(users))) % GROUPS
        taste[rng.random(len(users)) < NOISE] = GROUPS
        order = np.argsort(taste.astype(np.uint8), kind="stable")
        ends = np.searchsorted(taste[order], np.arange(GROUPS + 2))
        items = np.empty(len(users), dtype=np.int64)
        for g, cdf in enumerate(cdfs):
            mine = order[ends[g] : ends[g + 1]]
            items[mine] = np.searchsorted(cdf, rng.random(len(mine)))
        keys = np.concatenate([keys, users * n_items + np.minimum(items, n_items - 1)])
        keys.sort()
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
    return (keys // n_items).astype(np.int32), (keys % n_items).astype(np.int32)


def save(folder: Path, n_users: int, n_items: int, n: int) -> None:
    """Write ``train.npz`` and ``test.npz``: a fifth of the rows of every 14th user is held out."""
    users, items = draw(n_users, n_items, n)
    held = (users % 14 == 0) & (np.random.default_rng(1).random(len(users)) < 0.2)
    for name, rows in (("train", ~held), ("test", held)):
        np.savez(folder / name, users=users[rows], items=items[rows], shape=(n_users, n_items))


def matrix(folder: str, name: str = "train") -> Any:
    """CSR float32 of ones."""
    from scipy.sparse import csr_matrix

    with np.load(Path(folder) / f"{name}.npz") as z:
        ones = np.ones(len(z["users"]), np.float32)
        return csr_matrix((ones, (z["users"], z["items"])), shape=tuple(z["shape"]))


def recall_at_20(folder: str, users: np.ndarray, items: np.ndarray) -> float:
    """Mean over 4,000 users with held-out rows; factors ``[n, d]``, history left out."""
    train, test = matrix(folder), matrix(folder, "test")
    some = np.flatnonzero(np.diff(test.indptr))[:4000]
    found = []
    for block in np.array_split(some, 8):
        scores = users[block] @ items.T
        scores[train[block].nonzero()] = -np.inf
        top = np.argpartition(-scores, 20, axis=1)[:, :20]
        held = test[block].toarray() > 0
        hits = np.take_along_axis(held, top, axis=1).sum(axis=1)
        found.append(hits / np.minimum(held.sum(axis=1), 20))
    return float(np.concatenate(found).mean())
