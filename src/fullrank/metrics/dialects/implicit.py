"""implicit, ranking_metrics_at_k."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect
from fullrank.metrics.dialects._formulas import hits_of_reachable, reachable

_SOURCE = "benfred/implicit, implicit/evaluation.pyx"
_TIES = "orders equal scores as the top-k search of its own models leaves them"

DIALECTS = (
    Dialect(
        "Precision",
        "implicit",
        "hits of all users over the sum of min(R, k), so that it rises with k and busy users count "
        "more",
        _SOURCE,
        _TIES,
        formula=hits_of_reachable,
        weights=reachable,
    ),
    Dialect("MAP", "implicit", "same", _SOURCE, _TIES),
    Dialect("NDCG", "implicit", "grades are not used", _SOURCE, _TIES, options={"gain": "binary"}),
)
