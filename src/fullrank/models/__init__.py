"""Recommenders, one a file. ``REGISTRY`` lists the models; names are found in any case.

Those of ``NEURAL`` need PyTorch and are loaded on first use; ``import *`` leaves them out.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fullrank.models._base import Monitor, Recommender
from fullrank.models.bias_only import BiasOnly
from fullrank.models.dcf import DCF
from fullrank.models.eals import EALS
from fullrank.models.ease import EASE
from fullrank.models.ials import IALS
from fullrank.models.item_knn import ItemKNN
from fullrank.models.last_items import LastItems
from fullrank.models.markov import Markov
from fullrank.models.mf import MF
from fullrank.models.nmf import NMF
from fullrank.models.pair_function import PairFunction
from fullrank.models.popularity import Popularity
from fullrank.models.pure_svd import PureSVD
from fullrank.models.random import Random
from fullrank.models.rp3beta import RP3beta
from fullrank.models.slim import SLIM
from fullrank.models.time_popularity import TimePopularity
from fullrank.models.user_knn import UserKNN

if TYPE_CHECKING:
    from fullrank.models.neural.gru4rec import GRU4Rec  # noqa: F401
    from fullrank.models.neural.multi_dae import MultiDAE
    from fullrank.models.neural.multi_vae import MultiVAE
    from fullrank.models.neural.sasrec import SASRec  # noqa: F401

NEURAL = {
    "GRU4Rec": "gru4rec",
    "MultiDAE": "multi_dae",
    "MultiVAE": "multi_vae",
    "SASRec": "sasrec",
}
"""Module in ``fullrank.models.neural`` of each model that needs PyTorch."""

REGISTRY = (
    "BiasOnly",
    "DCF",
    "EALS",
    "EASE",
    "GRU4Rec",
    "IALS",
    "ItemKNN",
    "LastItems",
    "MF",
    "Markov",
    "MultiDAE",
    "MultiVAE",
    "NMF",
    "Popularity",
    "PureSVD",
    "RP3beta",
    "Random",
    "SASRec",
    "SLIM",
    "TimePopularity",
    "UserKNN",
)

__all__ = [
    "DCF",
    "EALS",
    "EASE",
    "IALS",
    "MF",
    "NEURAL",
    "NMF",
    "REGISTRY",
    "SLIM",
    "BiasOnly",
    "ItemKNN",
    "LastItems",
    "Markov",
    "Monitor",
    "PairFunction",
    "Popularity",
    "PureSVD",
    "RP3beta",
    "Random",
    "Recommender",
    "TimePopularity",
    "UserKNN",
]


def __getattr__(name: str) -> Any:
    if name in NEURAL:
        return getattr(import_module(f"fullrank.models.neural.{NEURAL[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
