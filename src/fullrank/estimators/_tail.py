"""AUC and MeanRank: made of each target's share of its own catalogue, so told on that scale.

With ``u = (R - 1) / (N - 1)``, the share of a target's candidates that precede it, AUC is the mean
of ``1 - u``, and the mean rank is ``u (N - 1)`` plus what is known: 1, and the other targets ahead.
Where catalogues differ (masked histories), a rank in one of mean size would be another quantity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullrank.core.ragged import rows_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample
from fullrank.estimators._terms import Terms
from fullrank.metrics import RankMetric

TAIL = ("AUC", "MeanRank")
"""Metrics to which far ranks matter as much as near ones: those the smooth-head fit lumps."""

_SPREAD = 1.25
"""Catalogue sizes of a stratum, largest over smallest, if it has targets enough: whether ranks are
better in smaller catalogues is left to the data."""


def by_catalogue(
    parts: Sequence[NDArray[np.int64]], catalogs: NDArray[np.int32]
) -> list[list[NDArray[np.int64]]]:
    """Each part of the targets, cut by the sizes of catalogues, ascending."""
    out = []
    for part in parts:
        sizes = catalogs[part].astype(np.float64)
        number = np.floor(np.log(sizes / sizes.min()) / np.log(_SPREAD))
        order = np.argsort(number, kind="stable")
        out.append(np.split(part[order], np.flatnonzero(np.diff(number[order])) + 1))
    return out


def in_one_catalogue(sample: Sample, some: NDArray[np.int64]) -> Sample:
    """The sample with some of its targets put into a catalogue of the largest of their sizes.

    The share of candidates that precede a target stays: a sampled rank tells of it alone (with
    replacement; without, but for how much of the catalogue the sample is). Ranks in a whole
    catalogue are stretched, to the nearest whole rank.
    """
    catalogs = sample.catalog_sizes[some].astype(np.int64)
    n = int(catalogs.max())
    if (catalogs == n).all():
        return sample
    ranks, sizes, all_ = (x.copy() for x in (sample.ranks, sample.sizes, sample.catalog_sizes))
    whole = (sizes[some] == catalogs) & (not sample.replacement)
    exact = some[whole]
    share = (ranks[exact] - 1) / np.maximum(catalogs[whole] - 1, 1)
    ranks[exact] = 1 + np.rint(share * (n - 1)).astype(np.int32)
    sizes[exact] = all_[some] = n
    return replace(sample, ranks=ranks, sizes=sizes, catalog_sizes=all_)


def best_shares(ranks: NDArray[np.int64], catalog: int) -> NDArray[np.float64]:
    """``1 - u`` at each rank: the share of candidates that the target precedes."""
    return 1.0 - (np.minimum(ranks, catalog) - 1) / max(catalog - 1, 1)


@dataclass(frozen=True, eq=False)
class Shares:
    """What ``1 - u`` of each target counts for in such metrics, and what is known beside it.

    Attributes:
        member: int64 ``[t]``, kind of each target: those that count for as much.
        scale: float64 ``[s, metrics]`` of each kind.
        start: float64 ``[q, metrics]``, the value of a query if ``u = 1`` for all its targets; NaN
            where the metric is undefined.
    """

    member: NDArray[np.int64]
    scale: NDArray[np.float64]
    start: NDArray[np.float64]

    @classmethod
    def of(cls, ranked: TargetRanks, metrics: Sequence[RankMetric]) -> Shares:
        """Look at the targets of ranks among sampled candidates."""
        scales, starts = zip(*(_scale(ranked, metric) for metric in metrics))
        scale, member = np.unique(np.stack(scales, axis=1), axis=0, return_inverse=True)
        return cls(member.reshape(-1), scale, np.stack(starts, axis=1))

    def terms(self, kinds: NDArray[np.int64]) -> list[Terms]:
        """Terms of each metric for targets of some kinds: multiples of one function."""
        one = np.zeros(len(kinds), np.int64)
        return [Terms(one, column[kinds], one[:1]) for column in self.scale.T]


def _scale(
    ranked: TargetRanks, metric: RankMetric
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scale of each target ``[t]``, and start of each query ``[q]``."""
    sample, rows = ranked.sample, rows_of(ranked.indptr)
    assert sample is not None
    q, counts = len(ranked), np.diff(ranked.indptr)
    relevant = ranked.gains > 0 if metric.rel is None else ranked.gains >= metric.rel
    total = np.bincount(rows, weights=relevant, minlength=q)
    catalogs = np.ones(q, np.int64)
    np.maximum.at(catalogs, rows, sample.catalog_sizes)
    each = relevant / np.maximum(total, 1)[rows]
    start = np.where((total > 0) & (catalogs > 1), 0.0, np.nan)
    if metric.name == "AUC":
        return each, start
    places = np.where(sample.ranks > 0, sample.others + 1, counts[rows])
    start = start + catalogs - 1.0 + np.bincount(rows, weights=each * places, minlength=q)
    return -each * (catalogs - 1.0)[rows], np.asarray(start, np.float64)
