"""What studies on samples cost on the data sets that were measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Saving:
    """Share of the time of a study that a sample saves, its drawing charged.

    A study is the search, fit and ranking of all models of the scenario. Where drawing takes more
    than is saved, shares are below 0.

    Attributes:
        median: over data sets.
        low: their first quartile.
        high: their third quartile.
        keep: size that it was measured at, the nearest to the one that was asked for.
        data_sets: how many.
    """

    median: float
    low: float
    high: float
    keep: float
    data_sets: int


def saving(costs: pl.DataFrame, scenario: str, strategy: str, keep: float) -> Saving | None:
    """What a sampler saved; None where nothing was measured.

    Args:
        costs: of ``MetaData``.
        scenario: label.
        strategy: text of the sampler.
        keep: share of the rows.
    """
    import polars as pl

    own = costs.filter(
        pl.col("scenario") == scenario,
        pl.col("strategy") == strategy,
        pl.all_horizontal(pl.col("draw_seconds", "study_seconds", "full_seconds").is_not_null()),
        pl.col("full_seconds") > 0,
    )
    if not len(own):
        return None
    sizes = own["keep"].unique().sort().to_numpy()
    nearest = float(sizes[np.argmin(np.abs(np.log(sizes / keep)))])
    near = own.filter(pl.col("keep") == nearest)
    spent = near["draw_seconds"] + near["study_seconds"]
    saved = 1 - (spent / near["full_seconds"]).to_numpy()
    low, median, high = (float(x) for x in np.quantile(saved, (0.25, 0.5, 0.75)))
    return Saving(median, low, high, nearest, len(near))
