"""Recommenders (Linux Foundation, once Microsoft), python_evaluation with its defaults."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "recommenders-team/recommenders, recommenders/evaluation/python_evaluation.py"
_TIES = "orders equal scores by their rows in the frame"
_USERS = "same for users with recommendations; it leaves the others out"

DIALECTS = (
    Dialect("Precision", "recommenders", _USERS, _SOURCE, _TIES),
    Dialect("Recall", "recommenders", _USERS, _SOURCE, _TIES),
    Dialect("MAP", "recommenders", f"map_at_k is the {_USERS} (map divides by R)", _SOURCE, _TIES),
    Dialect(
        "NDCG",
        "recommenders",
        "grades are not used (score_type='binary'); its natural logarithm cancels",
        _SOURCE,
        _TIES,
        options={"gain": "binary"},
    ),
)
