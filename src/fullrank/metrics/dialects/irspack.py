"""irspack, its evaluator with defaults."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "tohtsky/irspack, cpp_source/evaluator.cpp"

DIALECTS = (
    Dialect("Precision", "irspack", "same (with at least k items to recommend)", _SOURCE),
    Dialect("Recall", "irspack", "same (recall_with_cutoff=False)", _SOURCE),
    Dialect("HitRate", "irspack", "same", _SOURCE),
    Dialect(
        "MAP",
        "irspack",
        "divides by all relevant items, not by min(R, k)",
        _SOURCE,
        options={"denominator": "relevant"},
    ),
    Dialect("NDCG", "irspack", "grades are not used", _SOURCE, options={"gain": "binary"}),
)
