"""One cell of the study: all estimators and designs on one world, over all repeats."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.random import derive
from fullrank.core.ranked import TargetRanks
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
from fullrank.estimators._base import Fit
from fullrank.estimators._bins import Bins
from fullrank.estimators._groups import Groups
from fullrank.estimators._intervals import WIDER
from fullrank.estimators._table import Design, PriorTable, TableFit
from fullrank.estimators.spot_check import FLAG, known_at, tested
from fullrank.negatives import Uniform
from replications.item_sampling.worlds import World

KS = np.arange(1, 51)
METRICS = ("Recall", "NDCG", "AP")

ALONE: dict[str, Estimator] = {
    "rank estimate": RankEstimate(),
    "CLS": CLS(),
    "BV(.1) uniform": BV(gamma=0.1, prior="uniform"),
    "BV(.01) uniform": BV(prior="uniform"),
    "monotone MLE": MonotoneMLE(),
}
"""Methods at n = 100 that need no fit of another."""

TABLES: dict[str, PriorTable] = {
    "BV_MLE": BV(),
    "BV_MES": BV(prior="mes"),
    "MN_MLE": MN(),
    "MN_MES": MN(prior="mes"),
}
"""Tables with a prior from the same sample, and from all repeats pooled."""

LARGE = 5000
"""Catalogue from which samples of 500 are drawn too."""

DRAWS, CHECKED = 200, 200

Kept = dict[str, NDArray[Any]]


_FUNCTIONS: dict[tuple[int, int], NDArray[np.float64]] = {}


def functions(bins: Bins) -> NDArray[np.float64]:
    """Recall, NDCG and AP at 1 to 50 as means over bins: ``[bins, 150]``."""
    key = (len(bins), bins.n)
    if key not in _FUNCTIONS:
        _FUNCTIONS[key] = _functions(bins)
    return _FUNCTIONS[key]


def _functions(bins: Bins) -> NDArray[np.float64]:

    def of(r: NDArray[np.int64]) -> NDArray[np.float64]:
        inside = (r[:, None] <= KS).astype(float)
        return np.hstack([inside, inside / np.log2(r[:, None] + 1), inside / r[:, None]])

    return bins.means(of)


def truth(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """The same of known ranks: ``[150]``."""
    inside = (ranks[:, None] <= KS).astype(float)
    both = [inside, inside / np.log2(ranks[:, None] + 1), inside / ranks[:, None]]
    return np.concatenate([x.mean(axis=0) for x in both])


def adaptive(n: int) -> dict[str, Any]:
    """Adaptive designs; the published one up to the largest power of two within an eighth."""
    top = 200
    while 2 * top <= n / 8:
        top *= 2
    return {
        "published doubling": Doubling(n_max=top),
        "screened": Screened(),
        "thinned": Thinned(),
        "unthinned": Unthinned(),
    }


class Cell:
    """Estimates, whether intervals cover, items a user: lists by method, one entry a repeat."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.seed = world, seed
        self.truth = truth(world.ranks)
        self.values: dict[str, list[Any]] = defaultdict(list)
        self.covered: dict[str, list[Any]] = defaultdict(list)
        self.items: dict[str, list[float]] = defaultdict(list)
        self.p_values: list[float] = []

    def sampled(self, design: Any, repeat: int, stream: str) -> tuple[TargetRanks, Groups]:
        """A sample by a design; independent of those of other models and designs."""
        seed = derive(self.seed, stream, repeat)
        made = simulate(self.world.ranks, self.world.catalogs, design, seed)
        return made, gathered(made)

    def add(self, method: str, value: NDArray[np.float64], items: float) -> None:
        self.values[method].append(value)
        self.items[method].append(items)

    def add_fit(self, method: str, fit: Fit, groups: Groups, items: float) -> None:
        self.add(method, groups.counts @ fit.values(functions(fit.bins)) / groups.total, items)

    def add_smooth(self, method: str, groups: Groups, items: float, repeat: int) -> None:
        """The smooth-head fit: median of posterior draws, and whether 95 % of them cover."""
        mine = posterior_draws(groups, derive(self.seed, method, repeat))
        middle = np.median(mine, axis=0)
        low, high = middle + WIDER * (np.quantile(mine, [0.025, 0.975], axis=0) - middle)
        self.add(method, middle, items)
        self.covered[method].append((low <= self.truth) & (self.truth <= high))


def gathered(made: TargetRanks) -> Groups:
    sample = made.sample
    assert sample is not None
    columns = (sample.ranks, sample.sizes, sample.catalog_sizes)
    return Groups.of(*(c.astype(np.int64) for c in columns), replacement=sample.replacement)[0]


def posterior_draws(groups: Groups, seed: int) -> NDArray[np.float64]:
    """What ``fullrank.estimators.estimate`` does for one target a user: ``[draws, 150]``."""
    fit = SH().fit(groups, SH().bins(groups.n, 50))
    b = functions(fit.bins)
    weights = fit.lumped(np.repeat(groups.counts[:, None], b.shape[1], axis=1))
    found = [fit.moments(pi, b, (weights, weights)) for pi in fit.draws(DRAWS, seed)]
    mean = np.array([m for m, _ in found]) / groups.total
    spread = np.sqrt(np.array([v for _, v in found])) / groups.total
    return mean + spread * np.random.default_rng(seed + 1).standard_normal((DRAWS, 1))


