"""estimate: metrics of the full ranking from ranks among sampled candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import EstimateError, SpecError, suggest
from fullrank.core.estimate import Estimate
from fullrank.core.random import RNG, seed_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.text import quoted
from fullrank.estimators._base import Estimator
from fullrank.estimators._cases import Cases
from fullrank.estimators._intervals import Ends, from_bootstrap, from_draws, from_table
from fullrank.estimators._notes import notes_of, sensitivities
from fullrank.estimators._problem import Problem
from fullrank.estimators._result import Recovered
from fullrank.estimators._tail import TAIL
from fullrank.estimators.mle import MLE
from fullrank.estimators.raw import Raw, raw_values, taken_as_full
from fullrank.estimators.smooth_head import SH, SmoothFit
from fullrank.metrics import RankMetric, parse, per_query_many
from fullrank.models._threads import one_blas_thread
from fullrank.stats import mean_interval
from fullrank.stats.moments import check_level

_MOST = 100_000
"""Draws and resamples: ends of intervals are known to the last digit shown long before."""


@one_blas_thread()
def estimate(
    ranked: TargetRanks,
    metrics: str | RankMetric | Iterable[str | RankMetric],
    *,
    method: str | Estimator = "auto",
    level: float = 0.95,
    draws: int = 200,
    resamples: int = 200,
    rng: RNG = 0,
) -> list[Recovered]:
    """Tell metrics of the full ranking from ranks among sampled candidates.

    The metric of a sampled rank is another quantity than that of the rank in the catalogue, and
    may order models the other way round (Krichene & Rendle 2020). Several targets of a query are
    taken as they are: each is ranked among items that are no targets, and how many others are
    ahead of it is known.

    Args:
        ranked: from ``rank(…, candidates=…)``, or from a file.
        metrics: rank metrics or their names.
        method: ``"auto"`` (the smooth-head fit; EM for AUC and mean rank), a name, or an
            estimator with its settings.
        level: of confidence.
        draws: from the posterior, for the methods that have one.
        resamples: of users, for the others; the whole fit is done anew for each.
        rng: seed or Generator of the interval.

    Returns:
        One ``Recovered`` a metric.

    Raises:
        EstimateError: ranks that nothing can be told from, or not by this method.
        SpecError: unknown methods and metrics, or options out of range.
    """
    check_level(level)
    for name, value, least in (("draws", draws, 50), ("resamples", resamples, 20)):
        check_repeats(name, value, least)
    chosen, seed = as_metrics(metrics), seed_of(rng)
    if isinstance(as_estimator(method), Raw):
        Cases.of(ranked).check(Raw(), chosen)
        return [_raw(ranked, metric, level) for metric in chosen]
    raws = per_query_many(taken_as_full(ranked), chosen)
    found: dict[int, Recovered] = {}
    for which, problem in problems_of(ranked, chosen, method):
        ends = _ends(problem, level, draws, resamples, seed)
        apart = sensitivities(problem)
        for j, number in enumerate(which):
            raw = raws[chosen[number]]
            found[number] = _recovered(problem, ends, j, level, raw, apart[j])
    return [found[number] for number in range(len(chosen))]


def check_repeats(name: str, value: Any, least: int) -> None:
    """Refuse numbers of draws or resamples that give no interval, or never end.

    Raises:
        SpecError: names the argument.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= value <= _MOST:
        raise SpecError(
            f"{name} must be a whole number of at least {least} and at most {_MOST:,}, got "
            f"{quoted(value)}"
        )


def problems_of(
    ranked: TargetRanks, metrics: Sequence[RankMetric], method: str | Estimator
) -> Iterator[tuple[list[int], Problem]]:
    """Metrics that are estimated together, by their numbers: those of the tail are apart.

    Raises:
        EstimateError: ranks that nothing can be told from, or not by this method.
    """
    estimator = as_estimator(method)
    tail = [j for j, metric in enumerate(metrics) if metric.name in TAIL]
    head = [j for j, metric in enumerate(metrics) if metric.name not in TAIL]
    cases = Cases.of(ranked)
    cases.check(estimator, metrics)
    if tail and isinstance(estimator, SH) and method != "auto":
        raise EstimateError(
            "the smooth-head fit looks at the head of a ranking, and AUC and MeanRank are made of "
            "its far end; take method='auto', or 'mle'"
        )
    if head:
        yield head, Problem.of(cases, estimator, [metrics[j] for j in head])
    if tail:
        some = [metrics[j] for j in tail]
        cases.kinds.check(some)
        yield (
            tail,
            Problem.of(Cases.of(ranked, some), MLE() if method == "auto" else estimator, some),
        )


def point(problem: Problem, draws: int, seed: int) -> NDArray[np.float64]:
    """The estimates ``[metrics]`` alone, as ``estimate`` gives them."""
    if _drawn(problem):
        value = from_draws(problem, 0.95, draws, seed).value
    else:
        value = problem.values(problem.fits)
    return np.array([_inside(m, float(v)) for m, v in zip(problem.metrics, value)])


