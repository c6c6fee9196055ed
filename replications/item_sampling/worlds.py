"""Ranks of real models in the whole catalogue, leave-one-out: what the study samples from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fullrank as fr
from fullrank.rank import rank

DATA = {
    "ml-1m": "ml-1m/interactions.parquet",
    "citeulike-a": "citeulike-a/interactions.parquet",
    "lastfm-2k": "lastfm-2k/interactions.parquet",
    "steam-200k": "steam-200k/interactions.parquet",
    "amazon-cds": "amazon-cds/interactions.parquet",
    "gowalla-lightgcn": "gowalla-lightgcn/interactions.parquet",
}
MODELS = {
    "EASE": lambda: fr.EASE(reg=200.0),
    "ItemKNN": lambda: fr.ItemKNN(neighbours=200),
    "iALS": lambda: fr.IALS(embedding_dim=64),
    "Popularity": fr.Popularity,
}
LARGEST_EASE = 25_000
"""Items up to which EASE's dense matrix is worth its memory here."""


@dataclass(frozen=True)
class World:
    """Full ranks of one target a user, and the size of each user's catalogue."""

    ranks: np.ndarray
    catalogs: np.ndarray

    @property
    def n(self) -> int:
        return int(self.catalogs.max())


def world(folder: Path, cache: Path, data: str, model: str) -> World | None:
    """Fit a model and rank each user's left-out item; kept in ``cache``."""
    path = cache / f"{data}-{model}.npz"
    if path.exists():
        kept = np.load(path)
        return World(kept["ranks"], kept["catalogs"])
    log = fr.read(folder / DATA[data]).interactions
    split = fr.LeaveRandom(valid=0).split(log)
    if model == "EASE" and log.n_items > LARGEST_EASE:
        return None
    queries = split.queries("test")
    found = rank(MODELS[model]().fit(split.train, rng=0), queries).targets
    ranked = found.ranked
    draw = np.random.default_rng(0).random(len(found.best))
    width = found.worst.astype(np.int64) - found.best + 1
    ranks = (found.best + np.floor(draw * width)).astype(np.int64)  # ties settled at random
    rows = np.repeat(np.arange(len(found)), np.diff(found.indptr))
    made = World(ranks[ranked], found.n_candidates[rows][ranked].astype(np.int64))
    cache.mkdir(parents=True, exist_ok=True)
    np.savez(path, ranks=made.ranks, catalogs=made.catalogs)
    return made
