"""Analyses of finished benchmarks: metrics against each other, protocols, factors, costs."""

from fullrank.experiment.analyse.analysis import PARTS, Analysis, analyse
from fullrank.experiment.analyse.co_optimality import CoOptimality
from fullrank.experiment.analyse.costs import Cost, CostRow
from fullrank.experiment.analyse.effects import Effect
from fullrank.experiment.analyse.matrix import MetricMatrix
from fullrank.experiment.analyse.stability import FactorStability, Stability
from fullrank.experiment.analyse.study import Condition, Study, Unit
from fullrank.experiment.analyse.variance import Share, Variance

__all__ = [
    "PARTS",
    "Analysis",
    "CoOptimality",
    "Condition",
    "Cost",
    "CostRow",
    "Effect",
    "FactorStability",
    "MetricMatrix",
    "Share",
    "Stability",
    "Study",
    "Unit",
    "Variance",
    "analyse",
]
