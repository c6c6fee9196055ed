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
    """Sampled ranks as if they were ranks in the catalogue.

    Targets of a query may have samples of several sizes. What precedes one target precedes those
    behind it, so that each stands behind as many candidates as any target ahead of it: no two get
    one place.
    """
    sample = ranked.sample
    assert sample is not None
    found, rows = sample.ranks > 0, rows_of(ranked.indptr)
    before = _ahead(np.where(found, sample.ranks + sample.listed, 0), sample.others, found, rows)
    place = np.where(found, before + sample.others, UNRANKED).astype(np.int32)
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


def _ahead(
    places: NDArray[np.int64],
    others: NDArray[np.int32],
    found: NDArray[np.bool_],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The largest of the places of a target and of those ahead of it in its query: ``[t]``."""
    order = np.lexsort((others, ~found, rows))
    reach = int(places.max(initial=0)) + 1
    running = np.maximum.accumulate(places[order] + rows[order] * reach) - rows[order] * reach
    out = np.empty(len(places), np.int64)
    out[order] = running
    return out
