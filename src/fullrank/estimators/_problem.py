"""A metric to estimate: sums over cells of groups and kinds, for any fit and any weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError
from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._cases import Cases
from fullrank.metrics import RankMetric


@dataclass(frozen=True, eq=False)
class Problem:
    """Metrics of sampled ranks, an estimator, and its fits.

    Attributes:
        cases: the ranks.
        estimator: how they are estimated from.
        metrics: what is estimated.
        fits: one a stratum.
        functions: float64 ``[bins, kinds, metrics]``, one a stratum.
        base: float64 ``[q, metrics]``, value without ranked targets; NaN where undefined.
    """

    cases: Cases
    estimator: Estimator
    metrics: Sequence[RankMetric]
    fits: list[Fit]
    functions: list[NDArray[np.float64]]
    base: NDArray[np.float64]

    @classmethod
    def of(cls, cases: Cases, estimator: Estimator, metrics: Sequence[RankMetric]) -> Problem:
        """Fit, and make the functions.

        Raises:
            EstimateError: the method can't take the data.
            SpecError: metrics that can't be estimated.
        """
        k = max((m.k or 1 for m in metrics), default=1)
        cases.shapes.check(metrics, k)
        _check_sizes(cases, estimator)
        fits = cases.fit(estimator, k)
        functions = [cases.functions(i, metrics, fit.bins) for i, fit in enumerate(fits)]
        base = np.stack([cases.empty(m) for m in metrics], axis=1)
        return cls(cases, estimator, metrics, fits, functions, base)

    @cached_property
    def defined(self) -> NDArray[np.bool_]:
        """Which queries have a value: bool ``[q, metrics]``."""
        return np.isfinite(self.base)

    def values(
        self, fits: Sequence[Fit], queries: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Estimates ``[metrics]`` by these fits.

        Args:
            fits: one a stratum.
            queries: float64 ``[q]``, weight of each query; 1 without.
        """
        targets = None if queries is None else queries[self.cases.rows]
        weight = np.ones(len(self.base)) if queries is None else queries
        total = weight @ np.where(self.defined, self.base, 0.0)
        for stratum, fit, functions in zip(self.cases.strata, fits, self.functions):
            cells = _cells(fit, functions)
            total = total + np.einsum("gs,gsj->j", stratum.weights(targets), cells)
        count = weight @ self.defined
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(count > 0, total / count, np.nan))

    def per_query(self) -> NDArray[np.float64]:
        """What each query contributes: float64 ``[q, metrics]``, NaN where undefined."""
        out = self.base.copy()
        for stratum, fit, functions in zip(self.cases.strata, self.fits, self.functions):
            cells = _cells(fit, functions).reshape(-1, len(self.metrics))[stratum.cells]
            rows = self.cases.rows[stratum.targets]
            for j in range(len(self.metrics)):
                out[:, j] += np.bincount(rows, weights=cells[:, j], minlength=len(out))
        return out

    def moments(
        self, pis: Sequence[NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance ``[metrics]`` of the evaluated users' value, given distributions.

        The ranks of targets are independent given the distribution.

        Args:
            pis: float64 ``[bins]``, one a stratum.
        """
        total = np.where(self.defined, self.base, 0.0).sum(axis=0)
        variance = np.zeros(len(self.metrics))
        for stratum, fit, functions, pi in zip(
            self.cases.strata, self.fits, self.functions, pis, strict=True
        ):
            mean, spread = fit.moments(pi, functions, stratum.weights())
            total, variance = total + mean, variance + spread
        count = np.maximum(self.defined.sum(axis=0), 1)
        return total / count, variance / count**2


def _cells(fit: Fit, functions: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a target of each group and kind contributes: float64 ``[g, s, metrics]``."""
    bins, kinds, metrics = functions.shape
    flat = fit.values(functions.reshape(bins, kinds * metrics))
    return np.asarray(flat).reshape(-1, kinds, metrics)


def _check_sizes(cases: Cases, estimator: Estimator) -> None:
    """Refuse samples of several sizes for a method that needs one."""
    if estimator.adaptive:
        return
    for stratum in cases.strata:
        sizes = np.unique(stratum.groups.sizes)
        if len(sizes) > 1 or stratum.groups.exact.any():
            raise EstimateError(
                f"{type(estimator).__name__} needs one sample size for all targets, got "
                f"{sizes[0]} to {sizes[-1]}; take SH or MLE, which take adaptive samples"
            )
