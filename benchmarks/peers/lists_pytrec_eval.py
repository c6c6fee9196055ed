"""pytrec_eval on recommendation lists, from the nested dictionaries that it wants."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

NAMES = {
    "NDCG@10": "ndcg_cut_10", "Recall@10": "recall_10", "Recall@20": "recall_20",
    "Recall@100": "recall_100", "MAP@100": "map_cut_100", "MRR@100": "recip_rank",
    "Precision@10": "P_10", "HitRate@10": "success_10",
}  # fmt: skip


def rows(frame: Any, *names: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a frame by way of lists, a million at a time: one by one, text takes far longer."""
    for start in range(0, len(frame), 1_000_000):
        part = frame.iloc[start : start + 1_000_000]
        yield from zip(*(part[name].tolist() for name in names))


def run(folder: str) -> dict[str, Any]:
    """Seconds from pandas frames to means, the dictionaries included."""
    import pandas as pd
    import pytrec_eval

    recs, truth = (pd.read_parquet(f"{folder}/{name}.parquet") for name in ("recs", "truth"))
    start = time.perf_counter()
    qrel: dict[str, dict[str, int]] = {}
    for user, item in rows(truth, "user_id", "item_id"):
        qrel.setdefault(user, {})[sys.intern(item)] = 1
    scores = [-float(rank) for rank in range(1001)]
    lists: dict[str, dict[str, float]] = {}
    for user, item, rank in rows(recs, "user_id", "item_id", "rank"):
        lists.setdefault(user, {})[sys.intern(item)] = scores[rank]
    found = pytrec_eval.RelevanceEvaluator(qrel, set(NAMES.values())).evaluate(lists)
    means = {
        ours: sum(values[theirs] for values in found.values()) / len(found)
        for ours, theirs in NAMES.items()
    }
    return {"seconds": time.perf_counter() - start, "means": means}
