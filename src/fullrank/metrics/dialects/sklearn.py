"""scikit-learn 1."""

from __future__ import annotations

from fullrank.metrics.dialects._base import Dialect

_SOURCE = "scikit-learn/scikit-learn, sklearn/metrics/_ranking.py"
_TIES = ""  # ignore_ties=False, the default, and the midranks of AUC: expectations
_LINEAR = "the gain is the grade itself, not 2^grade - 1"

DIALECTS = (
    Dialect("NDCG", "sklearn", _LINEAR, _SOURCE, _TIES, options={"gain": "linear"}, empty=0.0),
    Dialect("DCG", "sklearn", _LINEAR, _SOURCE, _TIES, options={"gain": "linear"}, empty=0.0),
    Dialect("AUC", "sklearn", "same (roc_auc_score, user by user)", _SOURCE, _TIES),
)
