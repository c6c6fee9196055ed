"""Sampled evaluation: estimates and candidate ranking: `python -m benchmarks.sampled`.

Ranks follow power laws, and what a design would find of them is drawn by `simulate`: a target a
user. Estimates go all the way from ranks to metrics; each part is a process of its own.
"""

from __future__ import annotations

import statistics
import time

from benchmarks._measure import alone, interleaved, peak_gib
from benchmarks._rows import Row, main

POWER = 0.8
FAMILIES = ("recall", "ndcg", "map")
CUTS = range(1, 51)
POINTS, REFITS, PAIRED, MILLION, GATHER = 1.0, 30.0, 90.0, 5.0, 3.0
LARGEST_GIB = 1.0


def power_law(users: int, items: int):
    """Full ranks ``[users]`` with ``P(R) ~ R ** -0.8``."""
    import numpy as np

    law = np.cumsum(np.arange(1, items + 1, dtype=np.float64) ** -POWER)
    return np.searchsorted(law / law[-1], np.random.default_rng(0).random(users)) + 1


def sampled(users: int, items: int, n: int):
    """Ranks among ``n - 1`` uniform candidates and the target."""
    from fullrank.estimators import simulate
    from fullrank.negatives import Uniform

    return simulate(power_law(users, items), items, Uniform(m=n - 1), rng=1)


def every_metric():
    """Recall, NDCG and AP (which is MAP's value of one query) at 1 to 50."""
    from fullrank.metrics import parse

    return [parse(f"{family}@{k}") for family in FAMILIES for k in CUTS]


def point(ranked, estimator, metrics):
    """From sampled ranks to metrics, without intervals."""
    from fullrank.estimators._cases import Cases
    from fullrank.estimators._problem import Problem
    from fullrank.models._threads import one_blas_thread

    with one_blas_thread():  # as estimate does
        problem = Problem.of(Cases.of(ranked), estimator, metrics)
        return problem.values(problem.fits)


def million(users: int, items: int, n: int) -> dict[str, float]:
    """The first call of a process: EM from ranks to NDCG@10; its parts, and memory at its peak."""
    from fullrank.estimators import MLE
    from fullrank.estimators._cases import Cases
    from fullrank.estimators._problem import Problem
    from fullrank.metrics import parse
    from fullrank.models._threads import one_blas_thread

    ranked, estimator = sampled(users, items, n), MLE()
    before, begin = peak_gib(), time.perf_counter()
    cases = Cases.of(ranked)
    gathered = time.perf_counter()
    groups = cases.strata[0].groups
    groups.likelihood(estimator.bins(groups.n, 10))
    known = time.perf_counter()
    with one_blas_thread():  # as estimate does
        problem = Problem.of(cases, estimator, [parse("ndcg@10")])
        value = problem.values(problem.fits)
    end = time.perf_counter()
    return {
        "whole": end - begin, "gathering": gathered - begin, "likelihood": known - gathered,
        "em": end - known, "value": float(value[0]), "before": before, "peak": peak_gib(),
    }  # fmt: skip


def binned(users: int, items: int, n: int) -> dict[str, float]:
    """What the bins of ranks do to EM: estimates beside those with every rank apart."""
    from dataclasses import dataclass

    import numpy as np

    from fullrank.estimators import MLE
    from fullrank.estimators._bins import Bins

    @dataclass(frozen=True, kw_only=True)
    class Single(MLE):
        def bins(self, n: int, k: int) -> Bins:
            return Bins.of(n, n)

    ranked, metrics = sampled(users, items, n), every_metric()
    rough, exact = (point(ranked, one, metrics) for one in (MLE(), Single()))
    apart = np.abs(rough - exact) / exact
    return dict(zip(FAMILIES, apart.reshape(len(FAMILIES), -1).max(axis=1).tolist()))


def points(users: int, items: int, n: int, rounds: int) -> dict[str, float]:
    """Median seconds of each estimator, all metrics; of SH with its intervals too."""
    from fullrank.estimators import BV, CLS, MES, MLE, MN, SH, RankEstimate, estimate

    ranked, metrics = sampled(users, items, n), every_metric()
    estimators = [RankEstimate(), CLS(), BV(prior="uniform"), BV(), MN(), MLE(), MES(), SH()]
    pieces = {
        "BV, uniform" if e == BV(prior="uniform") else type(e).__name__: (
            lambda e=e: point(ranked, e, metrics)
        )
        for e in estimators
    }
    pieces["intervals"] = lambda: estimate(ranked, metrics, method="sh")
    for piece in pieces.values():
        piece()
    return {k: statistics.median(v) for k, v in interleaved(pieces, rounds).items()}


