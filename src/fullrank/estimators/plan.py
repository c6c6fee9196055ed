"""How many queries and candidates an estimate needs, and whether full ranking is cheaper."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from fullrank.core.errors import SpecError
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, seed_of
from fullrank.core.ranked import TargetRanks
from fullrank.core.vocabulary import Vocabulary
from fullrank.estimators._cases import Cases
from fullrank.estimators._estimate import as_metrics, estimate
from fullrank.estimators._simulate import simulate
from fullrank.estimators.designs import Screened, Thinned, Unthinned
from fullrank.estimators.smooth_head import SH
from fullrank.metrics import RankMetric
from fullrank.models import Recommender
from fullrank.negatives import Negatives, Uniform
from fullrank.rank import Adaptive, rank
from fullrank.stats.moments import check_level

DESIGNS: tuple[Negatives | Adaptive, ...] = (
    Uniform(m=99), Uniform(m=499), Screened(), Thinned(), Unthinned()
)  # fmt: skip

PILOT = 4000
"""Queries of the first simulation; the second has as many as the first says are needed."""

MOST = 50_000
"""Queries of a simulation, at most; errors beyond are scaled by the root of their number."""


@dataclass(frozen=True)
class Cost:
    """What scoring costs.

    Attributes:
        pair: seconds to score one (query, candidate) pair.
        query: seconds to rank the whole catalogue for one query.
    """

    pair: float
    query: float


@dataclass(frozen=True)
class PlanRow:
    """One way to the wanted precision.

    Attributes:
        design: how candidates are drawn, or ``"full"``.
        queries: that it needs.
        items: scored for a query, on average.
        pairs: scored in all.
        se_items: standard error from the sampling of items, with that many queries.
        se_users: from the sampling of users.
        seconds: of scoring, if the cost is known.
    """

    design: str
    queries: int
    items: float
    pairs: float
    se_items: float
    se_users: float
    seconds: float | None = None


@dataclass(frozen=True)
class Plan:
    """Ways to a wanted half-width or power, cheapest first.

    Attributes:
        metric: that is estimated.
        value: the metric under the assumed distribution of ranks.
        wanted: what was asked for, in words.
        rows: one a design, and the full ranking.
        assumptions: what the numbers rest on.
    """

    metric: str
    value: float
    wanted: str
    rows: tuple[PlanRow, ...]
    assumptions: tuple[str, ...]

    @property
    def best(self) -> PlanRow:
        """The cheapest."""
        return self.rows[0]


def scoring_cost(
    model: Recommender, queries: Queries, *, pairs: int = 20_000, rng: RNG = 0
) -> Cost:
    """Measure what a model's scores cost here: pairs, and the whole catalogue.

    Args:
        model: a fitted recommender.
        queries: to take some of.
        pairs: to score, about.
        rng: seed or Generator.
    """
    some = queries[: max(1, min(len(queries), pairs // 100))]
    times = []
    for candidates in (Uniform(m=99), "full"):
        rank(model, some[:1], candidates=candidates, seed=seed_of(rng))
        start = time.perf_counter()
        rank(model, some, candidates=candidates, seed=seed_of(rng))
        times.append(time.perf_counter() - start)
    return Cost(times[0] / (100 * len(some)), times[1] / len(some))


def factor_seconds(catalog_size: int, *, queries: int = 512, factors: int = 64) -> float:
    """Measure what the full ranking of one query costs here, for a model with factors.

    Args:
        catalog_size: items, made up.
        queries: ranked.
        factors: of the model.
    """
    source = np.random.default_rng(0)
    rows, columns = (
        source.standard_normal((n, factors)).astype(np.float32) for n in (queries, catalog_size)
    )
    model = _Factors(rows, columns)
    cases = Queries.from_lists(
        np.arange(queries, dtype=np.int32),
        [[]] * queries,
        [[0]] * queries,
        user_vocab=model.user_vocab_,
        item_vocab=model.item_vocab_,
    )
    rank(model, cases[:1])
    start = time.perf_counter()
    rank(model, cases)
    return (time.perf_counter() - start) / queries


class _Factors(Recommender):
    """Made-up factors, to be timed."""

    thread_safe = True

    def __init__(self, users: NDArray[np.float32], items: NDArray[np.float32]) -> None:
        self.users, self.items = users, items
        self.user_vocab_ = Vocabulary(np.arange(len(users), dtype=np.int64), "user")
        self.item_vocab_ = Vocabulary(np.arange(len(items), dtype=np.int64), "item")
        self.known_items_ = np.ones(len(items), dtype=bool)
        self.known_users_ = np.ones(len(users), dtype=bool)
        self.item_counts_ = np.ones(len(items), dtype=np.int64)

    def _fit(self, train: Any, rng: Any, monitor: Any) -> None:
        """Nothing is learnt: the factors are given."""

    def item_factors(self) -> NDArray[np.float32]:
        return self.items

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        return self.users[queries.users]


def plan(
    metric: str | RankMetric,
    *,
    catalog_size: int,
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
    rng: RNG = 0,
) -> Plan:
    """Tell how many queries and candidates an interval, or a comparison, needs.

    Ranks are drawn from a distribution, each design is simulated and estimated from (SH), and its
    error is scaled to what is wanted: for the population that the users come from.

    Args:
        metric: rank metric or its name.
        catalog_size: items that could be drawn, and the target.
        pilot: sampled ranks to tell the distribution from.
        law: or the distribution itself: ``"power:0.8"`` for ``P(R) ~ R ** -0.8``, or float64
            ``[catalog_size]``.
        half_width: of the interval that is wanted.
        difference: or the difference between two models that a paired test should find.
        power: probability to find it.
        correlation: of the two models' values over users; assumed, if you know none better.
        level: of confidence.
        designs: to look at, beside the full ranking.
        cost: of scoring, to compare in seconds.
        pair_seconds: or that of a pair alone, as the full ranking pays for each pair too.
        rng: seed or Generator of the simulation.

    Raises:
        SpecError: neither or both of what can be given.
    """
    chosen = as_metrics(metric)[0]
    check_level(level)
    if pair_seconds is not None:
        if cost is not None or not pair_seconds > 0:
            raise SpecError(f"pair_seconds must be above 0, without cost; got {pair_seconds!r}")
        cost = Cost(pair_seconds, pair_seconds * catalog_size)
    target, wanted = _target(half_width, difference, power, correlation, level)
    bins_pi = _distribution(catalog_size, pilot, law)
    seed = seed_of(rng)
    source = np.random.default_rng(derive(seed, "ranks"))
    ranks = source.choice(np.arange(1, catalog_size + 1), size=MOST, p=bins_pi)
    values = chosen.per_query(TargetRanks.of([[int(r)] for r in ranks[:PILOT]],
                              n_candidates=[catalog_size] * PILOT))  # fmt: skip
    rows = [_full(values, target, catalog_size, cost)]
    rows += [
        _row(design, ranks, catalog_size, chosen, target, cost, derive(seed, str(design)))
        for design in designs
    ]
    key = (lambda r: r.pairs) if cost is None else (lambda r: r.seconds)
    said = [
        "ranks as in the pilot" if pilot is not None else f"ranks by the law {_named(law)}",
        "users are a simple random sample, one target each",
        "errors fall with the root of the number of queries",
    ]
    if difference is not None:
        said.append(f"the models' values correlate by {correlation:g} over users")
    return Plan(
        str(chosen), float(np.nanmean(values)), wanted, tuple(sorted(rows, key=key)), tuple(said)
    )


def _target(
    half_width: float | None,
    difference: float | None,
    power: float,
    correlation: float,
    level: float,
) -> tuple[float, str]:
    """Standard error of one model's estimate that is wanted, and what for."""
    if (half_width is None) == (difference is None):
        raise SpecError("give either half_width or difference, what the plan is for")
    wanted = half_width if half_width is not None else difference
    assert wanted is not None
    if not wanted > 0 or not 0 < power < 1 or not -1 < correlation < 1:
        raise SpecError(
            f"half_width and difference must be above 0, power within 0 and 1, correlation within "
            f"-1 and 1; got {wanted}, {power}, {correlation}"
        )
    z = float(norm.ppf((1 + level) / 2))
    if half_width is not None:
        return half_width / z, f"a {level:.0%} interval of ±{half_width:g}"
    both = wanted / (z + float(norm.ppf(power)))
    said = f"a difference of {wanted:g} found with a power of {power:.0%} at a level of {level:.0%}"
    return both / np.sqrt(2 * (1 - correlation)), said


