"""recommenders (Microsoft) on recommendation lists: its pandas metrics, one call each."""

from __future__ import annotations

import time
from typing import Any


def run(folder: str) -> dict[str, Any]:
    """Seconds from pandas frames to means; a call a metric and cut-off, as the package has it."""
    import pandas as pd
    from recommenders.evaluation import python_evaluation as of

    recs, truth = (pd.read_parquet(f"{folder}/{name}.parquet") for name in ("recs", "truth"))
    start = time.perf_counter()
    recs = recs.assign(prediction=-recs["rank"].astype(float)).drop(columns="rank")
    columns = {"col_user": "user_id", "col_item": "item_id", "col_prediction": "prediction"}
    truth = truth.assign(rating=1.0)
    calls = {
        "NDCG@10": (of.ndcg_at_k, 10), "Recall@10": (of.recall_at_k, 10),
        "Recall@20": (of.recall_at_k, 20), "Recall@100": (of.recall_at_k, 100),
        "MAP@100": (of.map_at_k, 100), "Precision@10": (of.precision_at_k, 10),
    }  # fmt: skip
    found = {name: call(truth, recs, k=k, **columns) for name, (call, k) in calls.items()}
    seconds = time.perf_counter() - start
    own = ("MAP@100",)  # divided by min(number of held-out items, k)
    return {
        "seconds": seconds,
        "means": {name: float(value) for name, value in found.items() if name not in own},
    }
