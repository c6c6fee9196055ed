"""How many queries and candidates an estimate needs, and whether full ranking is cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from fullrank.core.errors import SpecError
from fullrank.core.random import RNG, derive, seed_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.text import quoted
from fullrank.estimators._base import Estimator
from fullrank.estimators._cases import Cases, Stratum, checked_sample
from fullrank.estimators._cost import Cost, scoring_cost
from fullrank.estimators._estimate import as_metrics, estimate
from fullrank.estimators._plan import FULL, Plan, PlanRow
from fullrank.estimators._simulate import simulate
from fullrank.estimators._tail import TAIL
from fullrank.estimators.designs import Screened, Thinned, Unthinned
from fullrank.estimators.mle import MLE
from fullrank.estimators.raw import raw_values
from fullrank.estimators.smooth_head import SH
from fullrank.metrics import RankMetric
from fullrank.negatives import Negatives, Uniform
from fullrank.rank import Adaptive
from fullrank.stats.moments import check_level

__all__ = ["Cost", "Plan", "PlanRow", "plan", "scoring_cost"]

DESIGNS: tuple[Negatives | Adaptive, ...] = (
    Uniform(m=99), Uniform(m=499), Screened(), Thinned(), Unthinned()
)  # fmt: skip

START = 4000
"""Queries of the first simulation; the next have as many as the one before says are needed."""

ROUNDS = (2, 2, 8, 8)
"""Repeats of the simulations: widths of intervals differ by a third between samples, and the error
from items falls with the number of queries as the fit makes it, not always with its root."""

MORE, ENOUGH = 24, 0.06
"""Repeats at most, while the mean width isn't known to this share of itself."""

FEWEST, MOST = 200, 200_000
"""Queries of a simulation; errors beyond are scaled by the root of their number."""

_LARGEST = 10_000_000
"""Items of a catalogue: some arrays hold a number for each of its ranks."""

_BEYOND = 1e12
"""Queries that nobody has."""

_DEAR = 1e9
"""Seconds, of one score or one query: 30 years."""

_NEAR = 1.15
"""Factor between the simulated and the needed number of queries that needs no other round."""


def plan(
    metric: str | RankMetric,
    *,
    catalog_size: int | None = None,
    pilot: TargetRanks | None = None,
    law: str | NDArray[np.float64] | None = None,
    half_width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    correlation: float = 0.5,
    level: float = 0.95,
    designs: Sequence[Negatives | Adaptive] = DESIGNS,
    cost: Cost | None = None,
    pair_seconds: float | None = None,
    query_seconds: float | None = None,
    rng: RNG = 0,
) -> Plan:
    """Tell how many queries and candidates an interval, or a comparison, needs.

    Ranks are drawn from a distribution, each design is simulated and estimated from (SH), and its
    error is scaled to what is wanted: for the population that the users come from.

    Args:
        metric: rank metric or its name.
        catalog_size: items that could be drawn, and the target; a pilot's without.
        pilot: sampled ranks to tell the distribution from. Of queries with several targets each
            counts as one with a query of its own, ranked among what is no target.
        law: or the distribution itself: ``"power:0.8"`` for ``P(R) ~ R ** -0.8``, or float64
            ``[catalog_size]``.
        half_width: of the interval that is wanted.
        difference: or the difference between two models that a paired test should find.
        power: probability to find it.
        correlation: of the two models' values over users; assumed, if you know none better.
        level: of confidence.
        designs: to look at, beside the full ranking.
        cost: of scoring, to compare in seconds.
        pair_seconds: or that of a pair, in seconds.
        query_seconds: and that of the full ranking of a query; without, it pays for each pair.
        rng: seed or Generator of the simulation.

    Raises:
        SpecError: neither or both of what can be given.
    """
    chosen = as_metrics(metric)[0]
    check_level(level)
    target, wanted = _target(half_width, difference, power, correlation, level)
    n = _size(catalog_size, pilot)
    cost = _given(cost, pair_seconds, query_seconds, n)
    p = _distribution(n, pilot, law, chosen)
    goal = _Goal(chosen, _by_rank(chosen, n), p, target, level, half_width is not None)
    seed = seed_of(rng)
    full = _full(goal, cost)
    rows = [full]
    rows += [_row(design, goal, cost, derive(seed, str(design)), full) for design in designs]
    key = (lambda r: r.pairs) if cost is None else (lambda r: r.seconds)
    several = pilot is not None and bool((np.diff(pilot.indptr) > 1).any())
    each = ", each of a query's targets as one of its own" if several else ""
    said = [
        f"ranks as in the pilot{each}" if pilot is not None else f"ranks by the law {_named(law)}",
        "users are a simple random sample, one target each",
    ]
    if difference is not None:
        said.append(f"the models' values correlate by {correlation:g} over users")
    return Plan(str(chosen), goal.value, wanted, tuple(sorted(rows, key=key)), tuple(said), n)


