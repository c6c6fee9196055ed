"""Cases: sampled ranks, checked, in strata of targets that are estimated together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError
from fullrank.core.ragged import rows_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample
from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._terms import Shapes
from fullrank.metrics import RankMetric

_FEW = 100
"""Targets that a stratum needs; smaller ones join their neighbour."""


@dataclass(frozen=True, eq=False)
class Stratum:
    """Targets with as many other targets ahead of them, whose ranks are estimated together.

    Attributes:
        targets: int64 ``[n]``, which ones.
        groups: of equal sampled ranks.
        kinds: int64 ``[s]``, kinds of targets that occur.
        cells: int64 ``[n]``: group times ``len(kinds)`` plus the place of the kind.
        catalog: mean catalogue size.
    """

    targets: NDArray[np.int64]
    groups: Groups
    kinds: NDArray[np.int64]
    cells: NDArray[np.int64]
    catalog: int

    def weights(self, targets: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Targets in each cell ``[g, s]``, each with its weight ``[t]`` if given."""
        shape = len(self.groups), len(self.kinds)
        mine = None if targets is None else targets[self.targets]
        counts = np.bincount(self.cells, weights=mine, minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Cases:
    """Sampled ranks that an estimator can take.

    Attributes:
        ranked: the ranks with their sample.
        shapes: kinds of targets.
        strata: by the number of targets ahead.
        rows: int64 ``[t]``, query of each target.
    """

    ranked: TargetRanks
    shapes: Shapes
    strata: list[Stratum]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, ranked: TargetRanks) -> Cases:
        """Check ranks among sampled candidates, and gather them.

        Raises:
            EstimateError: ranks of another design, or that can't be.
        """
        sample = checked_sample(ranked)
        shapes, rows = Shapes.of(ranked), rows_of(ranked.indptr)
        strata = []
        ahead = np.where(sample.ranks > 0, sample.others, -1)
        for some in _strata(ahead):
            sizes, catalogs = (
                x[some].astype(np.int64) for x in (sample.sizes, sample.catalog_sizes)
            )
            groups, member = Groups.of(
                sample.ranks[some].astype(np.int64),
                sizes,
                catalogs,
                replacement=sample.replacement,
            )
            kinds, kind = np.unique(shapes.member[some], return_inverse=True)
            cells = member * len(kinds) + kind.reshape(-1)
            strata.append(Stratum(some, groups, kinds, cells, round(float(catalogs.mean()))))
        return cls(ranked, shapes, strata, rows)

    def empty(self, metric: RankMetric) -> NDArray[np.float64]:
        """Value of each query if none of its targets were ranked: ``[q]``, NaN if undefined."""
        catalog = self.strata[0].catalog if self.strata else 2
        return self.shapes.empty(metric, catalog)

    def fit(self, estimator: Estimator, k: int) -> list[Fit]:
        """Fit each stratum, for metrics that look at ``k`` places."""
        return [estimator.fit(s.groups, estimator.bins(s.groups.n, k)) for s in self.strata]

    def functions(
        self, number: int, metrics: Sequence[RankMetric], bins: Bins
    ) -> NDArray[np.float64]:
        """Means over bins of the terms of a stratum: float64 ``[bins, kinds, metrics]``."""
        stratum = self.strata[number]
        out = np.empty((len(bins), len(stratum.kinds), len(metrics)))
        for s, kind in enumerate(stratum.kinds.tolist()):
            for j, metric in enumerate(metrics):
                out[:, s, j] = bins.means(self._term(metric, kind, stratum.catalog))
        return np.nan_to_num(out, nan=0.0)  # queries that the metric is undefined for

    def _term(
        self, metric: RankMetric, kind: int, catalog: int
    ) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
        ahead = int(self.shapes.ahead[kind])

        def term(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
            if metric.k is None:  # AUC takes each catalogue for one of the mean size
                inside = np.minimum(ranks, catalog)
                return self.shapes.terms(metric, kind, inside, catalog)
            out = np.zeros(len(ranks))
            seen = ranks + ahead <= metric.k
            if seen.any():
                out[seen] = self.shapes.terms(metric, kind, ranks[seen], catalog)
            return out

        return term


def _strata(ahead: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Targets by the number ahead, 0, 1, 2, 3-4, 5-8 and so on; small ones joined."""
    level = np.where(ahead < 3, ahead, 2 + np.ceil(np.log2(np.maximum(ahead, 2) / 2.0)))
    order = np.argsort(level, kind="stable")
    order = order[level[order] >= 0]
    if not len(order):
        return []
    edges = np.flatnonzero(np.diff(level[order])) + 1
    out: list[NDArray[np.int64]] = []
    for part in np.split(order, edges):
        if out and len(part) < _FEW:
            out[-1] = np.sort(np.concatenate([out[-1], part]))
        else:
            out.append(np.sort(part))
    return out


def checked_sample(ranked: TargetRanks) -> Sample:
    """The sample of ranks, if something can be told from it.

    Raises:
        EstimateError: says what was expected and found.
    """
    sample = ranked.sample
    if sample is None:
        raise EstimateError(
            "estimates need ranks among sampled candidates, and these are of the full ranking "
            "or of lists; rank with candidates=Uniform(m=100), or evaluate them as they are"
        )
    if sample.scheme != "uniform":
        how = "drawn by weight" if sample.scheme == "weighted" else "given as lists"
        raise EstimateError(
            f"the candidates were {how}, and estimators here need uniform draws: the rank among "
            "others tells nothing of the rank in the catalogue; draw with Uniform(m=…)"
        )
    found = sample.ranks > 0
    if not found.any():
        raise EstimateError("no target was ranked: nothing can be estimated")
    _check_ranks(sample, found)
    return sample


def _check_ranks(sample: Sample, found: NDArray[np.bool_]) -> None:
    r, n, big = sample.ranks, sample.sizes, sample.catalog_sizes
    for bad, says in (
        (n < 2, "a sample of {n} holds no candidate beside the target; draw at least 1"),
        (r > n, "rank {r} among a sample of {n}; ranks are 1 to the sample size"),
        (big < 2, "a catalogue of {N} leaves nothing to rank among"),
        ((n > big) & (not sample.replacement),
         "a sample of {n} from a catalogue of {N} without replacement"),
    ):  # fmt: skip
        where = np.flatnonzero(bad & found)
        if len(where):
            t = int(where[0])
            raise EstimateError(
                f"target {t + 1} of {len(r):,}: " + says.format(r=r[t], n=n[t], N=big[t])
            )
