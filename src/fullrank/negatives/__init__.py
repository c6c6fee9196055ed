"""Distributions over items: training negatives and evaluation candidates are drawn by one code.

``__all__`` is the registry: a distribution is its module and a line here.
"""

from fullrank.negatives._base import Negatives
from fullrank.negatives._pool import Pool
from fullrank.negatives.given import Given
from fullrank.negatives.popularity import Popularity
from fullrank.negatives.uniform import Uniform
from fullrank.negatives.weighted import Weighted

__all__ = ["Given", "Negatives", "Pool", "Popularity", "Uniform", "Weighted"]

REGISTRY = ("Given", "Popularity", "Uniform", "Weighted")
