"""Ranking: full catalogue or lists in, ``TargetRanks`` and ``TopK`` out."""

from fullrank.rank._adaptive import Adaptive
from fullrank.rank._arrays import ranks_from_codes
from fullrank.rank._catalogue import Catalogue
from fullrank.rank._concat import concat_ranks
from fullrank.rank._full import rank, recommend
from fullrank.rank._job import Ranking
from fullrank.rank._lists import ranks_from_lists
from fullrank.rank._predict import predict_rows
from fullrank.rank._warm import load_kernels

__all__ = [
    "Adaptive",
    "Catalogue",
    "Ranking",
    "concat_ranks",
    "load_kernels",
    "predict_rows",
    "rank",
    "ranks_from_codes",
    "ranks_from_lists",
    "recommend",
]
