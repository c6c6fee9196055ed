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


def slim(folder: str, l1: float, l2: float, tolerance: float, out: str) -> dict[str, float]:
    """Seconds of a fit; the weights go to a file. Its penalties are times the number of users."""
    import resource

    from irspack.recommenders import SLIMRecommender
    from scipy.sparse import csr_matrix, save_npz

    X = matrix(folder)
    sweeps = 100 if tolerance > 1e-6 else 10_000
    model = SLIMRecommender(
        X, alpha=(l1 + l2) / X.shape[0], l1_ratio=l1 / (l1 + l2), tol=tolerance, n_iter=sweeps,
        n_threads=2,
    )  # fmt: skip
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    model.learn()
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    save_npz(out, csr_matrix(model.W))
    return {"seconds": seconds,
            "cpu": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime}  # fmt: skip


def randomized_svd(folder: str, d: int, iterations: int) -> dict[str, float]:
    """Seconds of sklearn's ``randomized_svd``, which irspack takes; held-out recall."""
    from sklearn.utils.extmath import randomized_svd as decompose

    X = matrix(folder)
    start = time.perf_counter()
    _, values, right = decompose(X, d, n_iter=iterations, random_state=0)
    seconds = time.perf_counter() - start
    recall = recall_at_20(folder, X @ right.T, right.T)
    return {"seconds": seconds, "recall": recall, "last": float(values[-1])}
