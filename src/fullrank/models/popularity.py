"""Popularity: what most users take, of all time, lately, or with older rows fading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, suggest
from fullrank.core.interactions import UNITS_PER_DAY, Interactions
from fullrank.core.random import RNG
from fullrank.models._base import Monitor, Recommender


@dataclass(eq=False)
class Popularity(Recommender):
    """Score items by how many training users (or rows) they have; the same for every query.

    "Now" is the last time in the training rows, never the time of a query. A user without a
    history gets the same scores as any other. Items without rows score 0.

    Attributes:
        window: only rows of the last so many days before now count (steps for data whose times
            are places in a sequence); None for all. A row exactly that old still counts.
        half_life: a row that is so many days old counts half, twice as old a quarter; None for
            no decay.
        count: ``"users"``: each user counts once for an item, by the last of their rows that
            counts; ``"rows"``: each row counts.
    """

    window: float | None = None
    half_life: float | None = None
    count: Literal["users", "rows"] = "users"

    folds_in: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("scores_",)
    complexity: ClassVar[str] = "|R|"
    search_space: ClassVar[Mapping[str, Any]] = {"count": ["users", "rows"]}

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("window", "half_life"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SpecError(f"Popularity: {name} must be days > 0 or absent, got {value!r}")
        if self.count not in ("users", "rows"):
            raise SpecError(
                f"Popularity: unknown count {self.count!r}{suggest(self.count, ('users', 'rows'))}"
            )

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        weights = self._weights(train)
        kept = weights > 0
        if self.count == "users":
            kept &= _is_last_of_pair(train)
        sums = np.bincount(train.items[kept], weights[kept], minlength=train.n_items)
        self.scores_ = sums.astype(np.float32)

    def _weights(self, train: Interactions) -> NDArray[np.float64]:
        """Weight of each row by its age."""
        if self.window is None and self.half_life is None:
            return np.ones(len(train))
        times = train.require_times("Popularity with a window or half-life")
        age = (times.max() - times) / UNITS_PER_DAY.get(train.time_unit, 1)
        weights = np.ones(len(train)) if self.half_life is None else 0.5 ** (age / self.half_life)
        if self.window is not None:
            weights[age > self.window] = 0.0
        return np.asarray(weights)

    def shared_scores(self) -> NDArray[np.float32]:
        """The one row of scores ``[n_items]``."""
        self._require_fitted()
        return self.scores_


def _is_last_of_pair(train: Interactions) -> NDArray[np.bool_]:
    """Bool ``[n]``: the row is the latest (user, item) row; rows of a user are in time order."""
    key = train.users.astype(np.int64) * max(train.n_items, 1) + train.items
    order = np.argsort(key, kind="stable")
    key = key[order]
    out = np.zeros(len(key), dtype=bool)
    out[order[np.append(key[1:] != key[:-1], True)]] = True
    return out
