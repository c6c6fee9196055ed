"""Learners of which sampler to take; one a file.

``Ridge`` needs the core alone, ``Logistic`` scikit-learn, ``Boosting`` and ``PairBoosting`` XGBoost
(both in the extra ``advise``), ``MLP`` and ``BPR`` PyTorch (the extra ``neural``).
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
from fullrank.core.call import plain
from fullrank.core.errors import SpecError, suggest

_KNOWN: dict[str, type[Learner]] = {
    plain(one.__name__): one for one in (BPR, Boosting, Logistic, MLP, PairBoosting, Ridge)
}

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
    "parse_learner",
]


def parse_learner(name: str) -> Learner:
    """A learner with its default settings.

    Args:
        name: of its class; case, ``-`` and ``_`` don't matter.

    Raises:
        SpecError: there is none of that name.

    Example:
        >>> parse_learner("pair_boosting").name
        'PairBoosting'
    """
    if plain(name) not in _KNOWN:
        options = [one.__name__ for one in _KNOWN.values()]
        raise SpecError(f"unknown learner {name!r}{suggest(name, options)}")
    return _KNOWN[plain(name)]()
