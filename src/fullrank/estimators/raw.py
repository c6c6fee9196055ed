"""The metric of sampled ranks as they are: inconsistent, and shown so."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError
from fullrank.core.ragged import rows_of
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.metrics import RankMetric


@dataclass(frozen=True, kw_only=True)
class Raw(Estimator):
    """The sampled metric itself, for comparison; inconsistent, and no estimate of the full one.

    ``estimate(…, method="raw")`` gives it with its interval by user. The interval speaks of the
    sampled metric: it shrinks around the wrong number.
    """

    consistent = False
    interval = "table"

    def fit(self, groups: Groups, bins: Bins) -> Fit:
        """There is nothing to fit.

        Raises:
            EstimateError: always.
        """
        raise EstimateError("the raw metric has no fit; take raw_values, or method='raw'")


def raw_values(ranked: TargetRanks, metric: RankMetric) -> NDArray[np.float64]:
    """The metric of each query's sampled ranks ``[q]``, as if they were ranks in the catalogue.

    Only AUC of one target has the full ranking's value as its expectation (it is linear in the
    rank); all others are other quantities (Krichene & Rendle 2020).
    """
    return metric.per_query(taken_as_full(ranked))


def taken_as_full(ranked: TargetRanks) -> TargetRanks:
    """Sampled ranks as if they were ranks in the catalogue."""
    sample = ranked.sample
    assert sample is not None
    found = sample.ranks > 0
    ahead = sample.others + sample.listed
    place = np.where(found, sample.ranks + ahead, UNRANKED).astype(np.int32)
    rows = rows_of(ranked.indptr)
    size = np.zeros(len(ranked), np.int64)
    np.maximum.at(size, rows, sample.sizes + sample.listed)
    size += np.bincount(rows, weights=found, minlength=len(ranked)).astype(np.int64) - 1
    return replace(
        ranked,
        best=place,
        worst=place.copy(),
        others="counted",
        sample=None,
        n_candidates=np.maximum(size, 0).astype(np.int32),
    )
