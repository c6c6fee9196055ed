"""implicit's training: ``AlternatingLeastSquares`` (CG, 3 steps), ``CosineRecommender``, BPR."""

from __future__ import annotations

import statistics
import time
from typing import Any

from benchmarks._interactions import matrix, recall_at_20


def ials(folder: str, d: int, epochs: int, reg: float, unobserved: float) -> dict[str, float]:
    """Median seconds of an epoch and held-out recall; ``reg`` and ``unobserved`` as IALS has them.

    With confidence ``1 + 1 / unobserved`` of an observed cell the objective is that of IALS with
    ``nu=0``, whose scores are ``1 + unobserved`` times smaller.
    """
    from implicit.cpu.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(
        factors=d, regularization=reg * (1 + unobserved) / unobserved, alpha=1 + 1 / unobserved,
        iterations=epochs, num_threads=2, random_state=0,
    )  # fmt: skip
    times: list[float] = []

    def note(_epoch: int, seconds: float, *_: Any) -> None:
        times.append(seconds)

    model.fit(matrix(folder), show_progress=False, callback=note)
    found = recall_at_20(folder, model.user_factors, model.item_factors)
    return {"seconds": statistics.median(times), "recall": found}


def bpr(folder: str, d: int, epochs: int, rate: float, reg: float) -> dict[str, float]:
    """Median seconds of an epoch, processor seconds of one, and held-out recall."""
    import resource

    from implicit.cpu.bpr import BayesianPersonalizedRanking

    model = BayesianPersonalizedRanking(
        factors=d, learning_rate=rate, regularization=reg, iterations=epochs, num_threads=2,
        random_state=0,
    )  # fmt: skip
    times: list[float] = []

    def note(_epoch: int, seconds: float, *_: Any) -> None:
        times.append(seconds)

    X, before = matrix(folder), resource.getrusage(resource.RUSAGE_SELF)
    model.fit(X, show_progress=False, callback=note)
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    found = recall_at_20(folder, model.user_factors, model.item_factors)
    return {"seconds": statistics.median(times), "cpu": used / epochs, "recall": found}


def item_knn(folder: str) -> dict[str, float]:
    """Seconds of 100 cosine neighbours of every item (median of 3)."""
    from implicit.nearest_neighbours import CosineRecommender

    X, times = matrix(folder), []
    for _ in range(3):
        start = time.perf_counter()
        CosineRecommender(K=100, num_threads=2).fit(X, show_progress=False)
        times.append(time.perf_counter() - start)
    return {"seconds": statistics.median(times)}
