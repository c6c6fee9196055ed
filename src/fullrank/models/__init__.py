"""Recommenders, one a file. ``REGISTRY`` lists the models; names are found in any case."""

from fullrank.models._base import Monitor, Recommender
from fullrank.models.bias_only import BiasOnly
from fullrank.models.ease import EASE
from fullrank.models.ials import IALS
from fullrank.models.item_knn import ItemKNN
from fullrank.models.pair_function import PairFunction
from fullrank.models.popularity import Popularity
from fullrank.models.pure_svd import PureSVD
from fullrank.models.random import Random
from fullrank.models.slim import SLIM
from fullrank.models.user_knn import UserKNN

REGISTRY = (
    "BiasOnly",
    "EASE",
    "IALS",
    "ItemKNN",
    "Popularity",
    "PureSVD",
    "Random",
    "SLIM",
    "UserKNN",
)

__all__ = [
    "EASE",
    "IALS",
    "REGISTRY",
    "SLIM",
    "BiasOnly",
    "ItemKNN",
    "Monitor",
    "PairFunction",
    "Popularity",
    "PureSVD",
    "Random",
    "Recommender",
    "UserKNN",
]
