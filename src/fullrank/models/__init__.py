"""Recommenders, one a file. ``REGISTRY`` lists the models; names are found in any case.

Those of ``NEURAL`` need PyTorch and are loaded on first use; ``import *`` leaves them out.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fullrank.models._base import Monitor, Recommender
from fullrank.models.bias_only import BiasOnly
from fullrank.models.bpr_mf import BPRMF
from fullrank.models.dcf import DCF
from fullrank.models.eals import EALS
from fullrank.models.ease import EASE
from fullrank.models.factors import Factors
from fullrank.models.fism import FISM
from fullrank.models.fm import FM
from fullrank.models.fpmc import FPMC
from fullrank.models.ials import IALS
from fullrank.models.item2vec import Item2Vec
from fullrank.models.item_knn import ItemKNN
from fullrank.models.last_items import LastItems
from fullrank.models.markov import Markov
from fullrank.models.matrix_function import MatrixFunction
from fullrank.models.mf import MF
from fullrank.models.nmf import NMF
from fullrank.models.pair_function import PairFunction
from fullrank.models.popularity import Popularity
from fullrank.models.pure_svd import PureSVD
from fullrank.models.random import Random
from fullrank.models.rp3beta import RP3beta
from fullrank.models.saved_scores import SavedScores
from fullrank.models.slim import SLIM
from fullrank.models.time_popularity import TimePopularity
from fullrank.models.user_knn import UserKNN
from fullrank.models.warp_mf import WARPMF

if TYPE_CHECKING:
    from fullrank.models.neural.bert4rec import BERT4Rec  # noqa: F401
    from fullrank.models.neural.cdae import CDAE  # noqa: F401
    from fullrank.models.neural.cke import CKE  # noqa: F401
    from fullrank.models.neural.gru4rec import GRU4Rec  # noqa: F401
    from fullrank.models.neural.light_gcn import LightGCN  # noqa: F401
    from fullrank.models.neural.multi_dae import MultiDAE  # noqa: F401
    from fullrank.models.neural.multi_vae import MultiVAE  # noqa: F401
    from fullrank.models.neural.neu_mf import NeuMF  # noqa: F401
    from fullrank.models.neural.nfm import NFM  # noqa: F401
    from fullrank.models.neural.ngcf import NGCF  # noqa: F401
    from fullrank.models.neural.rec_vae import RecVAE  # noqa: F401
    from fullrank.models.neural.sasrec import SASRec  # noqa: F401
    from fullrank.models.neural.svae import SVAE  # noqa: F401

NEURAL = {
    "BERT4Rec": "bert4rec",
    "CDAE": "cdae",
    "CKE": "cke",
    "GRU4Rec": "gru4rec",
    "LightGCN": "light_gcn",
    "MultiDAE": "multi_dae",
    "MultiVAE": "multi_vae",
    "NFM": "nfm",
    "NGCF": "ngcf",
    "NeuMF": "neu_mf",
    "RecVAE": "rec_vae",
    "SASRec": "sasrec",
    "SVAE": "svae",
}
"""Module in ``fullrank.models.neural`` of each model that needs PyTorch."""

REGISTRY = (
    "BERT4Rec",
    "BPRMF",
    "BiasOnly",
    "CDAE",
    "CKE",
    "DCF",
    "EALS",
    "EASE",
    "FISM",
    "FM",
    "FPMC",
    "GRU4Rec",
    "IALS",
    "Item2Vec",
    "ItemKNN",
    "LastItems",
    "LightGCN",
    "MF",
    "Markov",
    "MultiDAE",
    "MultiVAE",
    "NFM",
    "NGCF",
    "NMF",
    "NeuMF",
    "Popularity",
    "PureSVD",
    "RP3beta",
    "Random",
    "RecVAE",
    "SASRec",
    "SLIM",
    "SVAE",
    "TimePopularity",
    "UserKNN",
    "WARPMF",
)

__all__ = [
    "BPRMF",
    "DCF",
    "EALS",
    "EASE",
    "FISM",
    "FM",
    "FPMC",
    "IALS",
    "MF",
    "NEURAL",
    "NMF",
    "REGISTRY",
    "SLIM",
    "WARPMF",
    "BiasOnly",
    "Factors",
    "Item2Vec",
    "ItemKNN",
    "LastItems",
    "Markov",
    "MatrixFunction",
    "Monitor",
    "PairFunction",
    "Popularity",
    "PureSVD",
    "RP3beta",
    "Random",
    "Recommender",
    "SavedScores",
    "TimePopularity",
    "UserKNN",
]


def __getattr__(name: str) -> Any:
    if name in NEURAL:
        return getattr(import_module(f"fullrank.models.neural.{NEURAL[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
