"""SVP-CF (Sachdeva et al. 2022), the code of its eval.py."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect
from fullrank.metrics.dialects._formulas import hits_of_reachable

_SOURCE = "noveens/sampling_cf, eval.py"
_TIES = "orders equal scores as torch.topk leaves them, which promises no order"
_EMPTY = "users without test items add 0"

DIALECTS = (
    Dialect(
        "Recall",
        "svpcf",
        f"divides by min(R, k) (printed as HR@k); {_EMPTY}",
        _SOURCE,
        _TIES,
        formula=hits_of_reachable,
        empty=0.0,
    ),
    Dialect(
        "NDCG",
        "svpcf",
        f"grades are not used; {_EMPTY}",
        _SOURCE,
        _TIES,
        options={"gain": "binary"},
        empty=0.0,
    ),
)
