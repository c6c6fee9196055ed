"""LightFM's BPR, which irspack takes."""

from __future__ import annotations

import time

from benchmarks._interactions import matrix


def bpr(folder: str, d: int, _epochs: int, rate: float, _reg: float) -> dict[str, float]:
    """Seconds of an epoch with AdaGrad, no penalty: plain steps and L2 on rows it has not."""
    from lightfm import LightFM

    X = matrix(folder).tocoo()
    model = LightFM(d, loss="bpr", learning_rate=rate, random_state=0)
    model.fit_partial(X.tocsr()[:100].tocoo(), num_threads=2)
    start = time.perf_counter()
    model.fit(X, epochs=1, num_threads=2)
    return {"seconds": time.perf_counter() - start}
