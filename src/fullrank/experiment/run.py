"""Run a benchmark: tune on validation, refit, rank the test once, store; resumable at any point."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fullrank.core.errors import FullrankError
from fullrank.experiment.bench import Fold, make_folds
from fullrank.experiment.cell import Cell, is_seeded
from fullrank.experiment.check import check, wants_ratings
from fullrank.experiment.ready import check_fold
from fullrank.experiment.results import Results
from fullrank.experiment.spec import BenchSpec, Locate, ModelSpec, locator, nowhere, read_spec
from fullrank.experiment.store import Store, write_json
from fullrank.experiment.tune import Search, choose
from fullrank.metrics import parse_many
from fullrank.rank import load_kernels

Place = tuple[str, int, str, int | None]
"""Data set, fold, label and seed of a cell."""


@dataclass(frozen=True)
class Step:
    """Progress of a run.

    Attributes:
        done: trials and cells finished, those of earlier runs included.
        total: trials and cells in all (None while a budget in seconds leaves it open).
        text: what is at work.
        fresh: trials and cells finished since this run began, by any process.
    """

    done: int
    total: int | None
    text: str
    fresh: int


def run(
    bench: str | Path | BenchSpec,
    store: str | Path,
    *,
    base: Path | None = None,
    progress: Callable[[Step], None] | None = None,
    jobs: int = 1,
) -> Results:
    """Run a benchmark, or go on with one.

    Args:
        bench: a benchmark file, or a spec.
        store: folder for the results; a finished cell or trial in it is never done again.
        base: folder that paths of a spec are relative to; the file's own by default.
        progress: called after each trial and cell.
        jobs: processes that work on the store together; each loads the data.

    Returns:
        The results, read back from the store.

    Raises:
        SpecError: a setting, metric or name that can't be understood, before anything is fitted.
    """
    locate: Locate = nowhere
    if isinstance(bench, BenchSpec):
        spec, base = bench, base or Path.cwd()
    else:
        spec, base = read_spec(bench)
        locate = locator(str(bench), Path(bench).read_text(encoding="utf-8"))
    check(spec, base, locate)
    folds = _folds(spec, base, locate, fresh=Store.is_new(store))
    where = Store.open(store, create=True)
    report = progress or (lambda _: None)
    with where.session(), _helpers(spec, base, where, jobs):
        return _Runner(spec, base, where, report, (0, jobs)).run(folds)


def _folds(spec: BenchSpec, base: Path, locate: Locate, *, fresh: bool) -> list[Fold]:
    """Load and split; a run that starts checks the folds, so that a bad one leaves no store."""
    folds = make_folds(spec, base, locate)
    tuned = any(model.search is not None for model in spec.model)
    metrics = [metric for text in spec.metrics for metric in parse_many(text)]
    for fold in folds if fresh else ():
        check_fold(fold, metrics, tuned=tuned, locate=locate)
    return folds


@contextmanager
def _helpers(spec: BenchSpec, base: Path, store: Store, jobs: int) -> Iterator[None]:
    """Processes that work beside this one, ended with it."""
    context = multiprocessing.get_context("spawn")
    others = [
        context.Process(target=_help, args=(spec, base, store.folder, (j, jobs)), daemon=True)
        for j in range(1, jobs)
    ]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.terminate()
            other.join()


def _help(spec: BenchSpec, base: Path, folder: Path, share: tuple[int, int]) -> None:
    """Work on a share of the cells; what fails here fails again, and is said, in the first one."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    store = Store.open(folder)
    with store.session(), suppress(FullrankError, KeyboardInterrupt):
        check(spec, base)  # imports what models of one's own are made of
        _Runner(spec, base, store, lambda _: None, share).work(make_folds(spec, base))


