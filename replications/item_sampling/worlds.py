"""Full ranks that the study samples from: of real models, and of distributions by formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fullrank as fr
from fullrank import models
from fullrank.models import Recommender
from fullrank.rank import rank

Array = NDArray[np.float64]

REAL = (
    "ml-1m",
    "citeulike-a",
    "lastfm-2k",
    "steam-200k",
    "amazon-cds",
    "gowalla-lightgcn",
)


def neural(name: str, **settings: Any) -> Recommender:
    """A model that needs PyTorch, which is loaded here."""
    made: Recommender = getattr(models, name)(**settings)
    return made


MODELS: dict[str, Callable[[], Recommender]] = {
    "EASE": lambda: fr.EASE(reg=200.0),
    "ItemKNN": lambda: fr.ItemKNN(neighbours=200),
    "iALS": lambda: fr.IALS(embedding_dim=64),
    "NeuMF": lambda: neural("NeuMF", epochs=6, batch_size=1024, learning_rate=0.003),
    "Multi-VAE": lambda: neural("MultiVAE"),
    "Popularity": fr.Popularity,
}
LARGEST = {"EASE": 25_000, "NeuMF": 20_000, "Multi-VAE": 20_000}
"""Items up to which a model is fitted here: EASE for its memory, the others for their time."""

N, USERS = 10_000, 20_000
"""Catalogue and targets of the worlds by formula."""


def _normed(p: Array) -> Array:
    return p / p.sum()


def _bump(r: Array, at: float, width: float) -> Array:
    """A log-normal bump of the density of ranks."""
    return _normed(np.exp(-0.5 * (np.log(r / at) / width) ** 2) / r)


def _point(share: float, rest: Array) -> Array:
    """A share of targets at rank 1, the others by ``rest``."""
    p = (1 - share) * _normed(rest)
    p[0] += share
    return p


def _block(r: Array, low: int, high: int, share: float, rest: Array) -> Array:
    """A share of targets evenly at ranks ``low`` to ``high``, the others by ``rest``."""
    inside = (r >= low) & (r <= high)
    return share * _normed(inside.astype(float)) + (1 - share) * _normed(rest)


LAWS: dict[str, Callable[[Array], Array]] = {
    "pin": lambda r: 1 / (r + 50),
    "sharp": lambda r: 1 / (r + 2),
    "hump": lambda r: _bump(r, 30, 0.8),
    "pow.6": lambda r: r**-0.6,
    "pow1.2": lambda r: r**-1.2,
    "mass": lambda r: _point(0.15, 1 / (r + 30)),
    "block": lambda r: _block(r, 20, 40, 0.25, np.ones_like(r)),
    "unif": lambda r: 1 + 2 * np.exp(-r / 2000),
}
"""Those that the smooth-head fit was designed with, failures among them."""

FRESH: dict[str, Callable[[Array], Array]] = {
    "point 5 %": lambda r: _point(0.05, 1 / (r + 100)),
    "point 40 %": lambda r: _point(0.4, 1 / (r + 5)),
    "block 2-6": lambda r: _block(r, 2, 6, 0.1, 1 / (r + 50)),
    "block 60-90": lambda r: _block(r, 60, 90, 0.3, 1 / (r + 200)),
    "two bumps": lambda r: 0.3 * _bump(r, 5, 0.5) + 0.7 * _bump(r, 1500, 1.0),
    "exponential": lambda r: 0.4 * _normed(np.exp(-r / 25)) + 0.6 / len(r),
    "bend": lambda r: np.where(r < 200, r**-0.3, 200**0.9 * r**-1.2),
    "chance": np.ones_like,
}
"""Made for this study, and used for nothing else before."""


@dataclass(frozen=True)
class World:
    """Full ranks of one target a user, and the size of each user's catalogue."""

    ranks: NDArray[np.int64]
    catalogs: NDArray[np.int64]

    @property
    def n(self) -> int:
        return int(self.catalogs.max())


def names() -> list[tuple[str, str]]:
    """All worlds: data set and model, or kind and law."""
    formulas = [("law", name) for name in LAWS] + [("fresh law", name) for name in FRESH]
    return [(data, model) for data in REAL for model in MODELS] + formulas


def world(folder: Path, cache: Path, data: str, model: str) -> World | None:
    """Ranks of a law, or of a fitted model, kept in ``cache``; None where that is too large."""
    if data in ("law", "fresh law"):
        law = {**LAWS, **FRESH}[model]
        source = np.random.default_rng(sum(map(ord, model)))
        p = _normed(law(np.arange(1.0, N + 1)))
        ranks = source.choice(np.arange(1, N + 1), size=USERS, p=p)
        return World(ranks, np.full(USERS, N))
    path = cache / f"{data}-{model}.npz"
    if path.exists():
        kept = np.load(path)
        return World(kept["ranks"], kept["catalogs"])
    log = fr.read(folder / data / "interactions.parquet").interactions
    if log.n_items > LARGEST.get(model, log.n_items):
        return None
    split = fr.LeaveRandom(valid=0).split(log)
    found = rank(MODELS[model]().fit(split.train, rng=0), split.queries("test")).targets
    ranked = found.ranked
    draw = np.random.default_rng(0).random(len(found.best))
    width = found.worst.astype(np.int64) - found.best + 1
    ranks = (found.best + np.floor(draw * width)).astype(np.int64)  # ties settled at random
    rows = np.repeat(np.arange(len(found)), np.diff(found.indptr))
    made = World(ranks[ranked], found.n_candidates[rows][ranked].astype(np.int64))
    cache.mkdir(parents=True, exist_ok=True)
    np.savez(path, ranks=made.ranks, catalogs=made.catalogs)
    return made
