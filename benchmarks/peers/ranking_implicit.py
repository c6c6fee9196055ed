"""implicit on the ranking problem: ``recommend`` (top 100) and ``ranking_metrics_at_k`` (one k)."""

from __future__ import annotations

import time

import numpy as np

from benchmarks._world import recall_at_10, world
from benchmarks.peers._matrices import csr


def seconds(q: int, c: int, d: int) -> dict[str, float]:
    """Seconds of each call on ``q`` users, and the recall at 10 of both."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    w = world(q, c, d)
    history, targets = csr(w.history, c), csr(w.targets, c)
    model = AlternatingLeastSquares(factors=d, num_threads=2)
    model.user_factors, model.item_factors = w.users, w.items
    users = np.arange(q)
    model.recommend(users[:256], history[:256], N=100)
    start = time.perf_counter()
    lists, _ = model.recommend(users, history, N=100, filter_already_liked_items=True)
    top = time.perf_counter() - start
    start = time.perf_counter()
    found = ranking_metrics_at_k(model, history, targets, K=10, show_progress=False, num_threads=2)
    one = time.perf_counter() - start
    return {
        "recommend": top,
        "ranking_metrics_at_k": one,
        "recall": recall_at_10(lists, w.targets),
        "precision": float(found["precision"]),
    }
