"""From per-query values to measurements: a mean with its interval, tie bounds and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.estimate import Estimate
from fullrank.core.ranked import Predictions, TargetRanks
from fullrank.core.state import exact_mean
from fullrank.metrics import Metric, per_query_many
from fullrank.stats.interval import column_intervals


@dataclass(frozen=True, eq=False)
class Values:
    """One metric over some queries (rows, for a rating metric).

    Attributes:
        metric: what was measured.
        per_query: float64 ``[q]``, NaN where undefined.
        best: the same if every tie had fallen in the model's favour.
        worst: the same if none had.
    """

    metric: Metric
    per_query: NDArray[np.float64]
    best: NDArray[np.float64]
    worst: NDArray[np.float64]

    def __repr__(self) -> str:
        return brief(self, str(self.metric), count(len(self.per_query), "value"))

    def __getitem__(self, rows: NDArray[Any]) -> Values:
        """Some of the queries."""
        best = self.best[rows]
        worst = best if self.worst is self.best else self.worst[rows]
        return replace(self, per_query=self.per_query[rows], best=best, worst=worst)


@dataclass(frozen=True, eq=False)
class Measurement:
    """A metric over some queries, with how sure it is.

    Attributes:
        values: per-query values.
        estimate: mean and interval over the population of users.
        best: mean if every tie had fallen in the model's favour.
        worst: mean if none had.
    """

    values: Values
    estimate: Estimate
    best: float
    worst: float

    @property
    def metric(self) -> Metric:
        """What was measured."""
        return self.values.metric

    def __repr__(self) -> str:
        queries = count(self.estimate.n_queries, "query", "queries")
        return brief(self, f"{self.metric} {self.estimate}", queries)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of ``evaluate``; NaN becomes None."""
        e = self.estimate
        return {
            "value": number(e.value),
            "low": number(e.low),
            "high": number(e.high),
            "se": number(e.se),
            "level": e.level,
            "n_queries": e.n_queries,
            "undefined": e.undefined,
            "n_users": e.n_users,
            "best": number(self.best),
            "worst": number(self.worst),
            "method": e.method,
            "assumptions": list(e.assumptions),
        }


def table_text(measurements: Sequence[Measurement]) -> str:
    """Metric, value and interval of each, one a line."""
    width = max((len(str(m.metric)) for m in measurements), default=0)
    return "\n".join(f"{m.metric!s:<{width}}  {m.estimate}" for m in measurements)


def rank_values(ranked: TargetRanks, metrics: Sequence[Metric]) -> dict[Metric, Values]:
    """Evaluate rank metrics; the bounds are computed apart only where ties exist."""
    middle = per_query_many(ranked, metrics)
    best = worst = middle
    if bool(np.any(ranked.best != ranked.worst)):
        best = per_query_many(ranked.optimistic(), metrics)
        worst = per_query_many(ranked.pessimistic(), metrics)
    return {m: Values(m, middle[m], best[m], worst[m]) for m in middle}


def rating_values(predictions: Predictions, metrics: Sequence[Metric]) -> dict[Metric, Values]:
    """Evaluate rating metrics: the loss of each row."""
    out = {}
    for metric in metrics:
        loss = metric.per_query(predictions)
        out[metric] = Values(metric, loss, loss, loss)
    return out


def measure(
    values: Values,
    users: NDArray[np.integer[Any]],
    *,
    level: float = 0.95,
    method: Any = "auto",
    resamples: int = 1000,
    rng: int = 0,
) -> Measurement:
    """Mean with an interval, clustered by user.

    Args:
        values: per-query values of one metric.
        users: ``[q]`` codes that follow the outside ids.
        level: confidence level.
        method: interval method of ``stats.mean_interval``.
        resamples: bootstrap resamples.
        rng: seed of the bootstrap.
    """
    options = {"level": level, "method": method, "resamples": resamples, "rng": rng}
    return measure_all([values], users, **options)[0]


def measure_all(
    many: Sequence[Values],
    users: NDArray[np.integer[Any]],
    *,
    level: float = 0.95,
    method: Any = "auto",
    resamples: int = 1000,
    rng: int = 0,
) -> list[Measurement]:
    """``measure`` of several metrics over the same queries, with one pass of draws for all."""
    if not many:
        return []
    columns = [values.per_query for values in many]
    ranges = [finite_bounds(values.metric) for values in many]
    found = column_intervals(columns, users, level, method, resamples, rng, ranges, None)
    return [_measurement(values, estimate) for values, estimate in zip(many, found, strict=True)]


def _measurement(values: Values, estimate: Estimate) -> Measurement:
    """The metric's own estimate, and the means if all ties had fallen one way."""
    metric = values.metric
    bounds = [estimate.value, estimate.value]
    if values.best is not values.per_query:
        bounds = [exact_mean(v) for v in (values.best, values.worst)]
    best, worst = (metric.finish(value) for value in bounds)
    return Measurement(values, finished(metric, estimate), best, worst)


def finite_bounds(metric: Metric) -> tuple[float, float] | None:
    """Range of a metric where both ends are finite."""
    low, high = metric.bounds
    return (low, high) if isfinite(low) and isfinite(high) else None


def finished(metric: Metric, estimate: Estimate) -> Estimate:
    """Turn the estimate of a mean into that of the metric (roots, for RMSE)."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if metric.finish(4.0) == 4.0:
        return estimate
    ends = [metric.finish(max(x, 0.0)) if x == x else x for x in (value, low, high)]
    step = value * 0.000001
    slope = (metric.finish(value * 1.000001) - ends[0]) / step if step else inf
    se = estimate.se * slope if isfinite(slope) else estimate.se
    return replace(estimate, value=ends[0], low=ends[1], high=ends[2], se=se)


def number(value: float) -> float | None:
    """A float for JSON: None for NaN and infinities."""
    return float(value) if isfinite(value) else None
