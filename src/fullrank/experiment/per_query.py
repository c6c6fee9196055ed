"""The long table of a benchmark: one row per data set, model, seed, query and metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullrank.experiment.leaderboard import Entry, entries
from fullrank.experiment.results import Results
from fullrank.metrics import Metric

if TYPE_CHECKING:
    import polars as pl


def per_query_table(results: Results, metrics: tuple[Metric, ...] | None = None) -> pl.DataFrame:
    """Per-query values of every model, for analyses of one's own.

    Args:
        results: of a benchmark.
        metrics: others than those of the benchmark file: every rank metric at every cut-off
            follows from the stored ranks.

    Returns:
        Columns ``data, fold, model, seed, user_id, query_id, cold, metric, value``; null where a
        query has no value, and as the seed of a model that draws nothing.
    """
    import polars as pl

    parts = [
        _rows(entry, seed, metric)
        for entry in entries(results, metrics)
        for seed, values in entry.seeds.items()
        for metric in values
    ]
    return pl.concat(parts)


def _rows(entry: Entry, seed: int | None, metric: Metric) -> pl.DataFrame:
    import polars as pl

    folds, users, numbers = zip(*entry.keys)
    large = not isinstance(users[0], str) and max(users) >= 2**63
    dtype = pl.String if isinstance(users[0], str) else pl.UInt64 if large else pl.Int64
    return pl.DataFrame(
        {
            "fold": pl.Series(folds, dtype=pl.Int32),
            "user_id": pl.Series(users, dtype=dtype),
            "query_id": pl.Series(numbers, dtype=pl.Int64),
            "cold": entry.cold,
            "value": pl.Series(entry.seeds[seed][metric].per_query).fill_nan(None),
        }
    ).select(
        pl.lit(entry.data).alias("data"),
        "fold",
        pl.lit(entry.model).alias("model"),
        pl.lit(seed, dtype=pl.Int64).alias("seed"),
        "user_id",
        "query_id",
        "cold",
        pl.lit(str(metric)).alias("metric"),
        "value",
    )
