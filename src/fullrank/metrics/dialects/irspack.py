"""irspack, its evaluator with defaults."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "tohtsky/irspack, cpp_source/evaluator.cpp"
_TIES = "orders equal scores by the column of the item in its matrix"

DIALECTS = (
    Dialect("Precision", "irspack", "same (with at least k items to recommend)", _SOURCE, _TIES),
    Dialect("Recall", "irspack", "same (recall_with_cutoff=False)", _SOURCE, _TIES),
    Dialect("HitRate", "irspack", "same", _SOURCE, _TIES),
    Dialect(
        "MAP",
        "irspack",
        "divides by all relevant items, not by min(R, k)",
        _SOURCE,
        _TIES,
        options={"denominator": "relevant"},
    ),
    Dialect("NDCG", "irspack", "grades are not used", _SOURCE, _TIES, options={"gain": "binary"}),
)
