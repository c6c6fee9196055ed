"""One cell of the study: a data set and a model, all estimators and designs, all repeats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.estimators import (
    BV,
    CLS,
    MES,
    MLE,
    MN,
    SH,
    Doubling,
    Estimator,
    MonotoneMLE,
    RankEstimate,
    Screened,
    Thinned,
    Unthinned,
    simulate,
)
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._table import Design, TableFit
from fullrank.negatives import Uniform
from replications.item_sampling.worlds import World

KS = np.arange(1, 51)
FIXED = (
    RankEstimate(), CLS(), BV(gamma=0.1, prior="uniform"), BV(prior="uniform"), MLE(), MES(), BV(),
    BV(prior="mes"), MN(), MN(prior="mes"), MonotoneMLE(), SH(),
)  # fmt: skip
POOLED = (BV(), BV(prior="mes"), MN(), MN(prior="mes"))
METRICS = ("Recall", "NDCG", "AP")


def functions(bins: Bins) -> np.ndarray:
    """Recall, NDCG and AP at 1 to 50 as means over bins: ``[bins, 150]``."""

    def of(r: np.ndarray) -> np.ndarray:
        inside = (r[:, None] <= KS).astype(float)
        return np.hstack([inside, inside / np.log2(r[:, None] + 1), inside / r[:, None]])

    return bins.means(of)


def truth(ranks: np.ndarray) -> np.ndarray:
    inside = (ranks[:, None] <= KS).astype(float)
    both = [inside, inside / np.log2(ranks[:, None] + 1), inside / ranks[:, None]]
    return np.concatenate([x.mean(axis=0) for x in both])


def gathered(world: World, design: Any, seed: int) -> tuple[Groups, float, np.ndarray]:
    """A sample of the design, gathered; items a user; the sampled ranks."""
    made = simulate(world.ranks, world.catalogs, design, seed)
    sample = made.sample
    assert sample is not None
    groups, _ = Groups.of(
        sample.ranks.astype(np.int64),
        sample.sizes.astype(np.int64),
        sample.catalog_sizes.astype(np.int64),
        replacement=sample.replacement,
    )
    return groups, float(sample.sizes.mean()), sample.ranks


def designs(world: World, size: int) -> dict[str, Any]:
    """Adaptive designs; the published one up to the power of two below an eighth of N."""
    top = 100
    while 2 * top <= world.n / 8:
        top *= 2
    return {
        f"Doubling to {top}": Doubling(n_max=max(top, 200)),
        "Screened": Screened(),
        "Thinned": Thinned(),
        "Unthinned": Unthinned(),
        f"fixed n={size}": Uniform(m=size - 1),
    }


def cell(world: World, repeats: int) -> dict[str, Any]:
    """Estimates of every method for every repeat, with items spent: JSON-able."""
    out: dict[str, Any] = {"truth": truth(world.ranks).tolist(), "users": len(world.ranks),
                           "n": world.n, "estimates": {}, "items": {}}  # fmt: skip
    for name, value, items in _fixed(world, repeats):
        out["estimates"].setdefault(name, []).append(value.tolist())
        out["items"].setdefault(name, []).append(items)
    for name, design in designs(world, 500).items():
        if "fixed" in name and world.n < 5000:
            continue
        for repeat in range(repeats):
            groups, items, _ = gathered(world, design, 1000 + repeat)
            steps = 50 if "fixed" not in name else 100
            for estimator in (MLE(steps=steps), SH()):
                key = f"{type(estimator).__name__}, {name}"
                value = _estimate(estimator, groups)
                out["estimates"].setdefault(key, []).append(value.tolist())
                out["items"].setdefault(key, []).append(items)
    return out


def _fixed(world: World, repeats: int) -> Iterator[tuple[str, np.ndarray, float]]:
    """Estimators at n = 100 with their own priors, and tables with priors pooled over repeats."""
    kept = []
    for repeat in range(repeats):
        groups, items, ranks = gathered(world, Uniform(m=99), repeat)
        yield "raw", truth(ranks), items
        for estimator in FIXED:
            yield f"{estimator}", _estimate(estimator, groups), items
        kept.append((groups, items))
    priors = {}
    for name, estimator in (("mle", MLE()), ("mes", MES())):
        bins = estimator.bins(world.n, 50)
        priors[name] = np.mean([estimator.fit(g, bins).pi for g, _ in kept], axis=0)
    for table in POOLED:
        for groups, items in kept:
            bins = table.bins(world.n, 50)
            fit = TableFit(groups, bins, table, priors[table.prior], Design.all_of(groups, bins))
            value = groups.counts @ fit.values(functions(bins)) / groups.total
            yield f"{table}, pooled prior", value, items


def _estimate(estimator: Estimator, groups: Groups) -> np.ndarray:
    bins = estimator.bins(groups.n, 50)
    fit = estimator.fit(groups, bins)
    return groups.counts @ fit.values(functions(fit.bins)) / groups.total


def kept_cell(path: Path, world: World, repeats: int) -> dict[str, Any]:
    """The cell, from ``path`` if it was made before."""
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    found = cell(world, repeats)
    aside = path.with_suffix(".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside.write_text(json.dumps(found))
    aside.rename(path)
    return found
