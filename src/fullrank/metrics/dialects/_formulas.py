"""Formulas that more than one tool uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric, column


def cut_lengths(metric: RankMetric, ks: Cuts) -> NDArray[np.int64]:
    """Cut-offs as int64 ``[k]``.

    Raises:
        SpecError: none is given, and the tool knows no metric without.
    """
    if any(k is None for k in ks):
        raise SpecError(f"{metric}: {metric.dialect} defines it with a cut-off only; add @10")
    return np.array(ks, dtype=np.int64)


def reachable(metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
    """Most hits that a list can have: ``min(R, k)``, float64 ``[q, k]``."""
    return np.minimum(column(ranks.n_relevant(metric.rel)), cut_lengths(metric, ks))


def hits_of_reachable(metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
    """``hits(k) / min(R, k)``, float64 ``[q, k]``."""
    return ranks.hits(metric.rel, ks) / reachable(metric, ranks, ks)
