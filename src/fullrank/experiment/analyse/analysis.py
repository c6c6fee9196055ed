"""All analyses of some stores in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from fullrank.core.brief import brief, count
from fullrank.core.errors import SpecError, suggest
from fullrank.experiment.analyse.co_optimality import TIES, CoOptimality, Ties, co_optimality
from fullrank.experiment.analyse.correlation import metric_correlation
from fullrank.experiment.analyse.costs import CostRow, costs
from fullrank.experiment.analyse.effects import Effect, factor_effects
from fullrank.experiment.analyse.matrix import MetricMatrix
from fullrank.experiment.analyse.stability import FactorStability, Stability, rank_stability
from fullrank.experiment.analyse.study import LackingError, Study, load_study
from fullrank.experiment.analyse.variance import Variance, score_variance
from fullrank.experiment.results import Results
from fullrank.metrics import Metric

Part = Literal["co-optimality", "correlation", "stability", "effects", "costs"]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, eq=False)
class Analysis:
    """What the analyses of a study found; a part that did not run is empty or None.

    Attributes:
        study: what was analysed.
        parts: which analyses ran.
        left_out: analyses that can't be made of these stores, and why; none that was asked for.
        co_optimality: is what is best by one metric best by another.
        correlation: do metrics order models alike.
        stability: order of models between conditions.
        by_factor: its means over pairs that differ in one factor.
        effects: one factor at a time.
        variance: shares of factors in the variance of scores.
        costs: time, memory and energy beside quality.
    """

    study: Study
    parts: tuple[Part, ...]
    co_optimality: CoOptimality | None = None
    correlation: tuple[MetricMatrix, ...] = ()
    stability: tuple[Stability, ...] = ()
    by_factor: tuple[FactorStability, ...] = ()
    effects: tuple[Effect, ...] = ()
    variance: Variance = field(default_factory=Variance)
    costs: tuple[CostRow, ...] = ()
    left_out: Mapping[Part, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        n = len(self.study.conditions)
        return brief(self, count(n, "condition"), count(len(self.parts), "part"))

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON shape of ``fullrank analyse``; parts that did not run are null."""
        ran = set(self.parts)
        matrices = [matrix.to_dict() for matrix in self.correlation]
        stability = {
            "pairs": [row.to_dict() for row in self.stability],
            "by_factor": [row.to_dict() for row in self.by_factor],
        }
        effects = [row.to_dict() for row in self.effects]
        return {
            "metrics": [str(metric) for metric in (*self.study.metrics, *self.study.others)],
            "conditions": [
                {"name": c.name, "factors": {**c.factors, **c.settings}, "models": list(c.models)}
                for c in self.study.conditions
            ],
            "level": self.study.level,
            "resamples": self.study.resamples,
            "co_optimality": None if self.co_optimality is None else self.co_optimality.to_dict(),
            "correlation": {"matrices": matrices} if "correlation" in ran else None,
            "stability": stability if "stability" in ran else None,
            "effects": effects if "effects" in ran else None,
            "variance": self.variance.to_dict() if "effects" in ran else None,
            "costs": [row.to_dict() for row in self.costs] if "costs" in ran else None,
            "left_out": dict(self.left_out),
        }


def analyse(
    stores: Sequence[str | Path | Results] | str | Path | Results,
    metrics: Sequence[str | Metric] = (),
    *,
    only: Sequence[str] = (),
    ties: Ties = "share",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Analysis:
    """Analyse finished benchmarks: metrics against each other, protocols, factors, costs.

    The analyses of Sun et al. 2022, "DaisyRec 2.0" (TPAMI), with intervals: co-optimality and
    Kendall correlation of metrics, and the effects of views, splits, objectives, samplers and
    other factors; beside them the stability of ranks between protocols, and a decomposition of
    the variance of scores. From one store or several: each data set under each protocol is a
    condition.

    Args:
        stores: folders that ``fullrank run`` wrote, or results at hand.
        metrics: rank metrics to analyse (all follow from stored ranks; validation values of
            trials are those of the benchmark's own metrics); by default those of the benchmarks.
        only: which analyses, of ``"co-optimality"``, ``"correlation"``, ``"stability"``,
            ``"effects"`` and ``"costs"``; by default all that can be made of these stores, and
            ``left_out`` says which can't.
        ties: how trials count that tie for the best, ``"share"`` or ``"first"``.
        level: confidence level.
        resamples: of users.
        seed: of the resamples.

    Raises:
        LackingError: an analysis of ``only`` can't be made of these stores, and why.
        SpecError: options or metrics that can't be.
        StoreError: no finished benchmark there.
    """
    parts = _parts(only)
    if ties not in TIES:
        raise SpecError(f"unknown rule for ties {ties!r}{suggest(ties, TIES)}")
    sources = [stores] if isinstance(stores, str | Path | Results) else list(stores)
    study = load_study(sources, metrics, level=level, resamples=resamples, seed=seed)
    makers: dict[Part, Callable[[], dict[str, Any]]] = {
        "co-optimality": lambda: {"co_optimality": co_optimality(study, ties)},
        "correlation": lambda: {"correlation": metric_correlation(study)},
        "stability": lambda: dict(zip(("stability", "by_factor"), rank_stability(study))),
        "effects": lambda: {"effects": factor_effects(study), "variance": score_variance(study)},
        "costs": lambda: {"costs": costs(study)},
    }
    found: dict[str, Any] = {}
    left_out: dict[Part, str] = {}
    for part in parts:
        try:
            found |= makers[part]()
        except LackingError as error:
            if only:
                raise
            left_out[part] = str(error)
    ran = tuple(part for part in parts if part not in left_out)
    return Analysis(study, ran, left_out=left_out, **found)


def _parts(only: Sequence[str]) -> tuple[Part, ...]:
    """Analyses in their order."""
    for name in only:
        if name not in PARTS:
            raise SpecError(f"unknown analysis {name!r}{suggest(name, PARTS)}")
    return tuple(part for part in PARTS if part in only) if only else PARTS
