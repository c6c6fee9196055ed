"""pytrec_eval on recommendation lists, from the nested dictionaries that it wants."""

from __future__ import annotations

import sys
import time
from typing import Any

NAMES = {
    "NDCG@10": "ndcg_cut_10", "Recall@10": "recall_10", "Recall@20": "recall_20",
    "Recall@100": "recall_100", "MAP@100": "map_cut_100", "MRR@100": "recip_rank",
    "Precision@10": "P_10", "HitRate@10": "success_10",
}  # fmt: skip


def run(folder: str) -> dict[str, Any]:
    """Seconds from pandas frames to means, the dictionaries included."""
    import pandas as pd
    import pytrec_eval

    recs, truth = (pd.read_parquet(f"{folder}/{name}.parquet") for name in ("recs", "truth"))
    start = time.perf_counter()
    qrel: dict[str, dict[str, int]] = {}
    for user, item in zip(truth["user_id"], truth["item_id"]):
        qrel.setdefault(user, {})[sys.intern(item)] = 1
    scores = [-float(rank) for rank in range(1001)]
    lists: dict[str, dict[str, float]] = {}
    for user, item, rank in zip(recs["user_id"], recs["item_id"], recs["rank"]):
        lists.setdefault(user, {})[sys.intern(item)] = scores[rank]
    found = pytrec_eval.RelevanceEvaluator(qrel, set(NAMES.values())).evaluate(lists)
    means = {
        ours: sum(values[theirs] for values in found.values()) / len(found)
        for ours, theirs in NAMES.items()
    }
    return {"seconds": time.perf_counter() - start, "means": means}
