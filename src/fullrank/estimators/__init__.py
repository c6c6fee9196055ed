"""Metrics of the full ranking from ranks among sampled candidates, one estimator a file.

``__all__`` is the registry: an estimator is its module and a line here.
"""

from fullrank.estimators._base import Estimator, Fit
from fullrank.estimators._estimate import estimate
from fullrank.estimators._files import ranks_frame, read_ranks, write_ranks
from fullrank.estimators._result import Recovered
from fullrank.estimators._simulate import simulate
from fullrank.estimators.bv import BV
from fullrank.estimators.cls import CLS
from fullrank.estimators.designs import Doubling, Screened, Thinned, Unthinned
from fullrank.estimators.difference import Difference, difference
from fullrank.estimators.efficiency import Efficiency, efficiency
from fullrank.estimators.mes import MES
from fullrank.estimators.minimal_bias import MinimalBias
from fullrank.estimators.mle import MLE
from fullrank.estimators.mn import MN
from fullrank.estimators.monotone_mle import MonotoneMLE
from fullrank.estimators.plan import Cost, Plan, plan, scoring_cost
from fullrank.estimators.proxy_list import ProxyList
from fullrank.estimators.rank_estimate import RankEstimate
from fullrank.estimators.raw import Raw
from fullrank.estimators.screened_exact import HorvitzThompson, ScreenedExact
from fullrank.estimators.smooth_head import SH
from fullrank.estimators.spot_check import SpotCheck, spot_check

__all__ = [
    "BV",
    "CLS",
    "MES",
    "MLE",
    "MN",
    "SH",
    "Cost",
    "Difference",
    "Doubling",
    "Efficiency",
    "Estimator",
    "Fit",
    "HorvitzThompson",
    "MinimalBias",
    "MonotoneMLE",
    "Plan",
    "ProxyList",
    "RankEstimate",
    "Raw",
    "Recovered",
    "Screened",
    "ScreenedExact",
    "SpotCheck",
    "Thinned",
    "Unthinned",
    "difference",
    "efficiency",
    "estimate",
    "plan",
    "ranks_frame",
    "read_ranks",
    "scoring_cost",
    "simulate",
    "spot_check",
    "write_ranks",
]

REGISTRY = (
    "BV", "CLS", "HorvitzThompson", "MES", "MLE", "MN", "MinimalBias", "MonotoneMLE",
    "RankEstimate", "Raw", "SH",
)  # fmt: skip