def as_estimator(method: str | Estimator) -> Estimator:
    """Look an estimator up by name; ``"auto"`` is the smooth-head fit.

    Raises:
        SpecError: no such method; suggests the nearest.
    """
    from fullrank import estimators

    if isinstance(method, Estimator):
        return method
    if method == "auto":
        return SH()
    known = {name.lower(): name for name in estimators.REGISTRY}
    if not isinstance(method, str) or method.lower() not in known:
        raise SpecError(
            f"unknown estimator {method!r}{suggest(str(method), [*estimators.REGISTRY, 'auto'])}"
        )
    made: Estimator = getattr(estimators, known[method.lower()])()
    return made


def as_metrics(metrics: Any) -> Sequence[RankMetric]:
    """Metrics of ranks by name or value.

    Raises:
        SpecError: none, or one that is no metric of ranks.
    """
    given = [metrics] if isinstance(metrics, str | RankMetric) else list(metrics)
    out = []
    for one in given:
        metric = parse(one) if isinstance(one, str) else one
        if not isinstance(metric, RankMetric):
            raise SpecError(
                f"{metric} is no metric of ranks; estimates are of metrics such as ndcg@10"
            )
        out.append(metric.check())
    if not out:
        raise SpecError("no metric was named; name one, such as ndcg@10")
    return out


def _ends(problem: Problem, level: float, draws: int, resamples: int, seed: int) -> Ends:
    if _drawn(problem):
        return from_draws(problem, level, draws, seed)
    if problem.estimator.interval == "table":
        return from_table(problem, level, seed)
    return from_bootstrap(problem, level, resamples, seed)


def _drawn(problem: Problem) -> bool:
    """The fits have posterior draws."""
    return all(isinstance(fit, SmoothFit) for fit in problem.fits)


def _recovered(
    problem: Problem,
    ends: Ends,
    j: int,
    level: float,
    raw: NDArray[np.float64],
    sensitivity: dict[str, float],
) -> Recovered:
    metric, ranked = problem.metrics[j], problem.cases.ranked
    defined, drawn = problem.defined[:, j], problem.estimator.interval == "draws"
    users = int(np.count_nonzero(np.bincount(ranked.users[defined])))
    if users < 2:  # a bootstrap of one user has no spread, which is no certainty
        ends = _unknown(ends, these=not drawn or not users)
    value = _inside(metric, float(ends.value[j])) if users else float("nan")
    shared: dict[str, Any] = {
        "value": value,
        "level": level,
        "n_queries": int(defined.sum()),
        "undefined": int((~defined).sum()),
        "n_users": users,
        "method": f"{problem.estimator}, {_HOW[problem.estimator.interval]}",
    }
    users_low, users_high = _around(metric, ends.users, j, value, value)
    low, high = _around(metric, ends.population, j, users_low, users_high)
    sampled = "candidates are drawn uniformly for each query"
    everyone = Estimate(
        **shared, low=low, high=high, se=float(ends.se[j]), target="population",
        assumptions=("users are a simple random sample", sampled),
    )  # fmt: skip
    these = Estimate(
        **shared, low=users_low, high=users_high, se=float(ends.se_items[j]),
        target="these users", assumptions=(sampled,),
    )  # fmt: skip
    return Recovered(
        metric=str(metric),
        estimate=everyone,
        these_users=these,
        raw=float(np.nanmean(raw)) if defined.any() else float("nan"),
        se_items=float(ends.se_items[j]),
        se_users=float(ends.se_users[j]),
        method=str(problem.estimator),
        sensitivity=sensitivity,
        notes=notes_of(problem, ends, j, sensitivity),
    )


def _unknown(ends: Ends, *, these: bool) -> Ends:
    """Ends without an interval for the population, nor for these users where asked."""
    gap = np.full_like(ends.value, np.nan)
    out = ends._replace(population=(gap, gap), se_users=gap, se=gap)
    return out._replace(users=(gap, gap), se_items=gap) if these else out


def _raw(ranked: TargetRanks, metric: RankMetric, level: float) -> Recovered:
    """The sampled metric with its interval, labelled as what it is."""
    values = raw_values(ranked, metric)
    found = mean_interval(
        values, ranked.users, level=level, method="analytic", bounds=metric.bounds
    )
    return Recovered(
        metric=str(metric),
        estimate=found,
        these_users=replace(found, target="these users"),
        raw=found.value,
        se_items=float("nan"),
        se_users=found.se,
        method="Raw",
        notes=(
            "the metric of sampled ranks: inconsistent, it is no estimate of the metric of the "
            "full ranking and may order models the other way round",
        ),
    )


_HOW = {
    "draws": "posterior draws",
    "bootstrap": "bootstrap of users through the fit",
    "table": "normal, by user",
}


def _around(
    metric: RankMetric,
    ends: tuple[NDArray[np.float64], NDArray[np.float64]],
    j: int,
    low: float,
    high: float,
) -> tuple[float, float]:
    """An interval that holds another: what is unknown of all users is more than of these.

    Quantiles of few draws may say otherwise by a little. NaN stays, and is no bound.
    """
    found = (_inside(metric, float(end[j])) for end in ends)
    (first, last) = found
    return (low if low < first else first), (high if high > last else last)


def _inside(metric: RankMetric, end: float) -> float:
    low, high = metric.bounds
    return min(max(end, low), high)
