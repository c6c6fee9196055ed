"""Published numbers and settings: Sun et al. 2022 (DaisyRec 2.0), appendix, tables 10-11 and 16-18.

Copied into ``published.csv``, not measured: N = 10, split by time 80/20 (in fact by chance for
LastFM), 1,000 candidates.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

METRICS = ("Precision", "Recall", "HitRate", "MAP", "MRR", "NDCG")


@cache
def _lines() -> tuple[dict[str, str], ...]:
    with (Path(__file__).parent / "published.csv").open(encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def numbers(data: str, view: str) -> dict[str, tuple[float, ...]]:
    """Published values by model, in the order of ``METRICS``."""
    mine = (line for line in _lines() if (line["data"], line["view"]) == (data, view))
    return {line["model"]: tuple(float(line[name]) for name in METRICS) for line in mine}


_NEIGHBOURS = {
    "ML-1M": {"origin": 8, "5-filter": 73, "10-filter": 100},
    "LastFM": {"origin": 49, "5-filter": 55, "10-filter": 28},
}
_FACTORS = {
    "ML-1M": {"origin": 39, "5-filter": 2, "10-filter": 39},
    "LastFM": {"origin": 24, "5-filter": 33, "10-filter": 12},
}
_ELASTIC = {"ML-1M": {"10-filter": (0.4462, 0.0001)}, "LastFM": {"10-filter": (0.8330, 0.0013)}}
"""Share of L1, and penalty a user."""
_BPRMF = {
    "ML-1M": {
        "origin": (4, 83, 0.0056),
        "5-filter": (1, 100, 0.0018),
        "10-filter": (3, 22, 0.0004),
    },
    "LastFM": {"origin": (5, 92, 0.008), "5-filter": (5, 56, 0.006), "10-filter": (5, 92, 0.0057)},
}
_BPRFM = {
    "ML-1M": {"origin": (4, 30, 0.003), "5-filter": (3, 96, 0.0023), "10-filter": (4, 37, 0.0014)},
    "LastFM": {"origin": (5, 24, 0.01), "5-filter": (5, 66, 0.0099), "10-filter": (5, 61, 0.0096)},
}
"""Negatives, factors, learning rate."""


def settings(data: str, view: str, model: str, n_users: int) -> dict[str, Any]:
    """The tuned settings, as our models name them.

    Args:
        data: data set.
        view: which rows of it.
        model: as in the tables.
        n_users: the penalties of SLIM are shares of it.
    """
    if model == "ItemKNN":
        return {"neighbours": _NEIGHBOURS[data][view]}
    if model == "PureSVD":
        return {"embedding_dim": _FACTORS[data][view]}
    if model == "SLIM":
        share, penalty = _ELASTIC[data][view]
        return {"l1_reg": n_users * penalty * share, "l2_reg": n_users * penalty * (1 - share)}
    if model in ("BPRMF", "BPRFM"):
        found = (_BPRMF if model == "BPRMF" else _BPRFM)[data][view]
        names = ("negatives_per_positive", "embedding_dim", "learning_rate")
        return dict(zip(names, found, strict=True))
    return {}