class _Goal(NamedTuple):
    """What is estimated, of what, and how well it shall be known.

    Attributes:
        metric: that is estimated.
        by_rank: float64 ``[n]``, its value at each rank.
        p: float64 ``[n]``, probability of each rank.
        target: wanted standard error.
        level: of confidence.
        width: the interval's width is what counts, not the standard error.
    """

    metric: RankMetric
    by_rank: NDArray[np.float64]
    p: NDArray[np.float64]
    target: float
    level: float
    width: bool

    @property
    def value(self) -> float:
        """The metric under the distribution."""
        return float(self.p @ self.by_rank)

    def spread(self, half_width: float, se: float) -> float:
        """Standard error that counts: that of a normal with this half-width, or this one."""
        return half_width / float(norm.ppf((1 + self.level) / 2)) if self.width else se


def _given(
    cost: Cost | None, pair_seconds: float | None, query_seconds: float | None, n: int
) -> Cost | None:
    """The cost of scoring, from either argument."""
    for name, value in (("pair_seconds", pair_seconds), ("query_seconds", query_seconds)):
        if value is not None and not 0 < value <= _DEAR:
            raise SpecError(
                f"{name} must be a number of seconds above 0 and up to {_DEAR:g}, got {value!r}"
            )
    if pair_seconds is None:
        if query_seconds is not None:
            raise SpecError("query_seconds goes with pair_seconds, what it costs to score one pair")
        return cost
    if cost is not None:
        raise SpecError("give either cost or pair_seconds")
    return Cost(pair_seconds, pair_seconds * n if query_seconds is None else query_seconds)


def _size(catalog_size: int | None, pilot: TargetRanks | None) -> int:
    """Items and the target, as given or as the pilot has it."""
    if catalog_size is None:
        if pilot is not None:
            return Cases.of(pilot).strata[0].catalog
        raise SpecError(
            "nothing says the size of the catalogue; give --catalog-size, or a pilot that has it"
        )
    if not isinstance(catalog_size, int | np.integer) or not 2 <= catalog_size <= _LARGEST:
        raise SpecError(
            "catalog_size must be a whole number of at least 2, and for a plan up to "
            f"{_LARGEST:,}, got {quoted(catalog_size)}"
        )
    return int(catalog_size)


def _by_rank(metric: RankMetric, n: int) -> NDArray[np.float64]:
    """The metric of one target at each rank: the whole catalogue is the sample."""
    every = np.arange(1, n + 1)
    return raw_values(simulate(every, n, Uniform(m=n - 1), 0), metric)


def _target(
    half_width: float | None,
    difference: float | None,
    power: float,
    correlation: float,
    level: float,
) -> tuple[float, str]:
    """Standard error of one model's estimate that is wanted, and what for."""
    if (half_width is None) == (difference is None):
        raise SpecError(
            "give either half_width or difference, what the plan is for (--half-width or "
            "--difference on the command line)"
        )
    wanted = half_width if half_width is not None else difference
    assert wanted is not None
    if not 0 < wanted < np.inf or not 0 < power < 1 or not -1 < correlation < 1:
        raise SpecError(
            "half_width and difference must be above 0 and finite, power within 0 and 1, "
            f"correlation within -1 and 1; got {wanted}, {power}, {correlation}"
        )
    z = float(norm.ppf((1 + level) / 2))
    if half_width is not None:
        return half_width / z, f"a {level:.0%} interval of ±{half_width:g}"
    both = wanted / (z + float(norm.ppf(power)))
    said = f"a difference of {wanted:g} found with a power of {power:.0%} at a level of {level:.0%}"
    return both / np.sqrt(2 * (1 - correlation)), said


def _distribution(
    n: int,
    pilot: TargetRanks | None,
    law: str | NDArray[np.float64] | None,
    metric: RankMetric,
) -> NDArray[np.float64]:
    """Probability of each rank."""
    if (pilot is None) == (law is None):
        raise SpecError(
            "give either a pilot (sampled ranks) or a law of ranks, such as power:0.8 (--pilot or "
            "--law on the command line)"
        )
    if pilot is not None:
        checked_sample(pilot)  # refuses lists: their strata are no samples of the whole
        out = np.zeros(n)
        for stratum in Cases.of(pilot).strata:  # by the targets ahead, where queries have several
            out += len(stratum.targets) * _fitted(stratum, n, metric)
    elif isinstance(law, str):
        name, _, exponent = law.partition(":")
        try:
            with np.errstate(over="ignore"):
                out = np.arange(1, n + 1, dtype=np.float64) ** -float(exponent)
        except ValueError:
            name = ""
        if name != "power" or not 0 < out.sum() < np.inf:
            raise SpecError(
                f"a law of ranks is spelled power:EXPONENT, such as power:0.8, got {law!r}"
            )
    else:
        out = np.asarray(law, dtype=np.float64)
        if out.shape != (n,) or not (out >= 0).all() or not 0 < out.sum() < np.inf:
            raise SpecError(
                f"a law must hold {n:,} probabilities, one for each rank, got shape {out.shape}"
            )
    return np.asarray(out / out.sum())


