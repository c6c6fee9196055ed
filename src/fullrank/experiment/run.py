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

from fullrank.core.errors import FullrankError, StoreError
from fullrank.experiment.bench import Fold, make_folds
from fullrank.experiment.cell import Cell, is_seeded
from fullrank.experiment.check import check, space_of, wants_ratings
from fullrank.experiment.ready import check_fold
from fullrank.experiment.results import Results
from fullrank.experiment.spec import BenchSpec, Locate, ModelSpec, locator, nowhere, read_spec
from fullrank.experiment.store import Store, write_json
from fullrank.experiment.tune import REFUSALS, Search, choose
from fullrank.metrics import parse_many
from fullrank.rank import load_kernels

Place = tuple[str, str, str, int | None]
"""Data set, protocol id of the fold, label and seed of a cell."""


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
    with where.session(), helpers(_share, (spec, base), where, jobs):
        runner = Runner(where, report, (0, jobs))
        runner.work(folds)
        _write_manifest(spec, runner, folds)
        return Results.load(where, fresh=runner.step("").fresh)


def _folds(spec: BenchSpec, base: Path, locate: Locate, *, fresh: bool) -> list[Fold]:
    """Load and split; a run that starts checks the folds, so that a bad one leaves no store."""
    folds = make_folds(spec, base, locate)
    tuned = any(model.search is not None for model in spec.model)
    metrics = [metric for text in spec.metrics for metric in parse_many(text)]
    for fold in folds if fresh else ():
        check_fold(fold, metrics, tuned=tuned, locate=locate)
    return folds


def _write_manifest(spec: BenchSpec, runner: Runner, folds: list[Fold]) -> None:
    order = [
        runner.keys[place_of(fold, model, seed)]
        for fold in folds
        for model in spec.model
        for seed in seeds_of(fold, model)
    ]
    manifest = {
        "spec": spec.model_dump(mode="json"),
        "cells": order,
        "tuning": {key: runner.tuning[key] for key in order},
    }
    write_json(runner.store.folder / "bench.json", manifest)


