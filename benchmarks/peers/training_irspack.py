"""irspack's training: iALS with each of its solvers, cosine neighbours, EASE; sklearn's SVD."""

from __future__ import annotations

import statistics
import time

from benchmarks._interactions import matrix, recall_at_20

SOLVERS = {
    "CG": {"solver_type": "CG", "max_cg_steps": 3},
    "Cholesky": {"solver_type": "CHOLESKY"},
    "iALS++ of 16": {"solver_type": "IALSPP", "ialspp_subspace_dimension": 16},
}


def ials(
    folder: str, d: int, epochs: int, reg: float, unobserved: float, solver: str
) -> dict[str, float]:
    """Median seconds of an epoch and held-out recall; the objective of IALS with ``nu=1``."""
    from irspack.recommenders.ials import IALSRecommender

    model = IALSRecommender(
        matrix(folder), n_components=d, alpha0=unobserved, reg=reg, nu=1.0, n_threads=2,
        **SOLVERS[solver],
    )  # fmt: skip
    model.start_learning()
    times = []
    for _ in range(epochs):
        start = time.perf_counter()
        model.run_epoch()
        times.append(time.perf_counter() - start)
    trained = model.trainer.core_trainer
    return {
        "seconds": statistics.median(times),
        "recall": recall_at_20(folder, trained.user, trained.item),
    }


def item_knn(folder: str) -> dict[str, float]:
    """Seconds of 100 cosine neighbours of every item (once: it takes most of a minute)."""
    from irspack.recommenders.knn import CosineKNNRecommender

    X = matrix(folder)
    start = time.perf_counter()
    CosineKNNRecommender(X, normalize=True, top_k=100, n_threads=2).learn()
    return {"seconds": time.perf_counter() - start}


def ease(folder: str) -> dict[str, float]:
    """Seconds of its closed form, in float32 (median of 3)."""
    from irspack.recommenders import DenseSLIMRecommender

    X, times = matrix(folder), []
    for _ in range(3):
        start = time.perf_counter()
        DenseSLIMRecommender(X, reg=500.0).learn()
        times.append(time.perf_counter() - start)
    return {"seconds": statistics.median(times)}


def randomized_svd(folder: str, d: int, iterations: int) -> dict[str, float]:
    """Seconds of sklearn's ``randomized_svd``, which irspack takes; held-out recall."""
    from sklearn.utils.extmath import randomized_svd as decompose

    X = matrix(folder)
    start = time.perf_counter()
    _, values, right = decompose(X, d, n_iter=iterations, random_state=0)
    seconds = time.perf_counter() - start
    recall = recall_at_20(folder, X @ right.T, right.T)
    return {"seconds": seconds, "recall": recall, "last": float(values[-1])}