def cell(world: World, repeats: int, seed: int) -> Kept:
    """Everything about one world."""
    made = Cell(world, seed)
    priors = []
    for repeat in range(repeats):
        priors.append(_fixed(made, repeat))
        if world.n >= LARGE:
            _large(made, repeat)
        _adaptive(made, repeat)
    _pooled(made, priors)
    out: Kept = {"truth": made.truth, "users": np.array(len(world.ranks)), "n": np.array(world.n)}
    out["p_values"] = np.array(made.p_values)
    out["first ranks"] = np.bincount(gathered_ranks(made), minlength=101)[:101]
    for kind in ("values", "covered", "items"):
        for method, rows in getattr(made, kind).items():
            out[f"{kind}/{method}"] = np.array(rows)
    out["efficiency"] = _efficiency(made)
    return out


def gathered_ranks(made: Cell) -> NDArray[np.int32]:
    ranks, _ = made.sampled(Uniform(m=99), 0, "fixed")
    assert ranks.sample is not None
    return ranks.sample.ranks


Priors = tuple[Groups, dict[str, NDArray[np.float64]]]


def _fixed(made: Cell, repeat: int) -> Priors:
    """n = 100: every estimator on the same sample; and the spot check."""
    ranked, groups = made.sampled(Uniform(m=99), repeat, "fixed")
    assert ranked.sample is not None
    made.add("raw", truth(ranked.sample.ranks.astype(np.int64)), 100)
    for name, estimator in ALONE.items():
        made.add_fit(name, estimator.fit(groups, estimator.bins(groups.n, 50)), groups, 100)
    priors = _with_tables(made, groups, 100, "", TABLES)
    made.add_smooth("SH", groups, 100, repeat)
    _spot_check(made, ranked, repeat)
    return groups, priors


def _large(made: Cell, repeat: int) -> None:
    """n = 500."""
    _, groups = made.sampled(Uniform(m=499), repeat, "large")
    uniform = BV(prior="uniform")
    fit = uniform.fit(groups, uniform.bins(groups.n, 50))
    made.add_fit("BV(.01) uniform, n=500", fit, groups, 500)
    _with_tables(made, groups, 500, ", n=500", TABLES)
    made.add_smooth("SH, n=500", groups, 500, repeat)


def _with_tables(
    made: Cell, groups: Groups, items: int, end: str, tables: dict[str, PriorTable]
) -> dict[str, NDArray[np.float64]]:
    """MLE and MES, and the tables that take them as their priors."""
    bins = MLE().bins(groups.n, 50)
    priors = {}
    for name, estimator in (("mle", MLE()), ("mes", MES())):
        fit = estimator.fit(groups, bins)
        made.add_fit(name.upper() + end, fit, groups, items)
        priors[name] = fit.pi
    designs = Design.all_of(groups, bins)
    for name, table in tables.items():
        prior = priors[table.prior]
        made.add_fit(name + end, TableFit(groups, bins, table, prior, designs), groups, items)
    return priors


def _adaptive(made: Cell, repeat: int) -> None:
    for name, design in adaptive(made.world.n).items():
        ranked, groups = made.sampled(design, repeat, name)
        assert ranked.sample is not None
        items = float(ranked.sample.sizes.mean())
        em = MLE(steps=50)
        made.add_fit(f"EM 50, {name}", em.fit(groups, em.bins(groups.n, 50)), groups, items)
        made.add_smooth(f"SH, {name}", groups, items, repeat)


def _spot_check(made: Cell, ranked: TargetRanks, repeat: int) -> None:
    """Exact ranks of 200 winners: is the fit flagged, and what they do within it."""
    sample = ranked.sample
    assert sample is not None
    won = np.flatnonzero(sample.ranks == 1)
    source = np.random.default_rng(derive(made.seed, "check", repeat))
    chosen = source.choice(won, size=min(CHECKED, len(won)), replace=False)
    exact = made.world.ranks[chosen]
    made.p_values.append(tested(ranked, exact)[0])
    groups = gathered(known_at(ranked, chosen, exact, made.world.catalogs[chosen]))
    items = 100 + float(made.world.catalogs[chosen].sum()) / len(made.world.ranks)
    made.add_smooth("SH, spot check", groups, items, repeat)


def _pooled(made: Cell, priors: list[Priors]) -> None:
    """Tables with priors averaged over all repeats, as in the published tables."""
    for name, table in TABLES.items():
        prior = np.mean([found[table.prior] for _, found in priors], axis=0)
        for groups, _ in priors:
            bins = table.bins(groups.n, 50)
            fit = TableFit(groups, bins, table, prior, Design.all_of(groups, bins))
            made.add_fit(f"{name} pooled", fit, groups, 100)


def _efficiency(made: Cell) -> NDArray[np.float64]:
    """Sizes and items for a newly resolved target, doubling up to the catalogue: ``[2, j]``."""
    from fullrank.estimators import efficiency

    ranked, _ = made.sampled(Doubling(n_max=made.world.n), 0, "efficiency")
    found = efficiency(ranked)
    return np.stack([found.sizes.astype(float), found.cost])


def kept_cell(path: Path, world: World, repeats: int, seed: int) -> Kept:
    """The cell, from ``path`` if it was made before."""
    if not path.exists():
        aside = path.with_name(path.name + ".part.npz")
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(aside, **cell(world, repeats, seed))
        aside.rename(path)
    with np.load(path) as kept:
        return dict(kept)


__all__ = ["FLAG", "KS", "METRICS", "Kept", "kept_cell"]
