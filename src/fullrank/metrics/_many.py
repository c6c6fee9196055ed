"""Several metrics of the same ranks in as few passes as they allow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullrank.core.ranked import TargetRanks
from fullrank.metrics._base import Metric
from fullrank.metrics._prepared import Prepared
from fullrank.metrics._rank import RankMetric


def per_query_many(
    ranked: TargetRanks, metrics: Iterable[Metric]
) -> dict[Metric, NDArray[np.float64]]:
    """Evaluate several metrics, those that differ in k alone in one pass.

    Args:
        ranked: what ranking left behind.
        metrics: metrics of ranks; each once in the result, in the order given.

    Returns:
        By metric its values, float64 ``[q]``, the same as ``metric.per_query(ranked)``.
    """
    wanted = list(dict.fromkeys(metrics))
    families: dict[RankMetric, list[RankMetric]] = {}
    for metric in wanted:
        if isinstance(metric, RankMetric):
            families.setdefault(replace(metric, k=None), []).append(metric)
    shared = Prepared(ranked)
    values: dict[Metric, NDArray[np.float64]] = {}
    for family, members in families.items():
        table = family.per_cutoff(shared, [metric.k for metric in members])
        for j, metric in enumerate(members):
            values[metric] = np.ascontiguousarray(table[:, j])
    return {m: values[m] if m in values else m.per_query(ranked) for m in wanted}
