"""RecBole 1."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "RUCAIBox/RecBole, recbole/evaluator/metrics.py"
_TIES = "orders equal scores as torch.topk leaves them, which promises no order"

DIALECTS = (
    Dialect("Precision", "recbole", "same", _SOURCE, _TIES),
    Dialect("Recall", "recbole", "same", _SOURCE, _TIES),
    Dialect("HitRate", "recbole", "same", _SOURCE, _TIES),
    Dialect("MRR", "recbole", "same", _SOURCE, _TIES),
    Dialect("MAP", "recbole", "same", _SOURCE, _TIES),
    Dialect("NDCG", "recbole", "grades are not used", _SOURCE, _TIES, options={"gain": "binary"}),
)
