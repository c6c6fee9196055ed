"""Run a benchmark: tune on validation, refit, rank the test once, store; resumable at any point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullrank.core.errors import SpecError
from fullrank.core.registry import find
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
) -> Results:
    """Run a benchmark, or go on with one.

    Args:
        bench: a benchmark file, or a spec.
        store: folder for the results; a finished cell or trial in it is never done again.
        base: folder that paths of a spec are relative to; the file's own by default.
        progress: called after each trial and cell.

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
    with where.session():
        return _Runner(spec, base, where, progress or (lambda _: None)).run()


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
    from fullrank.core.registry import check_settings

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
    """The loop over folds, models and seeds."""

    def __init__(
        self, spec: BenchSpec, base: Path, store: Store, progress: Callable[[Step], None]
    ) -> None:
        self.spec, self.base, self.store, self.progress = spec, base, store, progress
        self.ratings = any(metric.source == "predictions" for metric in check(spec))
        self.done = self.fresh = 0
        self.total: int | None = None
        self.keys: list[str] = []

    def run(self) -> Results:
        folds = make_folds(self.spec, self.base)
        self.total = self._count(folds)
        jobs = [(fold, model) for fold in folds for model in self.spec.model]
        self.done = sum(self._finished_trials(fold, model) for fold, model in jobs)
        for fold, model in jobs:
            settings, tuning = search(Search(fold, model), self.store, self._tick)
            for seed in self._seeds(model):
                self._cell(Cell(fold, model, settings, seed, tuning, self.ratings))
        write_json(
            self.store.folder / "bench.json",
            {"spec": self.spec.model_dump(mode="json"), "cells": self.keys},
        )
        return Results.load(self.store, fresh=self.fresh)

    def _cell(self, cell: Cell) -> None:
        key = cell.key
        self.keys.append(key)
        made = False
        if not self.store.has_cell(key):
            with self.store.lock(key, wait=True):
                if not self.store.has_cell(key):
                    self.store.put_cell(key, *cell.run())
                    made = True
        seed = "" if cell.seed is None else f", seed {cell.seed}"
        self._tick(f"{cell.fold.title}: {cell.model.title}{seed}", fresh=made)

    def _tick(self, text: str, fresh: bool = True) -> None:
        self.done += 1
        self.fresh += fresh
        self.progress(Step(self.done, self.total, text, self.fresh))

    def _seeds(self, model: ModelSpec) -> tuple[int | None, ...]:
        return self.spec.seeds if is_seeded(model) else (None,)

    def _budget(self, model: ModelSpec) -> int | None:
        if model.search is None or self.spec.tune is None:
            return 0
        return model.trials or self.spec.tune.trials

    def _count(self, folds: list[Fold]) -> int | None:
        budgets = [
            self._budget(model) if Search(folds[0], model).space else 0 for model in self.spec.model
        ]
        if any(budget is None for budget in budgets):
            return None
        cells = sum(len(self._seeds(model)) for model in self.spec.model)
        return len(folds) * (cells + sum(budget or 0 for budget in budgets))

    def _finished_trials(self, fold: Fold, model: ModelSpec) -> int:
        job = Search(fold, model)
        if model.search is None or not job.space:
            return 0
        found = len(self.store.trials(job.key))
        budget = self._budget(model)
        return found if budget is None else min(found, budget)
