"""trec_eval 10 (and pytrec_eval): the reference implementation of information retrieval."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "usnistgov/trec_eval, m_{}.c"
_EMPTY = "a query without relevant documents counts as 0"


DIALECTS = (
    Dialect("Precision", "trec", _EMPTY, _SOURCE.format("P"), empty=0.0),
    Dialect("Recall", "trec", _EMPTY, _SOURCE.format("recall"), empty=0.0),
    Dialect("HitRate", "trec", _EMPTY, _SOURCE.format("success"), empty=0.0),
    Dialect("MRR", "trec", _EMPTY, _SOURCE.format("recip_rank"), empty=0.0),
    Dialect("RPrecision", "trec", _EMPTY, _SOURCE.format("Rprec"), empty=0.0),
    Dialect(
        "MAP",
        "trec",
        f"map_cut divides by all relevant documents, not by min(R, k); {_EMPTY}",
        _SOURCE.format("map_cut"),
        options={"denominator": "relevant"},
        empty=0.0,
    ),
    Dialect(
        "NDCG",
        "trec",
        f"the gain is the grade itself, not 2^grade - 1; {_EMPTY}",
        _SOURCE.format("ndcg_cut"),
        options={"gain": "linear"},
        empty=0.0,
    ),
)