@contextmanager
def helpers(
    work: Callable[..., None], arguments: tuple[Any, ...], store: Store, jobs: int
) -> Iterator[None]:
    """Processes that work beside this one, ended with it.

    Args:
        work: called in each with the arguments, the store and (its number, all of them).
        arguments: that a process can be handed.
        store: shared by all.
        jobs: processes, this one included.
    """
    context = multiprocessing.get_context("spawn")
    others = [
        context.Process(target=_help, args=(work, arguments, store.folder, (j, jobs)), daemon=True)
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


def _help(
    work: Callable[..., None], arguments: tuple[Any, ...], folder: Path, share: tuple[int, int]
) -> None:
    """Work on a share of the cells; what fails here fails again, and is said, in the first one."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    store = Store.open(folder)
    with store.session(), suppress(FullrankError, KeyboardInterrupt):
        work(*arguments, store, share)


def _share(spec: BenchSpec, base: Path, store: Store, share: tuple[int, int]) -> None:
    check(spec, base)  # imports what models of one's own are made of
    Runner(store, lambda _: None, share).work(make_folds(spec, base))


def _end_with_parent() -> None:
    """A killed run can't end its helpers; they watch it, and end themselves."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class Runner:
    """The loop over folds, models and seeds.

    With several processes each begins with its own share of the jobs and then helps with the
    others; what another process is at work on is passed over, and waited for at the end.

    Attributes:
        store: where cells and trials lie.
        keys: of finished cells, by place.
        tuning: summaries of searches, by key of the cell.
        failures: by data set, protocol id and label why a model has no cell, if failures are kept:
            that of a final fit also in the store, so that it isn't tried again.
        total: trials and cells in all; counted from the folds unless it is set before.
    """

    def __init__(
        self,
        store: Store,
        progress: Callable[[Step], None],
        share: tuple[int, int],
        *,
        keep_failures: bool = False,
    ) -> None:
        self.store, self.progress, self.share = store, progress, share
        self.keep_failures = keep_failures
        self.total: int | None = None
        self.keys: dict[Place, str] = {}
        self.tuning: dict[str, Mapping[str, Any] | None] = {}
        self.failures: dict[tuple[str, str, str], str] = {}
        self._old_cells = {path.name for path in store.cells()}
        self._open: list[tuple[str, int | None]] = []
        self._closed = self._old_trials = 0

    def work(self, folds: list[Fold]) -> None:
        """Tune, fit and rank all that is not in the store yet; may be called again with others."""
        load_kernels()
        jobs = [(fold, model) for fold in folds for model in fold.spec.model]
        searches = [Search(fold, model) for fold, model in jobs if model.search is not None]
        if self.total is None:
            found = [count_of(fold.spec) for fold in folds]
            self.total = None if None in found else sum(filter(None, found))
        self._open = [(job.key, job.budget) for job in searches]
        self._old_trials += self._open_trials()
        index, of = self.share
        left = [*jobs[index::of], *(j for i, j in enumerate(jobs) if i % of != index)]
        while left:
            open_jobs = [job for job in left if not self._attempt(*job, wait=False)]
            if len(open_jobs) == len(left):  # others are at work on all that is left
                self._attempt(*open_jobs.pop(0), wait=True)
            left = open_jobs
        self._closed += self._open_trials()
        self._open = []

    def _attempt(self, fold: Fold, model: ModelSpec, *, wait: bool) -> bool:
        """A job; one that fails is done with, if failures are kept."""
        try:
            return self._job(fold, model, wait=wait)
        except StoreError:
            raise
        except REFUSALS as error:
            if not self.keep_failures:
                raise
            self.failures[place_of(fold, model, None)[:3]] = _worded(error)
            return True

    def _job(self, fold: Fold, model: ModelSpec, *, wait: bool) -> bool:
        """Tune a model on a fold, then make its cells; False if another process has a part."""
        chosen = choose(Search(fold, model), self.store, self._tick, wait=wait)
        if chosen is None:
            return False
        ratings = wants_ratings(fold.spec)
        done = [
            self._cell(Cell(fold, model, chosen.settings, seed, ratings), chosen.tuning, wait)
            for seed in seeds_of(fold, model)
        ]
        return all(done)  # a cell that is passed over doesn't keep the others waiting

    def _cell(self, cell: Cell, tuning: Mapping[str, Any] | None, wait: bool) -> bool:
        key = cell.key
        if not self.store.has_cell(key):
            with self.store.lock(key, wait=wait) as mine:
                if not mine:
                    return False
                if not self.store.has_cell(key):
                    self._make(cell, key)
        self.keys[place_of(cell.fold, cell.model, cell.seed)] = key
        self.tuning[key] = tuning
        seed = "" if cell.seed is None else f", seed {cell.seed}"
        self._tick(f"{cell.fold.title}: {cell.model.title}{seed}")
        return True

    def _make(self, cell: Cell, key: str) -> None:
        """Fit and rank a cell, and store it; a failure that is kept stands in its place."""
        kept = self.store.failure(key) if self.keep_failures else None
        if kept is not None:
            raise FullrankError(kept)
        folder = self.store.folder / "fits" / key
        try:
            found = cell.run(folder, partial(self._epoch, cell))
        except REFUSALS as error:
            if self.keep_failures and not isinstance(error, StoreError):
                self.store.put_failure(key, cell.model.title, _worded(error))
            raise
        self.store.put_cell(key, *found)
        shutil.rmtree(folder, ignore_errors=True)

    def _epoch(self, cell: Cell, line: str) -> None:
        self._tick(f"{cell.fold.title}: {cell.model.title}, {line}")

    def _tick(self, text: str) -> None:
        self.progress(self.step(text))

    def step(self, text: str) -> Step:
        """How far the work is."""
        trials = self._closed + self._open_trials()
        cells = set(self.keys.values())
        fresh = trials - self._old_trials + len(cells - self._old_cells)
        return Step(trials + len(cells), self.total, text, fresh)

    def _open_trials(self) -> int:
        return sum(self.store.count_trials(key, budget) for key, budget in self._open)


def _worded(error: BaseException) -> str:
    """The message, with the kind of an error that isn't ours."""
    name = "" if isinstance(error, FullrankError) else f"{type(error).__name__}: "
    return f"{name}{error}"


def seeds_of(fold: Fold, model: ModelSpec) -> tuple[int | None, ...]:
    """Seeds of a model's final fits; one None for a model that draws nothing."""
    return fold.spec.seeds if is_seeded(model) else (None,)


def count_of(spec: BenchSpec) -> int | None:
    """Trials and cells of one fold; None while a budget in seconds leaves it open."""
    out = 0
    for model in spec.model:
        out += len(spec.seeds) if is_seeded(model) else 1
        if space_of(model):
            assert spec.tune is not None
            budget = model.trials or spec.tune.trials
            if budget is None:
                return None
            out += budget
    return out


def place_of(fold: Fold, model: ModelSpec, seed: int | None) -> Place:
    """Where a cell stands."""
    return fold.data.name, fold.protocol_id, model.title, seed
