"""1,000 bootstrap resamples of a million users × 8 metrics: `python -m benchmarks.bootstrap`."""

from __future__ import annotations

import time

import numpy as np

from fullrank.stats import mean_intervals

USERS, METRICS, RESAMPLES = 1_000_000, 8, 1000


def seconds(users: int = USERS) -> float:
    """Time of the second call: the first one compiles or loads the kernel."""
    rng = np.random.default_rng(0)
    values = rng.random((users, METRICS)) * (rng.random((users, METRICS)) < 0.3)
    for _ in range(2):
        start = time.perf_counter()
        mean_intervals(values, method="poisson", resamples=RESAMPLES)
        found = time.perf_counter() - start
    return found


if __name__ == "__main__":
    print(f"{USERS:,} users × {METRICS} metrics × {RESAMPLES:,} resamples: {seconds():.1f} s")
