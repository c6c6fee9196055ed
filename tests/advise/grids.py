"""Made-up Psi grids: the sampler's tau follows one of its features, or nothing."""

from __future__ import annotations

import numpy as np
import polars as pl

STRATEGIES = ("A", "B", "C", "D")
KINDS = (("implicit", "ndcg@10"), ("explicit", "mse"))


def grid(
    seed: int = 0, n_sets: int = 12, signal: float = 0.4, noise: float = 0.1, first: int = 0
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Taus ``0.3 + signal * tanh(z) + noise`` of samples with features z, noise and a gap."""
    rng = np.random.default_rng(seed)
    taus, features = [], []
    for j in range(first, first + n_sets):
        for keep in (0.1, 0.5):
            for strategy in STRATEGIES:
                sample = {"data": f"d{j:02}", "keep": keep, "strategy": strategy}
                z, noisy = rng.normal(size=2)
                missing = float("nan") if j % 3 == 0 else rng.normal()
                features.append({**sample, "z": z, "noisy": noisy, "times": missing})
                for scenario, metric in KINDS:
                    tau = 0.3 + signal * np.tanh(z) + noise * rng.normal()
                    kind = {"scenario": scenario, "metric": metric}
                    taus.append({**sample, **kind, "tau": np.clip(tau, -1, 1), "tau_sd": noise})
    return pl.DataFrame(taus), pl.DataFrame(features)
