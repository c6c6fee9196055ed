"""Rigorous evaluation for recommender systems.

``fullrank.read`` loads data, a strategy of ``fullrank.split`` cuts it, ``fullrank.rank.rank`` ranks
the full catalogue for each query, a metric such as ``fullrank.NDCG @ 10`` turns ranks into numbers
with intervals, and ``fullrank.run`` does all of it from a benchmark file.

Names are loaded on first use, so that ``import fullrank`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullrank.core.dataset import Dataset, Source
    from fullrank.core.errors import FullrankError
    from fullrank.core.estimate import Estimate
    from fullrank.core.interactions import Interactions
    from fullrank.core.queries import Queries
    from fullrank.core.ranked import Predictions, TargetRanks, TopK
    from fullrank.core.state import State
    from fullrank.core.vocabulary import Vocabulary
    from fullrank.data import describe, read, write_interactions
    from fullrank.estimators import Recovered, estimate
    from fullrank.experiment.analyse import analyse
    from fullrank.experiment.compare import compare
    from fullrank.experiment.early_stop import EarlyStop
    from fullrank.experiment.evaluate import evaluate
    from fullrank.experiment.leaderboard import leaderboard, paired_tests
    from fullrank.experiment.per_query import per_query_table
    from fullrank.experiment.psi import psi
    from fullrank.experiment.results import Results
    from fullrank.experiment.run import run
    from fullrank.metrics import (
        AUC,
        DCG,
        F1,
        MAE,
        MAP,
        MRR,
        NDCG,
        RBP,
        RMSE,
        HitRate,
        MeanRank,
        Metric,
        Precision,
        Recall,
        RPrecision,
        parse,
    )
    from fullrank.models import (
        EASE,
        IALS,
        BiasOnly,
        ItemKNN,
        PairFunction,
        Popularity,
        PureSVD,
        Random,
        Recommender,
        UserKNN,
    )
    from fullrank.negatives import Uniform
    from fullrank.rank import Catalogue, Ranking, ranks_from_lists, recommend
    from fullrank.report import write_report
    from fullrank.split import (
        ExpandingWindow,
        Given,
        GlobalCut,
        GlobalTime,
        KFold,
        LeaveLast,
        LeaveRandom,
        RandomRows,
        SlidingWindow,
        Split,
        UnseenUsers,
        UserTime,
    )
    from fullrank.stats import compare_pairs, mean_interval

__version__ = "0.1.0"

_HOMES = {
    "fullrank.core.dataset": ("Dataset", "Source"),
    "fullrank.core.errors": ("FullrankError",),
    "fullrank.core.estimate": ("Estimate",),
    "fullrank.core.interactions": ("Interactions",),
    "fullrank.core.queries": ("Queries",),
    "fullrank.core.ranked": ("Predictions", "TargetRanks", "TopK"),
    "fullrank.core.state": ("State",),
    "fullrank.core.vocabulary": ("Vocabulary",),
    "fullrank.data": ("describe", "read", "write_interactions"),
    "fullrank.estimators": ("Recovered", "estimate"),
    "fullrank.experiment.analyse": ("analyse",),
    "fullrank.experiment.compare": ("compare",),
    "fullrank.experiment.early_stop": ("EarlyStop",),
    "fullrank.experiment.evaluate": ("evaluate",),
    "fullrank.experiment.leaderboard": ("leaderboard", "paired_tests"),
    "fullrank.experiment.per_query": ("per_query_table",),
    "fullrank.experiment.psi": ("psi",),
    "fullrank.experiment.results": ("Results",),
    "fullrank.experiment.run": ("run",),
    "fullrank.metrics": (
        "AUC", "DCG", "F1", "HitRate", "MAE", "MAP", "MRR", "MeanRank", "Metric", "NDCG",
        "Precision", "RBP", "RMSE", "RPrecision", "Recall", "parse",
    ),
    "fullrank.models": (
        "BiasOnly", "EASE", "IALS", "ItemKNN", "PairFunction", "Popularity", "PureSVD", "Random",
        "Recommender", "UserKNN",
    ),
    "fullrank.negatives": ("Uniform",),
    "fullrank.rank": ("Catalogue", "Ranking", "ranks_from_lists", "recommend"),
    "fullrank.report": ("write_report",),
    "fullrank.split": (
        "ExpandingWindow", "Given", "GlobalCut", "GlobalTime", "KFold", "LeaveLast", "LeaveRandom",
        "RandomRows", "SlidingWindow", "Split", "UnseenUsers", "UserTime",
    ),
    "fullrank.stats": ("compare_pairs", "mean_interval"),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604 - computed from the table above, which a test compares with a snapshot
    "__version__",
    *sorted(_HOME_OF),
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(_unknown(name))
    return getattr(import_module(_HOME_OF[name]), name)


def _unknown(name: str) -> str:
    """What to say of a name that isn't here, but may be in a package below."""
    text = f"module 'fullrank' has no attribute {name!r}"
    if not name[:1].isupper():  # of a module: asking below would import what nobody named
        return text
    for home in ("models", "split", "negatives", "rank", "stats"):
        package = import_module(f"fullrank.{home}")
        if name in {*package.__all__, *getattr(package, "REGISTRY", ())}:
            return f"{text}; write: from fullrank.{home} import {name}"
    return text


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
