"""Lists to metrics: arrays beside a loop in C, files, and peers: `python -m benchmarks.lists`.

1,000,000 users × 100 recommendations over 50,000 items, 1 to 9 held-out items each; all metrics
of ``_lists_c.NAMES`` with per-query values. The files and the peers measure the eight of
``evaluate_lists.METRICS``.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _lists_c as c
from benchmarks._measure import alone, medians
from benchmarks._peers import PeerUnavailableError, python_of
from benchmarks._rows import Row, main
from benchmarks.evaluate_lists import METRICS
from benchmarks.make_lists import N_ITEMS, arrays, make

USERS, QUICK_USERS, DEPTH = 1_000_000, 2_000, 100
C_GOAL, FIRST_GOAL, BOOTSTRAP_GOAL, PEER_GOAL = 3.0, 1.0, 10.0, 8.0
FILE_GOALS = {"integer": (8.0, 4.0), "text": (20.0, 6.0)}
QUERIES, TARGETS, CANDIDATES, RANKS_GOAL = 138_000, 8, 20_000, 0.1
PEERS: dict[str, tuple[str, ...]] = {
    "rectools": ("rectools==0.19.0", "pyarrow==17.0.0"),
    "pytrec_eval": ("pytrec-eval-terrier==0.5.11", "pandas", "pyarrow"),
    "ranx": ("ranx==0.3.21", "pyarrow"),
    "recommenders": ("recommenders==1.2.1", "pyarrow"),
}
PEER_IDS = {"rectools": "integer", "recommenders": "integer"}
"""Ids that a peer takes as they are; the others want text."""


def to_metrics(lists: tuple[Any, ...]) -> tuple[Any, Any]:
    """Arrays to per-query values and analytic intervals of all metrics."""
    from fullrank.experiment.measure import measure_all, rank_values
    from fullrank.metrics import parse
    from fullrank.rank import ranks_from_codes

    ranked = ranks_from_codes(*lists)
    values = rank_values(ranked, [parse(name) for name in c.NAMES])
    return values, measure_all(list(values.values()), ranked.users, method="analytic")


def from_arrays(users: int, rounds: int) -> dict[str, float]:
    """Seconds of the loop in C and of ours, and of our first call; the values are compared."""
    lists = tuple(column.astype(np.int32) for column in arrays(users, DEPTH))
    library = c.build()
    wanted = c.per_query(library, lists, users, N_ITEMS)
    start = time.perf_counter()
    values, _ = to_metrics(lists)
    first = time.perf_counter() - start
    for row, ours in zip(wanted, values.values(), strict=True):
        np.testing.assert_allclose(ours.per_query, row, rtol=0, atol=1e-12, err_msg=ours.metric)
    pieces = {
        "c": lambda: c.per_query(library, lists, users, N_ITEMS),
        "fullrank": lambda: to_metrics(lists),
    }
    return {**medians(pieces, rounds), "first": first}


def resampled(users: int) -> float:
    """Seconds of 1,000 bootstrap resamples of all metrics, beyond the per-query values."""
    from fullrank.experiment.measure import measure_all

    lists = tuple(column.astype(np.int32) for column in arrays(users, DEPTH))
    values, _ = to_metrics(lists)
    many = list(values.values())
    codes = np.arange(users)
    options: dict[str, Any] = {"method": "poisson", "resamples": 1000}
    measure_all([many[0]], codes[:], method="poisson", resamples=100)
    start = time.perf_counter()
    measure_all(many, codes, **options)
    return time.perf_counter() - start


def from_ranks(queries: int, rounds: int) -> dict[str, float]:
    """Seconds of 30 metrics, per-query values and means, from what the ranking engine leaves."""
    from fullrank.core.ranked import TargetRanks
    from fullrank.core.state import exact_mean
    from fullrank.core.vocabulary import Vocabulary
    from fullrank.metrics import parse_many, per_query_many

    rng = np.random.default_rng(0)
    best = np.sort((1 + (CANDIDATES - 9) * rng.random((queries, TARGETS)) ** 3).astype(int), axis=1)
    best = (best + np.arange(TARGETS)).astype(np.int32).ravel()
    ranked = TargetRanks(
        users=np.arange(queries, dtype=np.int32),
        query_ids=np.zeros(queries, np.int64),
        indptr=np.arange(0, queries * TARGETS + 1, TARGETS),
        best=best,
        worst=best.copy(),
        gains=np.ones(len(best)),
        items=np.tile(np.arange(TARGETS, dtype=np.int32), queries),
        n_candidates=np.full(queries, CANDIDATES, np.int32),
        user_vocab=Vocabulary(np.arange(queries), "user"),
        item_vocab=Vocabulary(np.arange(CANDIDATES), "item"),
    )
    families = ("ndcg", "recall", "mrr", "map", "hitrate")
    metrics = [m for name in families for m in parse_many(f"{name}@1,5,10,20,50,100")]

    def together() -> list[float]:
        return [exact_mean(values) for values in per_query_many(ranked, metrics).values()]

    together()
    return medians({"together": together}, rounds)


def from_files(folder: str) -> dict[str, Any]:
    """The command line on files, as people use it: means by metric."""
    from benchmarks.evaluate_lists import by_fullrank

    return by_fullrank(Path(folder))


def from_frame(folder: str) -> dict[str, Any]:
    """Seconds from pandas frames at hand, as peers take them, to means and intervals."""
    import pandas as pd

    from fullrank.experiment.evaluate import evaluate

    recs, truth = (pd.read_parquet(f"{folder}/{name}.parquet") for name in ("recs", "truth"))
    names = [name.replace("map@", "map(denominator=relevant)@") for name in METRICS]
    start = time.perf_counter()
    found = evaluate(recs, truth, names).measurements
    seconds = time.perf_counter() - start
    means = {str(m.metric).replace("(denominator=relevant)", ""): m.estimate.value for m in found}
    return {"seconds": seconds, "means": means}


def peers(folders: Mapping[str, Path], limit: float) -> list[tuple[str, str, float | str]]:
    """Tool, kind of ids, and its seconds from the same frames, or why there are none."""
    ours = {kind: alone("benchmarks.lists:from_frame", str(folders[kind])) for kind in folders}
    out: list[tuple[str, str, float | str]] = [
        ("fullrank", kind, found.error or found.value["seconds"]) for kind, found in ours.items()
    ]
    for name, requirements in PEERS.items():
        kind = PEER_IDS.get(name, "text")
        try:
            python = python_of(f"lists-{name}", requirements)
        except PeerUnavailableError as error:
            out.append((name, kind, f"can't be installed: {error}"))
            continue
        target = f"benchmarks.peers.lists_{name}:run"
        found = alone(target, str(folders[kind]), python=python, limit=limit)
        if found.error:
            out.append((name, kind, found.error))
            continue
        for metric, value in found.value["means"].items():
            assert abs(value - ours[kind].value["means"][metric]) < 1e-6, (name, metric, value)
        out.append((name, kind, found.value["seconds"]))
    return out


def _array_rows(users: int, rounds: int) -> list[Row]:
    size = f"{users:,} users × {DEPTH}"
    alone("benchmarks.lists:from_arrays", QUICK_USERS, 1)  # compiles what the next finds compiled
    found = alone("benchmarks.lists:from_arrays", users, rounds).value
    ours, plain = found["fullrank"], found["c"]
    more = found["first"] - ours
    name = f"lists to {len(c.NAMES)} metrics with intervals, sorted int32 arrays, {size}"
    seconds = alone("benchmarks.lists:resampled", users).value
    resamples = f"1,000 bootstrap resamples of {len(c.NAMES)} metrics, {users:,} users"
    ranks = alone("benchmarks.lists:from_ranks", min(QUERIES, users), rounds).value["together"]
    return [
        Row(name, "at most 3x the loop", ours, ours < C_GOAL * plain,
            limit=plain, limit_name="one plain loop in C, one thread"),
        Row("the first call of a process, warm kernel cache, over the steady state", "under 1 s",
            more, more < FIRST_GOAL),
        Row(resamples, "under 10 s", seconds, seconds < BOOTSTRAP_GOAL),
        Row(f"30 metrics and means of {min(QUERIES, users):,} queries × {TARGETS} target ranks",
            "under 0.1 s", ranks, ranks < RANKS_GOAL),
    ]  # fmt: skip


def _file_rows(folders: Mapping[str, Path], users: int, rounds: int) -> list[Row]:
    out = []
    for kind, folder in folders.items():
        runs = [alone("benchmarks.lists:from_files", str(folder)) for _ in range(rounds)]
        seconds = statistics.median(run.process_seconds for run in runs)
        peak = max(run.peak_gib for run in runs)
        most_seconds, most_gib = FILE_GOALS[kind]
        name = f"`evaluate`, {users:,} users × {DEPTH}, {kind} ids, Parquet, 8 metrics, process"
        out += [
            Row(name, f"under {most_seconds:g} s", seconds, seconds < most_seconds),
            Row("its peak memory", f"under {most_gib:g} GiB", peak, peak < most_gib, unit="GiB"),
        ]
    return out


def _peer_rows(folders: Mapping[str, Path], users: int, limit: float) -> list[Row]:
    found = peers(folders, limit)
    out = []
    for kind in folders:
        ours = next(value for name, ids, value in found if (name, ids) == ("fullrank", kind))
        others = {name: value for name, ids, value in found if ids == kind and name != "fullrank"}
        row = Row(
            f"the same from pandas frames, {users:,} users × {DEPTH}, {kind} ids",
            f"{PEER_GOAL:g}x faster than the fastest peer",
            None if isinstance(ours, str) else ours, None,
            peers=others, note=ours if isinstance(ours, str) else "",
        )  # fmt: skip
        best, seconds = row.fastest_peer, row.measured
        met = None if best is None or seconds is None else best >= PEER_GOAL * seconds
        out.append(Row(row.what, row.goal, seconds, met, peers=others, note=row.note))
    return out


def rows(quick: bool) -> list[Row]:
    """Arrays, ranks, files, frames."""
    users, rounds = (QUICK_USERS, 1) if quick else (USERS, 3)
    with tempfile.TemporaryDirectory() as name:
        folders = {kind: Path(name) / kind for kind in FILE_GOALS}
        for kind, folder in folders.items():
            make(folder, users, DEPTH, text=kind == "text")
        try:
            out = _array_rows(users, rounds)
        except (OSError, subprocess.CalledProcessError) as error:
            out = [Row("lists as arrays", "at most 3x the loop", None, False, note=str(error))]
        out += _file_rows(folders, users, rounds)
        return out + _peer_rows(folders, users, 600 if quick else 900)


if __name__ == "__main__":
    main(rows)
