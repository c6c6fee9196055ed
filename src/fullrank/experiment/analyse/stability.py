"""Would another protocol order the models differently: tau and winners between conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.experiment.analyse._factors import varying
from fullrank.experiment.analyse.study import Condition, LackingError, Study
from fullrank.experiment.measure import number
from fullrank.metrics import Metric
from fullrank.stats.clusters import NOISE
from fullrank.stats.kendall import pair_signs, tau_of_signs


@dataclass(frozen=True)
class Stability:
    """Two conditions by one metric.

    Attributes:
        metric: that models are ordered by.
        first: name of a condition.
        second: of the other.
        differs: factors that differ between them.
        models: how many both have.
        tau: Kendall's tau-b between the orders of these models; None if one side ties all.
        low: lower end of its interval.
        high: upper end.
        best_first: the best model of the first, all of those that tie.
        best_second: of the second.
        flips: the best models differ.
        flip_rate: share of resamples in which they do.
    """

    metric: str
    first: str
    second: str
    differs: tuple[str, ...]
    models: int
    tau: float | None
    low: float | None
    high: float | None
    best_first: tuple[str, ...]
    best_second: tuple[str, ...]
    flips: bool
    flip_rate: float | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


@dataclass(frozen=True)
class FactorStability:
    """All pairs of conditions that differ in one factor alone, by one metric.

    Attributes:
        metric: that models are ordered by.
        factor: that differs.
        pairs: how many pairs have a tau.
        tau: mean over them.
        low: lower end of its interval.
        high: upper end.
        flips: in how many the best models differ.
    """

    metric: str
    factor: str
    pairs: int
    tau: float | None
    low: float | None
    high: float | None
    flips: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class _Pair:
    row: Stability
    drawn: NDArray[np.float64]


def rank_stability(study: Study) -> tuple[tuple[Stability, ...], tuple[FactorStability, ...]]:
    """Order of models under any two conditions that share two models or more, by each metric.

    Tau-b between the two orders of the shared models, and whether the best of them is another.
    Intervals and flip rates resample users (``Study.drawn``): users that both conditions share are
    drawn alike for both, those of different data sets apart.

    Returns:
        Rows of pairs × metrics, and their means over pairs that differ in one factor alone. Both
        are empty if there is one condition.

    Raises:
        LackingError: one model only.
    """
    if len(study.models) < 2:
        raise LackingError(
            f"the stability of ranks is of two models or more, and {study.models[0]} is the only "
            "one; add models to the benchmark"
        )
    found = [
        _pair(study, metric, a, b, shared)
        for metric in study.metrics
        for a, b in combinations(study.conditions, 2)
        if len(shared := [model for model in a.models if model in b.models]) >= 2
    ]
    return tuple(pair.row for pair in found), tuple(_by_factor(study, found))


def _pair(study: Study, metric: Metric, a: Condition, b: Condition, models: Sequence[str]) -> _Pair:
    values, drawn = zip(*(study.values(c, models, metric) for c in (a, b)), strict=True)
    tau = float(tau_of_signs(*(pair_signs(v) for v in values)))
    resampled = tau_of_signs(*(pair_signs(v) for v in drawn))
    best = [_best(v, models) for v in values]
    low, high = study.ends(resampled)
    tables = [{**c.factors, **c.settings} for c in (a, b)]
    row = Stability(
        str(metric), a.name, b.name, tuple(varying(tables)), len(models), number(tau),
        low, high, best[0], best[1], not set(best[0]) & set(best[1]), _flip_rate(*drawn),
    )  # fmt: skip
    return _Pair(row, resampled)


def _best(values: NDArray[np.float64], models: Sequence[str]) -> tuple[str, ...]:
    """The best model, or all that are equal to it."""
    if np.isnan(values).all():
        return ()
    top = int(np.nanargmax(values))
    signs = [float(pair_signs(np.array([values[top], value]))[0]) for value in values]
    return tuple(model for model, sign in zip(models, signs, strict=True) if sign == 0)


def _flip_rate(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Share of resamples ``[r, n]`` in which no model is best in both."""
    kept = ~(np.isnan(a).any(axis=1) | np.isnan(b).any(axis=1))
    if not kept.any():
        return None
    both = _tops(a[kept]) & _tops(b[kept])
    return float(1 - both.any(axis=1).mean())


def _tops(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which models ``[r, n]`` are best, or differ from the best by rounding alone."""
    top = values.max(axis=1, keepdims=True)
    return np.asarray(values >= top - NOISE * np.abs(top))


def _by_factor(study: Study, pairs: Sequence[_Pair]) -> list[FactorStability]:
    groups: dict[tuple[str, str], list[_Pair]] = {}
    for pair in pairs:
        if len(pair.row.differs) == 1 and pair.row.tau is not None:
            groups.setdefault((pair.row.metric, pair.row.differs[0]), []).append(pair)
    out = []
    for (metric, factor), group in groups.items():
        tau = float(np.mean([pair.row.tau for pair in group]))
        low, high = study.ends(np.mean([pair.drawn for pair in group], axis=0))
        flips = sum(pair.row.flips for pair in group)
        out.append(FactorStability(metric, factor, len(group), tau, low, high, flips))
    return out