def refits(users: int, items: int, n: int, resamples: int) -> dict[str, float]:
    """Seconds of an estimate of NDCG@10 by EM, BV and MN with a bootstrap of so many refits."""
    from fullrank.estimators import BV, MLE, MN, estimate

    ranked, out = sampled(users, items, n), {}
    for method in (MLE(), BV(), MN()):
        estimate(ranked, "ndcg@10", method=method, resamples=20)
        begin = time.perf_counter()
        estimate(ranked, "ndcg@10", method=method, resamples=resamples)
        out[type(method).__name__] = time.perf_counter() - begin
    return out


def paired(users: int, items: int, n: int, resamples: int) -> float:
    """Seconds of the difference of two models by SH, NDCG@10; the second ranks a little better."""
    import numpy as np

    from fullrank.estimators import difference, simulate
    from fullrank.negatives import Uniform

    ranks, rng = power_law(users, items), np.random.default_rng(2)
    better = np.clip((ranks * rng.uniform(0.8, 1.1, users)).astype(np.int64), 1, items)
    pair = [simulate(one, items, Uniform(m=n - 1), rng=1) for one in (ranks, better)]
    difference(*pair, "ndcg@10", method="sh", resamples=2)
    begin = time.perf_counter()
    difference(*pair, "ndcg@10", method="sh", resamples=resamples)
    return time.perf_counter() - begin


def world(targets, items: int):
    """Training rows that name every item, and a query for each target, without a history."""
    import numpy as np

    from fullrank.core.interactions import Interactions
    from fullrank.core.queries import Queries
    from fullrank.core.ragged import as_indptr
    from fullrank.core.vocabulary import Vocabulary

    q = len(targets)
    users, ids = Vocabulary.of(np.arange(q), "user"), Vocabulary.of(np.arange(items), "item")
    queries = Queries(
        users=np.arange(q, dtype=np.int32),
        history_indptr=as_indptr(np.zeros(q, np.int64)),
        history_items=np.zeros(0, np.int32),
        target_indptr=as_indptr(np.ones(q, np.int64)),
        target_items=targets.astype(np.int32),
        target_gains=np.ones(q),
        user_vocab=users,
        item_vocab=ids,
    )
    codes = np.arange(items, dtype=np.int32)
    return Interactions(np.zeros(items, np.int32), codes, users, ids), queries


def gathers(users: int, items: int, m: int, rounds: int) -> dict[str, float]:
    """Ranking among candidates from 64 factors, and a loop that only gathers and multiplies.

    The loop: Numba's prange over queries in two threads, with the ids drawn beforehand.
    """
    import numba
    import numpy as np

    from benchmarks._growth_pieces import Factors
    from fullrank.negatives import Uniform
    from fullrank.rank import rank

    rng = np.random.default_rng(1)
    train, queries = world(rng.integers(0, items, users), items)
    factors, mine = (rng.normal(0, 0.3, (c, 64)).astype(np.float32) for c in (items, users))
    Factors.users, Factors.items = mine, factors
    model = Factors().fit(train)
    drawn, out = (
        rng.integers(0, items, (users, m), dtype=np.int32),
        np.empty((users, m), np.float32),
    )

    @numba.njit(parallel=True, fastmath=True)
    def bare(drawn, mine, factors, out):
        for q in numba.prange(len(drawn)):
            for j in range(drawn.shape[1]):
                total, row = np.float32(0.0), factors[drawn[q, j]]
                for d in range(len(row)):
                    total += mine[q, d] * row[d]
                out[q, j] = total

    def loop(threads: int) -> None:
        numba.set_num_threads(threads)
        bare(drawn, mine, factors, out)

    pieces = {
        "bare": lambda: loop(2),
        "bare, one": lambda: loop(1),
        "rank": lambda: rank(model, queries, candidates=Uniform(m=m)),
        "rank, one": lambda: rank(model, queries, candidates=Uniform(m=m), threads=1),
    }
    for piece in pieces.values():
        piece()
    return {k: statistics.median(v) for k, v in interleaved(pieces, rounds).items()}


def asked(users: int, items: int, rounds: int) -> dict[str, float]:
    """A function that takes a microsecond a pair, asked for what `Thinned` draws.

    ``inside`` is the time within the function: the rest is fullrank's.
    """
    import numpy as np

    from fullrank.estimators import Thinned
    from fullrank.models import PairFunction
    from fullrank.rank import rank

    # Place of an item in a user's ranking: (a item + b user) mod items, so that ranks are known.
    a, b = 7919, 104729
    place = power_law(users, items) - 1 - b * np.arange(users)
    train, queries = world(place * pow(a, -1, items) % items, items)
    inside = [0.0]

    def scores(user_ids, item_ids):
        begin = time.perf_counter()
        found = -((a * item_ids + b * user_ids) % items)
        while time.perf_counter() - begin < 1e-6 * len(item_ids):
            pass
        inside[0] += time.perf_counter() - begin
        return found

    model = PairFunction(scores).fit(train)
    rank(model, queries[:100], candidates=Thinned())
    whole, within, pairs = [], [], 0
    for _ in range(rounds):
        inside[0], begin = 0.0, time.perf_counter()
        pairs = rank(model, queries, candidates=Thinned()).targets.counts["scored_pairs"]
        whole.append(time.perf_counter() - begin)
        within.append(inside[0])
    return {
        "whole": statistics.median(whole), "inside": statistics.median(within), "pairs": pairs
    }  # fmt: skip


