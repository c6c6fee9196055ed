"""One point of each series of `benchmarks.growth`, each called in a process of its own.

A piece takes its size and returns seconds and memory of the call alone: modules are loaded, the
kernels called once on a small input, and the inputs made before.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np

import fullrank as fr
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import Recommender

Point = dict[str, float]
LONG = 2.0
"""Seconds from which a call is timed once: noise is small beside it."""


def _resident(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(x for x in lines if x.startswith(field)).split()[1]) / 2**20


def timed(
    call: Callable[[], object],
    small: Callable[[], object] | None = None,
    longest: float = LONG,
) -> Point:
    """Median seconds of up to five calls, and GiB that the first took beyond what there was."""
    if small is not None:
        small()
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew (man 5 proc)
    before = _resident("VmRSS")
    seconds = []
    while not seconds or (len(seconds) < 5 and sum(seconds) < longest):
        start = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - start)
        if len(seconds) == 1:
            extra = _resident("VmHWM") - before
        del found
    return {"seconds": statistics.median(seconds), "gib": max(extra, 0.0)}


class Factors(Recommender):
    """Given factors."""

    thread_safe: ClassVar[bool] = True
    users: ClassVar[np.ndarray]
    items: ClassVar[np.ndarray]

    def _fit(self, train, rng, monitor):
        pass

    def _score(self, queries):
        return self.query_factors(queries) @ self.items.T

    def item_factors(self):
        return self.items

    def query_factors(self, queries):
        return self.users[queries.users]


def problem(q: int, c: int) -> tuple[Factors, Queries]:
    """The ranking problem of ``_world`` as a fitted model and queries."""
    from benchmarks._world import HISTORY, TARGETS, world

    w = world(q, c)
    Factors.users, Factors.items = w.users, w.items
    user_vocab, item_vocab = Vocabulary.of(np.arange(q)), Vocabulary.of(np.arange(c))
    codes = np.arange(c, dtype=np.int32)
    model = Factors().fit(Interactions(np.zeros(c, np.int32), codes, user_vocab, item_vocab))
    queries = Queries(
        users=np.arange(q, dtype=np.int32),
        history_indptr=as_indptr(np.full(q, HISTORY)),
        history_items=w.history.ravel(),
        target_indptr=as_indptr(np.full(q, TARGETS)),
        target_items=w.targets.ravel(),
        target_gains=np.ones(TARGETS * q),
        user_vocab=user_vocab,
        item_vocab=item_vocab,
    )
    return model, queries


def ranking(q: int, c: int, k: int) -> Point:
    """Ranks of 8 targets and the k best of ``c`` items for ``q`` users, 64 factors."""
    from fullrank.rank import rank

    model, queries = problem(q, c)
    few = queries[:64]
    return timed(lambda: rank(model, queries, k=k), lambda: rank(model, few, k=k))


def metrics(q: int) -> Point:
    """30 metrics a query and their intervals from lists of 20 for ``q`` users, from a frame."""
    import polars as pl

    from fullrank.metrics import per_query_many
    from fullrank.rank import ranks_from_lists
    from fullrank.stats import mean_intervals

    rng = np.random.default_rng(0)
    items = rng.integers(0, 1000, (q, 20)) + 1000 * np.arange(20)
    held = rng.integers(0, 1000, (q, 5)) + 4000 * np.arange(5)
    frame = {"user_id": np.repeat(np.arange(q), 20), "item_id": items.ravel()}
    recs = pl.DataFrame({**frame, "rank": np.tile(np.arange(1, 21), q)})
    truth = pl.DataFrame({"user_id": np.repeat(np.arange(q), 5), "item_id": held.ravel()})
    families = (fr.NDCG, fr.Recall, fr.MRR, fr.MAP, fr.HitRate)
    wanted = [metric for family in families for metric in family @ [1, 2, 3, 5, 10, 20]]

    def evaluate(recs: pl.DataFrame, truth: pl.DataFrame) -> object:
        ranked = ranks_from_lists(recs, truth)
        values = np.stack([*per_query_many(ranked, wanted).values()], axis=1)
        return mean_intervals(values, method="analytic")

    few = recs.head(20 * 100), truth.head(5 * 100)
    return timed(lambda: evaluate(recs, truth), lambda: evaluate(*few))


def resampling(q: int) -> Point:
    """1,000 bootstrap resamples of 8 metrics for ``q`` users."""
    from fullrank.stats import mean_intervals

    values = np.random.default_rng(0).random((q, 8))
    few = values[:1000]
    return timed(
        lambda: mean_intervals(values, method="poisson", resamples=1000),
        lambda: mean_intervals(few, method="poisson", resamples=1000),
    )


def reading(rows: int) -> Point:
    """Parquet to interactions, 5-core, global time split and its queries."""
    from benchmarks.data_path import make
    from fullrank.data.filters import Core, apply_all

    def path(file: Path) -> object:
        data = apply_all(fr.read(file).interactions, [Core(users=5, items=5)], compact=True)
        split = fr.GlobalTime(valid=0.1, test=0.1).split(data)
        return split, split.queries("test")

    with tempfile.TemporaryDirectory() as folder:
        whole, few = Path(folder) / "whole.parquet", Path(folder) / "few.parquet"
        make(whole, rows)
        make(few, 20_000)
        return timed(lambda: path(whole), lambda: path(few))


def log(rows: int, n_items: int = 5000, per_user: int = 100) -> Interactions:
    """Rows of users with 100 each, popular items more often: popularity ~ 1 / rank^0.6."""
    rng = np.random.default_rng(0)
    n_users = max(rows // per_user, 1)
    chance = (10.0 + np.arange(n_items)) ** -0.6
    items = np.searchsorted(np.cumsum(chance / chance.sum()), rng.random(n_users * per_user))
    return Interactions(
        np.repeat(np.arange(n_users, dtype=np.int32), per_user),
        np.minimum(items, n_items - 1).astype(np.int32),
        Vocabulary.of(np.arange(n_users)),
        Vocabulary.of(np.arange(n_items)),
    )


def matrix(rows: int) -> Point:
    """The sparse matrix of the rows."""

    def csr(data: Interactions) -> object:
        data.__dict__.pop("_csr", None)
        return data.csr()

    data, few = log(rows), log(1000)
    return timed(lambda: csr(data), lambda: csr(few))


def fitting(name: str, settings: dict[str, float], rows: int, n_items: int = 5000) -> Point:
    """Fit a model; the matrix of the rows stands already."""
    model = getattr(fr, name)(**settings)
    data, few = log(rows, n_items), log(20_000, min(n_items, 200))
    data.csr()
    return timed(lambda: model.fit(data), lambda: model.fit(few))


def benchmark(models: int) -> Point:
    """A benchmark file with so many models (Random, a label each), 1,000 users × 500 items."""
    blocks = ['[[model]]\nname = "Random"\n' + f'label = "m{number}"\n' for number in range(models)]
    head = (
        'metrics = ["ndcg@10", "recall@10"]\n[[data]]\nname = "log"\npath = "log.parquet"\n'
        '[split]\nstrategy = "RandomRows"\ntest = 0.1\nvalid = 0.1\n'
    )

    def run(folder: str, blocks: list[str]) -> object:
        spec = Path(folder) / "bench.toml"
        spec.write_text(head + "".join(blocks))
        return fr.leaderboard(fr.run(spec, tempfile.mkdtemp(dir=folder)))

    from fullrank.data import write_interactions

    with tempfile.TemporaryDirectory() as folder:
        write_interactions(log(50_000, 500, 50), Path(folder) / "log.parquet")
        return timed(lambda: run(folder, blocks), lambda: run(folder, blocks[:1]))
