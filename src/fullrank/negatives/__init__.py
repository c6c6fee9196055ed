"""Distributions over items: training negatives and evaluation candidates are drawn by one code.

``__all__`` is the registry: a distribution is its module and a line here.
"""

from fullrank.negatives._base import Negatives
from fullrank.negatives._pool import Pool
from fullrank.negatives.given import Given
from fullrank.negatives.mixture import Mixture
from fullrank.negatives.popularity import Popularity
from fullrank.negatives.training import TrainingNegatives
from fullrank.negatives.uniform import Uniform
from fullrank.negatives.weighted import Weighted

__all__ = [
    "Given",
    "Mixture",
    "Negatives",
    "Pool",
    "Popularity",
    "TrainingNegatives",
    "Uniform",
    "Weighted",
]

REGISTRY = ("Given", "Mixture", "Popularity", "Uniform", "Weighted")