def under(label: str, goal: float, seconds: float, note: str = "") -> Row:
    """A row with a goal in seconds."""
    return Row(label, f"under {goal:g} s", seconds, seconds < goal, note=note)


def of_million(users: int, items: int, n: int) -> list[Row]:
    """Time and memory of EM at a million."""
    run = alone("benchmarks.sampled:million", users, items, n)
    label = f"EM from ranks to NDCG@10, M = {users:,}, N = {items:,}, n = {n:,}, first call"
    if run.error:
        return [Row(label, f"under {MILLION:g} s", None, False, note=run.error)]
    found = run.value
    parts = ", ".join(f"{p} {found[p]:.2f} s" for p in ("gathering", "likelihood", "em"))
    memory = Row(
        "its peak memory, the whole process", f"under {LARGEST_GIB:g} GiB", found["peak"],
        found["peak"] < LARGEST_GIB, unit="GiB",
        note=f"{found['before']:.2f} GiB before, ranks and their drawing included",
    )  # fmt: skip
    return [under(label, MILLION, found["whole"], f"{parts} and the metric"), memory]


def of_points(users: int, items: int, n: int, rounds: int) -> list[Row]:
    """Time of the estimators side by side, and what bins do."""
    size = f"M = {users:,}, N = {items:,}, n = {n}"
    found = alone("benchmarks.sampled:points", users, items, n, rounds).value
    intervals, smooth = found.pop("intervals"), found.pop("SH")
    each = ", ".join(f"{name} {1000 * s:.0f} ms" for name, s in found.items())
    label = "Recall, NDCG, AP at 1 to 50 from ranks"
    apart = alone("benchmarks.sampled:binned", users, items, n).value
    told = ", ".join(f"{name} {1e6 * value:.1f}" for name, value in apart.items())
    return [
        under(f"{label}, all tables, EM and MES, {size}", POINTS, sum(found.values()), each),
        under(f"{label}, SH, {size}", POINTS, smooth),
        Row(f"the same with intervals, 200 draws, {size}", "–", intervals, None),
        Row(f"what EM's bins of ranks change, {size}, at most over k = 1 to 50", "–",
            1e6 * max(apart.values()), None, unit="millionths", note=told),
    ]  # fmt: skip


def of_refits(users: int, items: int, n: int, resamples: int) -> list[Row]:
    """Time of bootstraps."""
    size = f"M = {users:,}, N = {items:,}, n = {n}"
    found = alone("benchmarks.sampled:refits", users, items, n, resamples).value
    rows = [
        under(f"NDCG@10 by {name}, {resamples} refits, {size}", REFITS, seconds)
        for name, seconds in found.items()
    ]
    pair = alone("benchmarks.sampled:paired", users, items, n, resamples // 5).value
    label = f"difference of two models by SH, {resamples // 5} refits, {size}"
    return [*rows, under(label, PAIRED, pair)]


def of_candidates(users: int, items: int, m: int, rounds: int) -> list[Row]:
    """Ranking among candidates against a bare loop, and the cost beside a model's own."""
    found = alone("benchmarks.sampled:gathers", users, items, m, rounds).value
    one = f"one thread {found['rank, one']:.3f} s, the loop {found['bare, one']:.3f} s"
    ranking = Row(
        f"ranks among {m} candidates from factors, {users:,} × {items:,} × 64",
        f"at most {GATHER:g}× the bare loop", found["rank"],
        found["rank"] <= GATHER * found["bare"], limit=found["bare"],
        limit_name="gather and product, candidates given", note=one,
    )  # fmt: skip
    found = alone("benchmarks.sampled:asked", users // 10, items, rounds).value
    beside = 1e6 * (found["whole"] - found["inside"]) / found["pairs"]
    return [ranking, Row(
        f"`Thinned` with a function of 1 µs a pair, {users // 10:,} × {items:,}: fullrank's own "
        "time a pair", "–", beside, None, unit="µs",
        limit=1e6 * found["inside"] / found["pairs"], limit_name="within the function",
        note=f"{found['pairs'] / (users // 10):.0f} pairs a query, {found['whole']:.2f} s in all",
    )]  # fmt: skip


def rows(quick: bool) -> list[Row]:
    """All of it."""
    few, rounds = (10, 1) if quick else (1, 5)
    return [
        *of_million(1_000_000 // few, 1_000_000 // few, 1000 // few),
        *of_points(20_000 // few, 20_000 // few, 100, rounds),
        *of_refits(20_000 // few, 20_000 // few, 100, 500 // few),
        *of_candidates(100_000 // few, 20_000 // few, 100, rounds),
    ]


if __name__ == "__main__":
    main(rows)
