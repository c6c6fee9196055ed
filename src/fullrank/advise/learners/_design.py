"""From cells and features to matrices that learners take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError

if TYPE_CHECKING:
    import polars as pl

_CATEGORIES = ("scenario", "metric", "strategy")


@dataclass(frozen=True)
class Design:
    """Columns: the features, ln(keep), and one-hot scenario, metric and strategy.

    Attributes:
        features: names.
        categories: known scenarios, metrics and strategies, each sorted.
    """

    features: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, frame: pl.DataFrame, features: list[str]) -> Design:
        """The design of training cells."""
        known = {name: tuple(frame[name].unique().sort().to_list()) for name in _CATEGORIES}
        return cls(tuple(features), known)

    def matrix(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """float64 ``[n, columns]`` with NaN where a feature is missing.

        Raises:
            DataError: a scenario, metric or strategy that was not learnt from.
        """
        parts = [
            frame.select(self.features).to_numpy().astype(np.float64),
            np.log(frame["keep"].to_numpy())[:, None],
        ]
        for name, known in self.categories.items():
            new = sorted(set(frame[name].unique()) - set(known))
            if new:
                raise DataError(
                    f"the {name} {new[0]!r} is not among those that were learnt from "
                    f"({', '.join(known)}); leave it out, or learn from cells that have it"
                )
            parts.append(frame[name].to_numpy()[:, None] == np.array(known, object)[None])
        return np.concatenate([part.astype(np.float64) for part in parts], axis=1)


@dataclass(frozen=True, eq=False)
class Scaled:
    """Columns for learners of weighted sums: filled, flagged, bounded and standardised.

    A missing number is the training's median, and columns that miss some there get a further
    column that says where. Numbers beyond those of the training are pulled to its ends: sums of
    few data sets say nothing of what lies outside. Then mean 0 and standard deviation 1; columns
    that don't vary are 0.
    """

    median: NDArray[np.float64]
    flagged: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]

    @classmethod
    def of(cls, x: NDArray[np.float64]) -> Scaled:
        """What training columns ``[n, p]`` are scaled by."""
        missing = np.isnan(x)
        known = np.where(missing.all(axis=0), 0.0, x)  # a column without any number is 0
        median = np.nanmedian(known, axis=0)
        flagged = np.flatnonzero(missing.any(axis=0) & ~missing.all(axis=0))
        filled = np.concatenate([np.where(missing, median, x), missing[:, flagged]], axis=1)
        std = filled.std(axis=0)
        return cls(
            median, flagged, filled.min(axis=0), filled.max(axis=0), filled.mean(axis=0),
            np.where(std > 1e-12 * np.maximum(np.abs(filled).max(axis=0), 1), std, np.inf),
        )  # fmt: skip

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64 ``[n, p + flags]``."""
        missing = np.isnan(x)
        filled = np.where(missing, self.median, x)
        whole = np.concatenate([filled, missing[:, self.flagged]], axis=1)
        return np.asarray((np.clip(whole, self.low, self.high) - self.mean) / self.std)
