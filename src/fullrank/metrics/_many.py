"""Several metrics of the same ranks in as few passes as they allow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullrank.core.ranked import TargetRanks
from fullrank.core.threads import run_chunks
from fullrank.metrics._base import Metric
from fullrank.metrics._prepared import Prepared
from fullrank.metrics._rank import RankMetric

_BLOCK = 1 << 13
"""Queries evaluated together: their ranks and values stay in the cache while metrics go by."""


def per_query_many(
    ranked: TargetRanks, metrics: Iterable[Metric]
) -> dict[Metric, NDArray[np.float64]]:
    """Evaluate several metrics, those that differ in k alone in one pass.

    Blocks of queries go through all metrics, in threads; what metrics share (relevance, gains,
    hits, tables) is made once a block.

    Args:
        ranked: what ranking left behind.
        metrics: metrics of ranks; each once in the result, in the order given.

    Returns:
        By metric its values, float64 ``[q]``, the same as ``metric.per_query(ranked)``.
    """
    wanted = list(dict.fromkeys(metrics))
    shared = Prepared(ranked)
    values: dict[Metric, NDArray[np.float64]] = {}
    plain = [m for m in wanted if isinstance(m, RankMetric)]
    _in_blocks(shared, [m for m in plain if m.dialect is None], values)
    for family, members in _families([m for m in plain if m.dialect is not None]).items():
        table = family.per_cutoff(shared, [metric.k for metric in members])
        for j, metric in enumerate(members):
            values[metric] = np.ascontiguousarray(table[:, j])
    return {m: values[m] if m in values else m.per_query(ranked) for m in wanted}


def _families(metrics: list[RankMetric]) -> dict[RankMetric, list[RankMetric]]:
    """Metrics by what they are without their cut-off."""
    families: dict[RankMetric, list[RankMetric]] = {}
    for metric in metrics:
        families.setdefault(replace(metric, k=None), []).append(metric)
    return families


def _in_blocks(
    ranks: Prepared, metrics: list[RankMetric], values: dict[Metric, NDArray[np.float64]]
) -> None:
    """Fill ``values`` with those of metrics whose rows depend on their query alone."""
    families = _families(metrics)
    for family, members in families.items():
        family.check_cutoffs(ranks, [metric.k for metric in members])
    out = np.empty((len(metrics), len(ranks)))
    values.update(zip(metrics, out, strict=True))

    def fill(first: int, last: int) -> None:
        part = ranks.part(first, last)
        for family, members in families.items():
            table = family.values_at(part, [metric.k for metric in members])
            for j, metric in enumerate(members):
                values[metric][first:last] = table[:, j]

    run_chunks(fill, len(ranks), _BLOCK)
