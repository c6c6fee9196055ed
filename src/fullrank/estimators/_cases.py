"""Cases: sampled ranks, checked, in strata of targets that are estimated together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError
from fullrank.core.ragged import rows_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.sample import Sample
from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._groups import Groups
from fullrank.estimators._listed_fit import ListedFit
from fullrank.estimators._tail import Shares, by_catalogue, in_one_catalogue
from fullrank.estimators._terms import Kinds
from fullrank.estimators.screened_exact import HorvitzThompson
from fullrank.estimators.smooth_head import SmoothFit
from fullrank.metrics import RankMetric

_FEW = 100
"""Targets that a stratum needs; smaller ones join their neighbour."""

_FEW_LISTED = 60
"""The same for strata by listed items."""

_STEPS = 4
"""Strata by listed items in a doubling of their number. What of the rest precedes a target grows
with what of the list does: with one stratum from 17 to 32, targets just within a cut-off of 20 were
taken for those far beyond it (a bias of -1.5 % there on MovieLens 1M, of 0.3 % with four steps)."""


@dataclass(frozen=True, eq=False)
class Stratum:
    """Targets with as much ahead of them, whose ranks are estimated together.

    Attributes:
        targets: int64 ``[n]``, which ones.
        groups: of equal sampled ranks.
        kinds: int64 ``[s]``, kinds of targets that occur.
        group: int64 ``[p]``, group of each pair of a group and a kind that occurs.
        kind: int64 ``[p]``, its place in ``kinds``.
        pair: int64 ``[n]``, pair of each target.
        catalog: mean catalogue size.
    """

    targets: NDArray[np.int64]
    groups: Groups
    kinds: NDArray[np.int64]
    group: NDArray[np.int64]
    kind: NDArray[np.int64]
    pair: NDArray[np.int64]
    catalog: int

    @classmethod
    def of(cls, sample: Sample, kinds: NDArray[np.int64], some: NDArray[np.int64]) -> Stratum:
        """Gather some of the targets."""
        catalogs = sample.catalog_sizes[some].astype(np.int64)
        groups, group = Groups.of(
            sample.ranks[some].astype(np.int64),
            sample.sizes[some].astype(np.int64),
            catalogs,
            replacement=sample.replacement,
        )
        present, kind = np.unique(kinds[some], return_inverse=True)
        if len(present) == 1:
            pairs, pair = np.arange(len(groups)), group
        else:
            pairs, pair = np.unique(group * len(present) + kind.reshape(-1), return_inverse=True)
        return cls(
            targets=some,
            groups=groups,
            kinds=present,
            group=pairs // len(present),
            kind=pairs % len(present),
            pair=pair.reshape(-1),
            catalog=round(float(catalogs.mean())),
        )

    def counts(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Targets of each pair: float64 ``[p]``; with a weight for each of all targets ``[t]``."""
        mine = None if weights is None else weights[self.targets]
        return np.bincount(self.pair, weights=mine, minlength=len(self.group)).astype(np.float64)

    def by_group(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Targets of each group, from those of each pair."""
        out = np.bincount(self.group, weights=counts, minlength=len(self.groups))
        return out.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Cases:
    """Sampled ranks that an estimator can take.

    Attributes:
        ranked: the ranks with their sample.
        kinds: of targets.
        strata: by the numbers of listed items and of targets ahead; what is surely beyond the
            deepest cut-off is in none, as it adds nothing.
        rows: int64 ``[t]``, query of each target.
        shares: of AUC and MeanRank, if these are what is estimated.
    """

    ranked: TargetRanks
    kinds: Kinds
    strata: list[Stratum]
    rows: NDArray[np.int64]
    shares: Shares | None = None

    @classmethod
    def of(cls, ranked: TargetRanks, tail: Sequence[RankMetric] = ()) -> Cases:
        """Check ranks among sampled candidates, and gather them.

        Args:
            ranked: the ranks with their sample.
            tail: AUC and MeanRank, if nothing else is estimated: strata are then by the sizes of
                catalogues too, and each is put into one catalogue.

        Raises:
            EstimateError: ranks of another design, or that can't be.
        """
        sample, kinds = checked_sample(ranked, lists=True), Kinds.of(ranked)
        open_ = (sample.ranks > 0) & ~sample.settled
        if not open_.any():
            raise EstimateError(
                f"each ranked target has {sample.k_max} or more items of its list and other "
                "targets ahead: metrics up to that cut-off are 0, with nothing to estimate"
            )
        rows = rows_of(ranked.indptr)
        parts = _strata(
            np.where(open_, sample.others, -1), np.diff(ranked.indptr)[rows], sample.listed
        )
        if not tail:
            strata = [Stratum.of(sample, kinds.member, some) for some in parts]
            return cls(ranked, kinds, strata, rows)
        shares = Shares.of(ranked, tail)
        parts = [p for cut in by_catalogue(parts, sample.catalog_sizes) for p in _enough(cut, _FEW)]
        strata = [Stratum.of(in_one_catalogue(sample, some), shares.member, some) for some in parts]
        return cls(ranked, kinds, strata, rows, shares)

    def check(self, estimator: Estimator, metrics: Sequence[RankMetric]) -> None:
        """Refuse what can't be told from a list and a sample of the rest.

        Raises:
            EstimateError: a cut-off beyond that of the design, or none; methods for other samples.
        """
        assert self.ranked.sample is not None
        k_max = self.ranked.sample.k_max
        if k_max is None:
            return
        for metric in metrics:
            if metric.k is None:
                raise EstimateError(
                    f"{metric} looks at the whole ranking, and a proxy list tells its head alone; "
                    "take a cut-off, such as ndcg@10, or draw with candidates=Thinned()"
                )
            if metric.k > k_max:
                raise EstimateError(
                    f"{metric} looks beyond the first {k_max} places, from where targets were not "
                    f"compared any further; take a cut-off up to {k_max}, or rank with "
                    f"ProxyList(k_max={metric.k})"
                )
        if isinstance(estimator, HorvitzThompson) or not estimator.adaptive:
            raise EstimateError(
                f"{type(estimator).__name__} can't take a proxy list, whose targets differ in the "
                "sizes of their samples, by hits and coins; take SH or MLE"
            )

    def fit(self, estimator: Estimator, k: int) -> list[Fit]:
        """Fit each stratum, for metrics that look at ``k`` places."""
        assert self.ranked.sample is not None
        fits = [estimator.fit(s.groups, estimator.bins(s.groups.n, k)) for s in self.strata]
        if self.ranked.sample.k_max is None:
            return fits
        return [ListedFit.of(fit) if isinstance(fit, SmoothFit) else fit for fit in fits]


def _strata(
    ahead: NDArray[np.int32], sizes: NDArray[np.int64], listed: NDArray[np.int32]
) -> list[NDArray[np.int64]]:
    """Targets by the listed items ahead (0, 1, 2, 3, 4, 5, 6, 7-8, 9 and so on), then by targets.

    Few targets with as many listed items join those with fewer.

    Args:
        ahead: int32 ``[t]`` targets ahead; -1 for what is left out.
        sizes: int64 ``[t]`` targets of each target's query.
        listed: int32 ``[t]`` listed items ahead.
    """
    some = np.flatnonzero(ahead >= 0)
    level = _level(listed[some], _STEPS)
    order = np.argsort(level, kind="stable")
    cuts = np.flatnonzero(np.diff(level[order]) != 0) + 1
    parts = _enough(np.split(order, cuts), _FEW_LISTED)
    out = []
    for part in parts:
        mine = np.sort(some[part])
        out += [mine[few] for few in _by_targets(ahead[mine], sizes[mine])]
    return out


def _level(numbers: NDArray[np.int32], steps: int = 1) -> NDArray[np.float64]:
    """0, 1, 2, 3-4, 5-8 and so on; or so many steps for each doubling."""
    far = 2 + np.ceil(steps * np.log2(np.maximum(numbers, 2) / 2.0))
    return np.where(numbers < 3, numbers, far)


def _by_targets(ahead: NDArray[np.int32], sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Targets by the number ahead (0, 1, 2, 3-4, 5-8 and so on) and the targets of their query.

    The fourth of 50 targets stands elsewhere than the fourth of 4, and counts for less in what is
    divided by the number of targets: one distribution for both would be wrong. Sizes of queries
    are together within a factor of the root of 2; small strata join the next of as many ahead.

    Args:
        ahead: int32 ``[t]`` targets ahead.
        sizes: int64 ``[t]`` targets of each target's query.
    """
    level = _level(ahead)
    size = np.floor(2.0 * np.log2(np.maximum(sizes, 1)))
    order = np.lexsort((size, level))
    new = (np.diff(level[order]) != 0) | (np.diff(size[order]) != 0)
    parts = _enough(np.split(order, np.flatnonzero(new) + 1), _FEW)
    return [np.sort(part) for part in parts]


def _enough(parts: list[NDArray[np.int64]], few: int) -> list[NDArray[np.int64]]:
    """Neighbouring parts joined, until each has ``few`` members; no longer than that."""
    out: list[NDArray[np.int64]] = []
    for part in parts:
        if out and len(out[-1]) < few:
            out[-1] = np.concatenate([out[-1], part])
        else:
            out.append(part)
    if len(out) > 1 and len(out[-1]) < few:
        out[-2:] = [np.concatenate(out[-2:])]
    return out


def checked_sample(ranked: TargetRanks, *, lists: bool = False) -> Sample:
    """The sample of ranks, if something can be told from it.

    Args:
        ranked: ranks among sampled candidates.
        lists: take what was compared with a list beforehand, too.

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
    if sample.k_max is not None and not lists:
        raise EstimateError(
            "these ranks are of a proxy list and a sample of the rest, and this needs a sample of "
            "the whole catalogue; draw with Uniform(m=…) or Thinned()"
        )
    found = sample.ranks > 0
    if not found.any():
        raise EstimateError("no target was ranked: nothing can be estimated")
    _check_ranks(sample, found)
    return sample


def _check_ranks(sample: Sample, found: NDArray[np.bool_]) -> None:
    if sample.k_max is not None:  # nothing to draw from, or no need to
        found = found & ~sample.settled & ((sample.sizes > 1) | (sample.catalog_sizes > 1))
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
