"""ranx 0.3."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "AmenRa/ranx, ranx/metrics/{}.py"
_TIES = "orders equal scores as an unstable sort leaves them"
_EMPTY = "a query without relevant documents counts as 0"


DIALECTS = (
    Dialect("Precision", "ranx", _EMPTY, _SOURCE.format("precision"), _TIES, empty=0.0),
    Dialect("Recall", "ranx", _EMPTY, _SOURCE.format("recall"), _TIES, empty=0.0),
    Dialect("HitRate", "ranx", _EMPTY, _SOURCE.format("hit_rate"), _TIES, empty=0.0),
    Dialect("F1", "ranx", _EMPTY, _SOURCE.format("f1"), _TIES, empty=0.0),
    Dialect("MRR", "ranx", _EMPTY, _SOURCE.format("reciprocal_rank"), _TIES, empty=0.0),
    Dialect("RPrecision", "ranx", _EMPTY, _SOURCE.format("r_precision"), _TIES, empty=0.0),
    Dialect(
        "MAP",
        "ranx",
        f"divides by all relevant documents, not by min(R, k); {_EMPTY}",
        _SOURCE.format("average_precision"),
        _TIES,
        options={"denominator": "relevant"},
        empty=0.0,
    ),
    Dialect(
        "NDCG",
        "ranx",
        f"the gain is the grade itself (ndcg_burges has 2^grade - 1); {_EMPTY}",
        _SOURCE.format("ndcg"),
        _TIES,
        options={"gain": "linear"},
        empty=0.0,
    ),
    Dialect(
        "DCG",
        "ranx",
        f"the gain is the grade itself (dcg_burges has 2^grade - 1); {_EMPTY}",
        _SOURCE.format("ndcg"),
        _TIES,
        options={"gain": "linear"},
        empty=0.0,
    ),
)
