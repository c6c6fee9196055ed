"""Made-up meta-data of small worlds: taus follow a feature of the samples, or nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
from tests.subsample.worlds import LOW, world

from fullrank.advise import MetaData, measure
from fullrank.advise.table import CELL

STRATEGIES = ("RandomInteractions", "HeadUsers", "HeadItems", "SVPCF(proxy=bias_only, unit=user)")
KEEPS = (0.5, 0.2)
KINDS = (("implicit", "NDCG@10"), ("implicit", "AUC"), ("explicit", "RMSE"))


@cache
def meta(n_sets: int = 6, signal: float = 0.6, noise: float = 0.02) -> MetaData:
    """HeadUsers is better than random rows by about the signal, HeadItems worse by it."""
    gap = dict(zip(STRATEGIES, (0.0, signal, -signal, 0.0)))
    taus, features, costs, about = [], [], [], {}
    for j in range(n_sets):
        name, rng = f"w{j}", np.random.default_rng(j)
        about[name] = {"rows": 600, "users": 60, "items": 40, "scenarios": {}}
        frame = measure(name, world(j), STRATEGIES[:3], KEEPS, j, floor=LOW).frame
        last = frame.filter(pl.col("strategy") == "HeadUsers")
        frame = pl.concat([frame, last.with_columns(strategy=pl.lit(STRATEGIES[3]))])
        both = ("implicit", "explicit")
        features += [frame.with_columns(scenario=pl.lit(scenario)) for scenario in both]
        for (scenario, metric), keep, strategy in [
            (kind, keep, one) for kind in KINDS for keep in KEEPS for one in STRATEGIES
        ]:
            tau = np.clip(gap[strategy] / 2 + noise * rng.normal(), -1, 1)
            taus.append((name, scenario, metric, keep, strategy, tau, 0.02, 3))
        for scenario, keep, strategy in [
            (s, keep, one) for s in both for keep in KEEPS for one in STRATEGIES
        ]:
            draw = 5.0 if strategy.startswith("SVP") else 0.1 * j
            costs.append((name, scenario, strategy, keep, draw, 10 * keep, 10.0))
    first = ["data", "scenario", "keep", "strategy"]
    table = pl.concat(features).select(*first, pl.all().exclude(first).cast(pl.Float32))
    return MetaData(
        pl.DataFrame(taus, [*CELL, "tau", "tau_sd", "repeats"], orient="row").sort(CELL),
        table,
        pl.DataFrame(
            costs,
            ["data", "scenario", "strategy", "keep", "draw_seconds", "study_seconds",
             "full_seconds"],
            orient="row",
        ),
        about,
    )  # fmt: skip
