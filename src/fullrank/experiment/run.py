"""Run a benchmark: tune on validation, refit, rank the test once, store; resumable at any point."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullrank.core.errors import FullrankError, SpecError
from fullrank.core.registry import check_settings, find
from fullrank.experiment.bench import Fold, make_folds
from fullrank.experiment.cell import Cell, is_seeded
from fullrank.experiment.results import Results
from fullrank.experiment.search import distributions
from fullrank.experiment.spec import BenchSpec, ModelSpec, read_spec
from fullrank.experiment.store import Store, write_json
from fullrank.experiment.tune import Search, search
from fullrank.metrics import Metric, parse, parse_many


@dataclass(frozen=True)
class Step:
    """Progress of a run.

    Attributes:
        done: trials and cells finished, those of earlier runs included.
        total: trials and cells in all (None while a budget in seconds leaves it open).
        text: what is at work.
        fresh: trials and cells finished by this run.
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
    if isinstance(bench, BenchSpec):
        spec, base = bench, base or Path.cwd()
    else:
        spec, base = read_spec(bench)
    check(spec)
    where = Store.open(store, create=True)
    report = progress or (lambda _: None)
    with where.session(), _helpers(spec, base, where, jobs):
        return _Runner(spec, base, where, report, (0, jobs)).run()


@contextmanager
def _helpers(spec: BenchSpec, base: Path, store: Store, jobs: int) -> Iterator[None]:
    """Processes that work beside this one, ended with it."""
    context = multiprocessing.get_context("spawn")
    content = spec.model_dump(mode="json")
    others = [
        context.Process(target=_help, args=(content, base, store.folder, (j, jobs)), daemon=True)
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


def _help(content: dict[str, Any], base: Path, folder: Path, share: tuple[int, int]) -> None:
    """Work on a share of the cells; what fails here fails again, and is said, in the first one."""
    store = Store.open(folder)
    with store.session(), suppress(FullrankError, KeyboardInterrupt):
        runner = _Runner(BenchSpec.model_validate(content), base, store, lambda _: None, share)
        runner.work(make_folds(runner.spec, base))


def check(spec: BenchSpec) -> tuple[Metric, ...]:
    """Build every metric, model and space once, so that a slip is said before any work.

    Returns:
        The metrics of the benchmark.
    """
    metrics = tuple(metric for text in spec.metrics for metric in parse_many(text))
    if spec.tune is not None:
        parse(spec.tune.metric)
    for model in spec.model:
        target = find("model", model.name)
        _check_model(model, target)
    return metrics


def _check_model(model: ModelSpec, target: Any) -> None:
    where = f"model {model.title!r}"
    searched: Sequence[str] = ()
    if isinstance(model.search, dict):
        distributions(model.search, where)
        searched = tuple(model.search)
        both = sorted(set(searched) & set(model.settings))
        if both:
            raise SpecError(f"{where}: {both[0]!r} is both fixed and searched; keep one")
    check_settings(where, target, [*model.settings, *searched])


class _Runner:
    """The loop over folds, models and seeds.

    With several processes each begins with its own share of the models and then goes over the
    others; a cell that another process has locked is waited for.
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
        self.ratings = any(metric.source == "predictions" for metric in check(spec))
        self.total: int | None = None
        self.fresh = 0
        self.searches: list[Search] = []
        self.keys: dict[tuple[str, int, str, int | None], str] = {}

    def run(self) -> Results:
        """Finish the benchmark and write its manifest."""
        folds = make_folds(self.spec, self.base)
        self.work(folds)
        order = [
            self.keys[self._place(fold, model, seed)]
            for fold in folds
            for model in self.spec.model
            for seed in self._seeds(model)
        ]
        manifest = {"spec": self.spec.model_dump(mode="json"), "cells": order}
        write_json(self.store.folder / "bench.json", manifest)
        return Results.load(self.store, fresh=self.fresh)

    def work(self, folds: list[Fold]) -> None:
        """Tune, fit and rank all that is not in the store yet."""
        jobs = [(fold, model) for fold in folds for model in self.spec.model]
        self.searches = [Search(fold, model) for fold, model in jobs if model.search is not None]
        self.total = self._count(folds)
        index, of = self.share
        for fold, model in [*jobs[index::of], *(j for i, j in enumerate(jobs) if i % of != index)]:
            settings, tuning = search(Search(fold, model), self.store, self._tick)
            for seed in self._seeds(model):
                self._cell(Cell(fold, model, settings, seed, tuning, self.ratings))

    def _cell(self, cell: Cell) -> None:
        key = cell.key
        self.keys[self._place(cell.fold, cell.model, cell.seed)] = key
        made = False
        if not self.store.has_cell(key):
            with self.store.lock(key, wait=True):
                if not self.store.has_cell(key):
                    self.store.put_cell(key, *cell.run())
                    made = True
        seed = "" if cell.seed is None else f", seed {cell.seed}"
        self._tick(f"{cell.fold.title}: {cell.model.title}{seed}", made)

    def _place(
        self, fold: Fold, model: ModelSpec, seed: int | None
    ) -> tuple[str, int, str, int | None]:
        return fold.title, fold.number, model.title, seed

    def _tick(self, text: str, fresh: bool = True) -> None:
        self.fresh += fresh
        trials = sum(min(len(self.store.trials(s.key)), s.budget or 10**9) for s in self.searches)
        self.progress(Step(trials + len(self.keys), self.total, text, self.fresh))

    def _seeds(self, model: ModelSpec) -> tuple[int | None, ...]:
        return self.spec.seeds if is_seeded(model) else (None,)

    def _count(self, folds: list[Fold]) -> int | None:
        budgets = [job.budget if job.space else 0 for job in self.searches]
        if any(budget is None for budget in budgets):
            return None
        cells = sum(len(self._seeds(model)) for model in self.spec.model)
        return len(folds) * cells + sum(budget or 0 for budget in budgets)