def _end_with_parent() -> None:
    """A killed run can't end its helpers; they watch it, and end themselves."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Runner:
    """The loop over folds, models and seeds.

    With several processes each begins with its own share of the jobs and then helps with the
    others; what another process is at work on is passed over, and waited for at the end.
    """

    def __init__(
        self,
        spec: BenchSpec,
        base: Path,
        store: Store,
        progress: Callable[[Step], None],
        share: tuple[int, int],
    ) -> None:
        self.spec, self.base, self.store, self.progress = spec, base, store, progress
        self.share = share
        self.ratings = wants_ratings(spec)
        self.total: int | None = None
        self.searches: list[Search] = []
        self.keys: dict[Place, str] = {}
        self.tuning: dict[str, Mapping[str, Any] | None] = {}
        self.old_cells = {path.name for path in store.cells()}
        self.old_trials = 0

    def run(self, folds: list[Fold]) -> Results:
        """Finish the benchmark and write its manifest."""
        self.work(folds)
        order = [
            self.keys[_place(fold, model, seed)]
            for fold in folds
            for model in self.spec.model
            for seed in self._seeds(model)
        ]
        manifest = {
            "spec": self.spec.model_dump(mode="json"),
            "cells": order,
            "tuning": {key: self.tuning[key] for key in order},
        }
        write_json(self.store.folder / "bench.json", manifest)
        return Results.load(self.store, fresh=self._step("").fresh)

    def work(self, folds: list[Fold]) -> None:
        """Tune, fit and rank all that is not in the store yet."""
        load_kernels()
        jobs = [(fold, model) for fold in folds for model in self.spec.model]
        self.searches = [Search(fold, model) for fold, model in jobs if model.search is not None]
        self.total = self._count(folds)
        self.old_trials = self._trials()
        index, of = self.share
        left = [*jobs[index::of], *(j for i, j in enumerate(jobs) if i % of != index)]
        while left:
            open_jobs = [job for job in left if not self._job(*job, wait=False)]
            if len(open_jobs) == len(left):  # others are at work on all that is left
                self._job(*open_jobs.pop(0), wait=True)
            left = open_jobs

    def _job(self, fold: Fold, model: ModelSpec, *, wait: bool) -> bool:
        """Tune a model on a fold, then make its cells; False if another process has a part."""
        chosen = choose(Search(fold, model), self.store, self._tick, wait=wait)
        if chosen is None:
            return False
        done = [
            self._cell(Cell(fold, model, chosen.settings, seed, self.ratings), chosen.tuning, wait)
            for seed in self._seeds(model)
        ]
        return all(done)  # a cell that is passed over doesn't keep the others waiting

    def _cell(self, cell: Cell, tuning: Mapping[str, Any] | None, wait: bool) -> bool:
        key = cell.key
        if not self.store.has_cell(key):
            with self.store.lock(key, wait=wait) as mine:
                if not mine:
                    return False
                if not self.store.has_cell(key):
                    folder = self.store.folder / "fits" / key
                    self.store.put_cell(key, *cell.run(folder, partial(self._epoch, cell)))
                    shutil.rmtree(folder, ignore_errors=True)
        self.keys[_place(cell.fold, cell.model, cell.seed)] = key
        self.tuning[key] = tuning
        seed = "" if cell.seed is None else f", seed {cell.seed}"
        self._tick(f"{cell.fold.title}: {cell.model.title}{seed}")
        return True

    def _epoch(self, cell: Cell, line: str) -> None:
        self._tick(f"{cell.fold.title}: {cell.model.title}, {line}")

    def _tick(self, text: str) -> None:
        self.progress(self._step(text))

    def _step(self, text: str) -> Step:
        trials = self._trials()
        cells = set(self.keys.values())
        fresh = trials - self.old_trials + len(cells - self.old_cells)
        return Step(trials + len(cells), self.total, text, fresh)

    def _trials(self) -> int:
        return sum(self.store.count_trials(job.key, job.budget) for job in self.searches)

    def _seeds(self, model: ModelSpec) -> tuple[int | None, ...]:
        return self.spec.seeds if is_seeded(model) else (None,)

    def _count(self, folds: list[Fold]) -> int | None:
        budgets = [job.budget if job.space else 0 for job in self.searches]
        if any(budget is None for budget in budgets):
            return None
        cells = sum(len(self._seeds(model)) for model in self.spec.model)
        return len(folds) * cells + sum(budget or 0 for budget in budgets)


def _place(fold: Fold, model: ModelSpec, seed: int | None) -> Place:
    return fold.data.name, fold.number, model.title, seed
