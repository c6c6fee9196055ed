"""fastslim's training: the objective of SLIM, coordinate descent on Gram rows, in Rust."""

from __future__ import annotations

import resource
import time

from benchmarks._interactions import matrix


def slim(folder: str, l1: float, l2: float, tolerance: float, out: str) -> dict[str, float]:
    """Seconds of a fit; the weights go to a file (row i: what item i says of the others)."""
    import fastslim
    import numpy as np
    from scipy.sparse import csr_matrix, save_npz

    X = matrix(folder).astype(np.float64)
    fastslim.fit(X[:50], lambd=l1, beta=l2, n_threads=2)
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    weights = fastslim.fit(X, lambd=l1, beta=l2, tol=tolerance, max_iter=100_000, n_threads=2)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    save_npz(out, csr_matrix(weights))
    return {"seconds": seconds,
            "cpu": used.ru_utime - before.ru_utime + used.ru_stime - before.ru_stime}  # fmt: skip