def _distribution(
    n: int, pilot: TargetRanks | None, law: str | NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Probability of each rank."""
    if (pilot is None) == (law is None):
        raise SpecError(
            "give either a pilot (sampled ranks) or a law of ranks, such as law='power:0.8'"
        )
    if not isinstance(n, int | np.integer) or n < 2:
        raise SpecError(f"catalog_size must be a whole number of at least 2, got {n!r}")
    if pilot is not None:
        stratum = Cases.of(pilot).strata[0]
        bins = SH().bins(stratum.groups.n, 1)
        pi = SH().fit(stratum.groups, bins).distribution
        assert pi is not None
        each = np.repeat(pi / bins.width, bins.width.astype(np.int64))
        out = np.interp(np.linspace(0, 1, n), np.linspace(0, 1, len(each)), each)
        out = each if len(each) == n else out
    elif isinstance(law, str):
        name, _, exponent = law.partition(":")
        try:
            out = np.arange(1, n + 1, dtype=np.float64) ** -float(exponent)
        except ValueError:
            name = ""
        if name != "power":
            raise SpecError(
                f"a law of ranks is spelled power:EXPONENT, such as power:0.8, got {law!r}"
            )
    else:
        out = np.asarray(law, dtype=np.float64)
        if out.shape != (n,) or not (out >= 0).all() or not out.sum() > 0:
            raise SpecError(
                f"a law must hold {n:,} probabilities, one for each rank, got shape {out.shape}"
            )
    return np.asarray(out / out.sum())


def _named(law: Any) -> str:
    return law if isinstance(law, str) else "given"


def _full(values: NDArray[np.float64], target: float, n: int, cost: Cost | None) -> PlanRow:
    spread = float(np.nanstd(values, ddof=1))
    queries = max(2, int(np.ceil((spread / target) ** 2)))
    seconds = None if cost is None else queries * cost.query
    return PlanRow(
        "full", queries, float(n), float(queries) * n, 0.0, spread / np.sqrt(queries), seconds
    )


def _row(
    design: Negatives | Adaptive,
    ranks: NDArray[np.int64],
    n: int,
    metric: RankMetric,
    target: float,
    cost: Cost | None,
    seed: int,
) -> PlanRow:
    """Simulate a design twice: to guess how many queries it needs, and with about as many."""
    count = PILOT
    for _ in range(2):
        sampled = simulate(ranks[:count], n, design, seed)
        found = estimate(sampled, metric)[0]
        se = float(np.hypot(found.se_items, found.se_users))
        needed = max(2.0, count * (se / target) ** 2)
        items = float(sampled.counts["scored_pairs"]) / count
        scale = np.sqrt(count / needed)
        count = int(np.clip(needed, 500, MOST))
    queries = int(np.ceil(needed))
    pairs = queries * items
    return PlanRow(
        _spelled(design),
        queries,
        items,
        pairs,
        found.se_items * scale,
        found.se_users * scale,
        None if cost is None else pairs * cost.pair,
    )


def _spelled(design: Negatives | Adaptive) -> str:
    if isinstance(design, Uniform):
        return f"Uniform, n={design.m + 1}"
    return type(design).__name__
