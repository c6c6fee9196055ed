"""RecBole 1."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "RUCAIBox/RecBole, recbole/evaluator/metrics.py"

DIALECTS = (
    Dialect("Precision", "recbole", "same", _SOURCE),
    Dialect("Recall", "recbole", "same", _SOURCE),
    Dialect("HitRate", "recbole", "same", _SOURCE),
    Dialect("MRR", "recbole", "same", _SOURCE),
    Dialect("MAP", "recbole", "same", _SOURCE),
    Dialect("NDCG", "recbole", "grades are not used", _SOURCE, options={"gain": "binary"}),
)
