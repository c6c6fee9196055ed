"""RecTools on recommendation lists: ``calc_metrics`` of eight metrics."""

from __future__ import annotations

import time
from typing import Any


def run(folder: str) -> dict[str, Any]:
    """Seconds from pandas frames to means; MAP is left out of the check: its divisor differs."""
    import pandas as pd
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    recs, truth = (pd.read_parquet(f"{folder}/{name}.parquet") for name in ("recs", "truth"))
    metrics = {
        "NDCG@10": NDCG(10), "Recall@10": Recall(10), "Recall@20": Recall(20),
        "Recall@100": Recall(100), "MAP@100": MAP(100), "MRR@100": MRR(100),
        "Precision@10": Precision(10), "HitRate@10": HitRate(10),
    }  # fmt: skip
    start = time.perf_counter()
    found = calc_metrics(metrics, reco=recs, interactions=truth)
    seconds = time.perf_counter() - start
    own = ("NDCG@10", "MAP@100")  # other definitions: an ideal of k hits, another divisor
    return {
        "seconds": seconds,
        "means": {name: float(found[name]) for name in metrics if name not in own},
    }
