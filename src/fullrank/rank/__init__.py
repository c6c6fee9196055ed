"""Ranking: full catalogue or lists in, ``TargetRanks`` and ``TopK`` out."""

from fullrank.rank._catalogue import Catalogue
from fullrank.rank._full import Ranking, rank, recommend

__all__ = ["Catalogue", "Ranking", "rank", "recommend"]
