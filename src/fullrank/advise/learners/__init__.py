"""Learners of which sampler to take; one a file.

``Ridge`` needs the core alone, ``Boosting``, ``Logistic`` and ``PairBoosting`` scikit-learn (the
extra ``advise``), ``MLP`` and ``BPR`` PyTorch (the extra ``neural``).
"""

from fullrank.advise.learners._base import Learner
from fullrank.advise.learners._fitted import Fitted
from fullrank.advise.learners._network import Network
from fullrank.advise.learners.boosting import Boosting, Trees
from fullrank.advise.learners.bpr import BPR
from fullrank.advise.learners.logistic import Logistic
from fullrank.advise.learners.mlp import MLP
from fullrank.advise.learners.pair_boosting import PairBoosting
from fullrank.advise.learners.ridge import Ridge

__all__ = [
    "BPR",
    "MLP",
    "Boosting",
    "Fitted",
    "Learner",
    "Logistic",
    "Network",
    "PairBoosting",
    "Ridge",
    "Trees",
]
