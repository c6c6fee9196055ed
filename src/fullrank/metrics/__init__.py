"""Metrics: values such as ``NDCG @ 10`` that turn ranks into numbers, one metric a file.

``__all__`` is the registry: a metric is its module and a line here.
"""

from fullrank.metrics._base import Metric
from fullrank.metrics._many import per_query_many
from fullrank.metrics._parse import parse, parse_many
from fullrank.metrics._rank import RankMetric
from fullrank.metrics.auc import AUC
from fullrank.metrics.dcg import DCG
from fullrank.metrics.f1 import F1
from fullrank.metrics.hit_rate import HitRate
from fullrank.metrics.mae import MAE
from fullrank.metrics.map import MAP
from fullrank.metrics.mean_rank import MeanRank
from fullrank.metrics.mrr import MRR
from fullrank.metrics.ndcg import NDCG
from fullrank.metrics.precision import Precision
from fullrank.metrics.r_precision import RPrecision
from fullrank.metrics.rbp import RBP
from fullrank.metrics.recall import Recall
from fullrank.metrics.rmse import RMSE

__all__ = [
    "AUC",
    "DCG",
    "F1",
    "MAE",
    "MAP",
    "MRR",
    "NDCG",
    "RBP",
    "RMSE",
    "HitRate",
    "MeanRank",
    "Metric",
    "Precision",
    "RPrecision",
    "RankMetric",
    "Recall",
    "parse",
    "parse_many",
    "per_query_many",
]

REGISTRY = tuple(name for name in __all__ if isinstance(globals()[name], Metric))
