"""trec_eval 10 (and pytrec_eval): the reference implementation of information retrieval."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "usnistgov/trec_eval, m_{}.c"
_TIES = "orders equal scores by document id, the last in text order first"
_EMPTY = (
    "a query without relevant documents counts as 0 (it orders by the score as a 32-bit float, and "
    "reads no ranks)"
)


DIALECTS = (
    Dialect("Precision", "trec", _EMPTY, _SOURCE.format("P"), _TIES, empty=0.0),
    Dialect("Recall", "trec", _EMPTY, _SOURCE.format("recall"), _TIES, empty=0.0),
    Dialect("HitRate", "trec", _EMPTY, _SOURCE.format("success"), _TIES, empty=0.0),
    Dialect("MRR", "trec", _EMPTY, _SOURCE.format("recip_rank"), _TIES, empty=0.0),
    Dialect("RPrecision", "trec", _EMPTY, _SOURCE.format("Rprec"), _TIES, empty=0.0),
    Dialect(
        "MAP",
        "trec",
        f"map_cut divides by all relevant documents, not by min(R, k); {_EMPTY}",
        _SOURCE.format("map_cut"),
        _TIES,
        options={"denominator": "relevant"},
        empty=0.0,
    ),
    Dialect(
        "NDCG",
        "trec",
        f"the gain is the grade itself, not 2^grade - 1; {_EMPTY}",
        _SOURCE.format("ndcg_cut"),
        _TIES,
        options={"gain": "linear"},
        empty=0.0,
    ),
)
