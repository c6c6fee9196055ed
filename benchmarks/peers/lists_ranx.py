"""ranx on recommendation lists, from data frames as its documentation shows."""

from __future__ import annotations

import time
from typing import Any

NAMES = {
    "NDCG@10": "ndcg_burges@10", "Recall@10": "recall@10", "Recall@20": "recall@20",
    "Recall@100": "recall@100", "MAP@100": "map@100", "MRR@100": "mrr@100",
    "Precision@10": "precision@10", "HitRate@10": "hit_rate@10",
}  # fmt: skip


def run(folder: str) -> dict[str, Any]:
    """Seconds from pandas frames to means."""
    import pandas as pd
    from ranx import Qrels, Run, evaluate

    recs, truth = (pd.read_parquet(f"{folder}/{name}.parquet") for name in ("recs", "truth"))
    start = time.perf_counter()
    names = {"q_id_col": "user_id", "doc_id_col": "item_id", "score_col": "score"}
    text = {"user_id": object, "item_id": object}  # ranx wants text columns as objects
    run_ = Run.from_df(recs.assign(score=-recs["rank"].astype(float)).astype(text), **names)
    qrels = Qrels.from_df(truth.assign(score=1).astype(text), **names)
    found = evaluate(qrels, run_, list(NAMES.values()))
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "means": {ours: float(found[x]) for ours, x in NAMES.items()}}