def _fitted(stratum: Stratum, n: int, metric: RankMetric) -> NDArray[np.float64]:
    """Probability of each rank 1 to ``n`` in a stratum of the pilot, stretched to ``n``.

    By the fit that ``estimate`` takes: the smooth-head fit tells nothing of the far end.
    """
    method: Estimator = MLE() if metric.name in TAIL else SH()
    bins = method.bins(stratum.groups.n, 1)
    pi = method.fit(stratum.groups, bins).distribution
    assert pi is not None
    each = np.repeat(pi / bins.width, bins.width.astype(np.int64))
    if len(each) == n:
        return each
    out = np.interp(np.linspace(0, 1, n), np.linspace(0, 1, len(each)), each)
    return np.asarray(out / out.sum())


def _named(law: Any) -> str:
    return law if isinstance(law, str) else "given"


def _full(goal: _Goal, cost: Cost | None) -> PlanRow:
    n, spread = len(goal.p), float(np.sqrt(goal.p @ (goal.by_rank - goal.value) ** 2))
    with np.errstate(over="ignore"):
        needed = np.square(spread / goal.target)
    if not needed <= _BEYOND:
        raise SpecError(
            f"even the full ranking would need more than {_BEYOND:g} queries for a standard error "
            f"of {goal.target:.3g}; ask for a wider interval, or a larger difference"
        )
    queries = max(2, int(np.ceil(needed)))
    seconds = None if cost is None else queries * cost.query
    error = spread / float(np.sqrt(queries))
    return PlanRow(FULL, queries, float(n), float(queries) * n, 0.0, error, seconds=seconds)


class _Found(NamedTuple):
    """Means over simulations: of what one estimate says of itself, and of its error."""

    items: float
    se: float
    se_items: float
    se_users: float
    bias: float


def _row(
    design: Negatives | Adaptive, goal: _Goal, cost: Cost | None, seed: int, full: PlanRow
) -> PlanRow:
    """Simulate a design, each time with as many queries as the last time says that it needs.

    None needs fewer than the full ranking: where a simulation says so it is by its noise. The two
    errors are shown as parts of the one that counts, which the interval is as wide as.
    """
    count, needed = START, float(START)
    for repeats in ROUNDS:
        count = int(np.clip(np.ceil(needed), FEWEST, MOST))
        found = _simulated(design, goal, count, repeats, seed)
        needed = max(2.0, count * (found.se / goal.target) ** 2)
        near = 1 / _NEAR < needed / count < _NEAR or count in (FEWEST, MOST)
        if near and repeats == ROUNDS[-1]:
            break
    queries = max(full.queries, int(np.ceil(needed)))
    scale = float(np.sqrt(count / queries))
    parts = float(np.hypot(found.se_items, found.se_users))
    scale *= found.se / parts if parts > 0 else 1.0
    pairs = queries * found.items
    return PlanRow(
        _spelled(design),
        queries,
        found.items,
        pairs,
        found.se_items * scale,
        found.se_users * scale,
        found.bias,
        None if cost is None else pairs * cost.pair,
    )


def _simulated(
    design: Negatives | Adaptive, goal: _Goal, count: int, repeats: int, seed: int
) -> _Found:
    every = np.arange(1, len(goal.p) + 1)
    rows: list[tuple[float, ...]] = []
    for repeat in range(MORE if repeats == ROUNDS[-1] else repeats):
        widths = [row[1] for row in rows]
        if repeat >= repeats and np.std(widths) < ENOUGH * np.mean(widths) * np.sqrt(repeat):
            break
        source = np.random.default_rng(derive(seed, "ranks", repeat))
        ranks = source.choice(every, size=count, p=goal.p)
        sampled = simulate(ranks, len(goal.p), design, source)
        one = estimate(sampled, goal.metric, level=goal.level, rng=derive(seed, repeat))[0]
        half = (one.estimate.high - one.estimate.low) / 2
        items = float(sampled.counts["scored_pairs"]) / count
        se = goal.spread(half, one.estimate.se)
        rows.append((items, se, one.se_items, one.se_users, one.value - goal.value))
    return _Found(*np.mean(rows, axis=0).tolist())


def _spelled(design: Negatives | Adaptive) -> str:
    if isinstance(design, Uniform):
        return f"Uniform, n={design.m + 1}"
    changed = [
        f"{f.name}={getattr(design, f.name)}"
        for f in fields(design)
        if getattr(design, f.name) != f.default
    ]
    return type(design).__name__ + (f"({', '.join(changed)})" if changed else "")
