"""A metric to estimate: sums over groups and kinds of targets, for any fit and any weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError
from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._bins import Bins
from fullrank.estimators._cases import Cases, Stratum
from fullrank.estimators._tail import best_shares
from fullrank.estimators._terms import Terms
from fullrank.estimators.smooth_head import SmoothFit
from fullrank.metrics import RankMetric

Weights = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Columns:
    """Functions of the rank that the metrics of a stratum are made of.

    Attributes:
        terms: of each metric; its shapes are columns ``starts[j]`` and on.
        starts: int64 ``[metrics + 1]``.
        functions: float64 ``[bins, c]``.
    """

    terms: list[Terms]
    starts: NDArray[np.int64]
    functions: NDArray[np.float64]

    @classmethod
    def of(cls, cases: Cases, number: int, metrics: Sequence[RankMetric], bins: Bins) -> Columns:
        """Make the functions of a stratum."""
        stratum, kinds = cases.strata[number], cases.kinds
        if cases.shares is not None:
            one = bins.means(lambda ranks: best_shares(ranks, stratum.catalog))
            terms = cases.shares.terms(stratum.kinds)
            return cls(terms, np.arange(len(terms) + 1), np.repeat(one[:, None], len(terms), 1))
        terms = kinds.terms(metrics, stratum.kinds, stratum.catalog)
        starts = np.cumsum([0, *(len(t.shapes) for t in terms)])
        out = np.empty((len(bins), int(starts[-1])))
        kind_of = np.concatenate([term.shapes for term in terms])
        metric_of = np.repeat(np.arange(len(terms)), np.diff(starts))
        for kind in np.unique(kind_of).tolist():  # all metrics of a kind in one pass
            mine = np.flatnonzero(kind_of == kind)
            some = [metrics[j] for j in metric_of[mine]]
            out[:, mine] = bins.means(kinds.function(some, kind, stratum.catalog))
        return cls(terms, starts, out)

    def of_pairs(self, stratum: Stratum, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a target of each pair contributes ``[p, metrics]``, from values ``[g, c]``."""
        out = np.empty((len(stratum.group), len(self.terms)))
        for j, term in enumerate(self.terms):
            column = self.starts[j] + term.member[stratum.kind]
            out[:, j] = term.scale[stratum.kind] * values[stratum.group, column]
        return out

    def weights(self, stratum: Stratum, counts: NDArray[np.float64]) -> Weights:
        """Sums of scales, and of their squares, by group and column: float64 ``[g, c]``."""
        shape = len(stratum.groups), int(self.starts[-1])
        once, squared = np.zeros(shape), np.zeros(shape)
        for j, term in enumerate(self.terms):
            column = self.starts[j] + term.member[stratum.kind]
            cell, scale = stratum.group * shape[1] + column, term.scale[stratum.kind]
            for out, power in ((once, 1), (squared, 2)):
                out += np.bincount(cell, weights=counts * scale**power, minlength=out.size).reshape(
                    shape
                )
        return once, squared

    def by_metric(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the columns of each metric."""
        return np.add.reduceat(columns, self.starts[:-1])


@dataclass(frozen=True, eq=False)
class Problem:
    """Metrics of sampled ranks, an estimator, and its fits.

    Attributes:
        cases: the ranks.
        estimator: how they are estimated from.
        metrics: what is estimated.
        fits: one a stratum.
        columns: functions of the rank, one a stratum.
        empty: float64 ``[p, metrics]``, value without ranked targets by the pattern of a query
            (see ``Kinds.empty``), or of each (``Shares.start``); NaN where undefined.
        pattern: int64 ``[q]``, row of ``empty`` of each query.
    """

    cases: Cases
    estimator: Estimator
    metrics: Sequence[RankMetric]
    fits: list[Fit]
    columns: list[Columns]
    empty: NDArray[np.float64]
    pattern: NDArray[np.int64]

    @classmethod
    def of(cls, cases: Cases, estimator: Estimator, metrics: Sequence[RankMetric]) -> Problem:
        """Fit, and make the functions.

        Raises:
            EstimateError: the method can't take the data.
            SpecError: metrics that can't be estimated.
        """
        cases.kinds.check(metrics)
        cases.check(estimator, metrics)
        _check_sizes(cases, estimator)
        fits = cases.fit(estimator, max((m.k or 1 for m in metrics), default=1))
        columns = [Columns.of(cases, i, metrics, fit.bins) for i, fit in enumerate(fits)]
        if cases.shares is not None:
            empty, pattern = cases.shares.start, np.arange(len(cases.ranked))
        else:
            empty = cases.kinds.empty(metrics, cases.strata[0].catalog)
            pattern = cases.kinds.query_pattern % len(empty)  # -1 is the last
        return cls(cases, estimator, metrics, fits, columns, empty, pattern)

    @cached_property
    def defined(self) -> NDArray[np.bool_]:
        """Which queries have a value: bool ``[q, metrics]``."""
        return np.isfinite(self.empty)[self.pattern]

    def _start(
        self, queries: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums ``[metrics]`` over queries of their values without ranked targets, and of 1."""
        weight = np.bincount(self.pattern, queries, len(self.empty)).astype(np.float64)
        return weight @ np.nan_to_num(self.empty), weight @ np.isfinite(self.empty)

    @cached_property
    def _plain_start(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._start()

    def values(
        self, fits: Sequence[Fit], queries: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Estimates ``[metrics]`` by these fits.

        Args:
            fits: one a stratum.
            queries: float64 ``[q]``, weight of each query; 1 without.
        """
        targets = None if queries is None else queries[self.cases.rows]
        total, count = self._plain_start if queries is None else self._start(queries)
        for stratum, fit, columns in zip(self.cases.strata, fits, self.columns):
            each = columns.of_pairs(stratum, fit.values(columns.functions))
            total = total + stratum.counts(targets) @ each
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(count > 0, total / count, np.nan))

    def tables(self, fits: Sequence[Fit]) -> list[NDArray[np.float64]]:
        """What a target of each group contributes by these fits: ``[g, c]`` a stratum."""
        return [fit.values(columns.functions) for fit, columns in zip(fits, self.columns)]

    def value_of(
        self, tables: Sequence[NDArray[np.float64]], groups: Sequence[NDArray[np.int64]]
    ) -> NDArray[np.float64]:
        """Estimates ``[metrics]`` by such tables, with targets in these groups ``[n]``."""
        total, count = self._plain_start
        total = total.copy()
        for stratum, values, columns, mine in zip(self.cases.strata, tables, self.columns, groups):
            kind = stratum.kind[stratum.pair]
            for j, term in enumerate(columns.terms):
                column = columns.starts[j] + term.member[kind]
                total[j] += term.scale[kind] @ values[mine, column]
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(count > 0, total / count, np.nan))

    def per_query(self) -> NDArray[np.float64]:
        """What each query contributes: float64 ``[q, metrics]``, NaN where undefined."""
        out = self.empty[self.pattern]
        for stratum, fit, columns in zip(self.cases.strata, self.fits, self.columns):
            each = columns.of_pairs(stratum, fit.values(columns.functions))
            rows = self.cases.rows[stratum.targets]
            for j in range(len(self.metrics)):
                mine = each[stratum.pair, j]
                out[:, j] += np.bincount(rows, weights=mine, minlength=len(out))
        return out

    @cached_property
    def _weights(self) -> list[Weights]:
        """Weights of the columns by group, or by cell where a fit lumps groups."""
        out = []
        for stratum, fit, columns in zip(self.cases.strata, self.fits, self.columns):
            once, squared = columns.weights(stratum, stratum.counts())
            if isinstance(fit, SmoothFit):
                once, squared = fit.lumped(once), fit.lumped(squared)
            out.append((once, squared))
        return out

    def moments(
        self, pis: Sequence[NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance ``[metrics]`` of the evaluated users' value, given distributions.

        The ranks of targets are independent given the distribution.

        Args:
            pis: float64 ``[bins]``, one a stratum.
        """
        total, count = self._plain_start
        variance = np.zeros(len(self.metrics))
        parts = zip(self.fits, self.columns, self._weights, pis, strict=True)
        for fit, columns, weights, pi in parts:
            mean, spread = fit.moments(pi, columns.functions, weights)
            total = total + columns.by_metric(mean)
            variance = variance + columns.by_metric(spread)
        count = np.where(count > 0, count, np.nan)
        return total / count, variance / count**2


def _check_sizes(cases: Cases, estimator: Estimator) -> None:
    """Refuse samples of several sizes for a method that needs one."""
    if estimator.adaptive:
        return
    name = type(estimator).__name__
    every = [stratum.groups for stratum in cases.strata]
    exact = sum(float(groups.counts[groups.exact].sum()) for groups in every)
    if exact:
        total = sum(groups.total for groups in every)
        raise EstimateError(
            f"{name} needs one sample size, and {exact:,.0f} of {total:,.0f} targets were compared "
            "with their whole catalogue, so that their ranks are exact; take SH or MLE, which take "
            "them as they are"
        )
    sizes = np.concatenate([groups.sizes for groups in every])
    if sizes.min() < sizes.max():
        raise EstimateError(
            f"{name} needs one sample size for all targets, got {sizes.min()} to {sizes.max()}; "
            "take SH or MLE, which take adaptive samples"
        )
