"""Models that watch what they are given, or fail; imported by name from benchmarks."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from fullrank.core.errors import DataError
from fullrank.models import Popularity


@dataclass(eq=False)
class Spy(Popularity):
    """Popularity that appends what ``fit`` and ``score`` saw to the file named by SPY."""

    strength: float = 1.0

    def fit(self, train, *, rng=0, **how):
        times = train.times if train.times is not None else np.zeros(len(train))
        rows = zip(train.user_vocab.ids[train.users], train.item_vocab.ids[train.items], times)
        self._write("fit", rows=[[str(u), int(i), int(t)] for u, i, t in rows])
        return super().fit(train, rng=rng, **how)

    def _score(self, queries):
        self._write(
            "score",
            users=[str(u) for u in queries.user_ids],
            targets=len(queries.target_items) + int(queries.target_counts.sum()),
            histories=[[int(i) for i in queries.item_vocab.ids[queries.history(j)]]
                       for j in range(len(queries))],
        )  # fmt: skip
        return self.strength * super()._score(queries)

    def _write(self, what, **seen):
        with Path(os.environ["SPY"]).open("a") as file:
            file.write(json.dumps({"what": what, "strength": self.strength, **seen}) + "\n")


@dataclass(eq=False)
class Picky(Popularity):
    """Refuses small settings once it sees the data."""

    size: float = 1.0

    def _fit(self, train, rng, monitor):
        if self.size < 0.5:
            raise DataError(f"size {self.size:.3f} is too small")
        super()._fit(train, rng, monitor)


@dataclass(eq=False)
class Singular(Popularity):
    """Fails as linear algebra does for half of its settings."""

    size: float = 1.0

    def _fit(self, train, rng, monitor):
        if self.size < 0.5:
            raise np.linalg.LinAlgError("Singular matrix")
        super()._fit(train, rng, monitor)


@dataclass(eq=False)
class Broken(Popularity):
    """Has a slip in its code."""

    def _fit(self, train, rng, monitor):
        raise KeyError("lost")


@dataclass(eq=False)
class Noisy(Popularity):
    """Random scores around popularity, for seeds that matter."""

    seeded: ClassVar[bool] = True

    def _fit(self, train, rng, monitor):
        super()._fit(train, rng, monitor)
        noise = np.random.default_rng(rng).random(len(self.scores_))
        self.scores_ = (self.scores_ + 3 * noise).astype(np.float32)


@dataclass(eq=False)
class Shift(Popularity):
    """Makes room for a padding id in the histories that it is handed, which others share."""

    def _score(self, queries):
        history = queries.history_items
        history += 1
        return super()._score(queries)


@dataclass(eq=False)
class Relabel(Popularity):
    """Writes into its training rows."""

    def _fit(self, train, rng, monitor):
        train.items[:] = 0
        super()._fit(train, rng, monitor)
