"""Choose settings on validation queries, once per split, with one budget for every model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from math import isnan
from typing import Any

from fullrank.core.errors import FullrankError, SpecError
from fullrank.core.registry import build, find
from fullrank.core.resources import measured
from fullrank.experiment._blame import blamed
from fullrank.experiment._files import files_of, located
from fullrank.experiment._own import code_of
from fullrank.experiment.bench import Fold
from fullrank.experiment.check import space_of
from fullrank.experiment.early_stop import EarlyStop
from fullrank.experiment.search import distributions, propose, prunes, size_of
from fullrank.experiment.spec import ModelSpec, TuneSpec
from fullrank.experiment.store import Store, key_of, plain
from fullrank.experiment.whole import fit_whole
from fullrank.metrics import Metric, parse, parse_many
from fullrank.models import Recommender
from fullrank.rank import predict_rows, rank

REFUSALS = (FullrankError, MemoryError, ArithmeticError, ValueError)
"""What counts as a failed trial: settings that a model refuses or that its numbers don't survive
(LinAlgError is a ValueError). Anything else is a slip in the model's code, and is raised."""


_OUTCOME = ("value", "values", "error", "pruned", "curve", "epochs")


@dataclass(frozen=True)
class Search:
    """A search for one model on one fold.

    Attributes:
        fold: data and split.
        model: the model and its space.
    """

    fold: Fold
    model: ModelSpec

    @property
    def tune(self) -> TuneSpec:
        """The clause of the benchmark that gives the budget."""
        assert self.fold.spec.tune is not None
        return self.fold.spec.tune

    @property
    def metric(self) -> Metric:
        """What settings are chosen by."""
        return parse(self.tune.metric)

    @cached_property
    def space(self) -> dict[str, Any]:
        """The search space, the model's own for ``"default"``."""
        return space_of(self.model)

    @property
    def about(self) -> dict[str, Any]:
        """What the key of the search covers: all but the budget, which may be raised later."""
        tune = self.tune
        return {
            "protocol": self.fold.protocol_id,
            "model": self.model.name,
            "version": find("model", self.model.name).version,
            **code_of(self.model.name),
            **files_of(self.model.name, self.model.settings, self.fold.base, self.space),
            "settings": plain(self.model.settings),
            "space": plain(self.space),
            "metric": str(self.metric),
            "users": tune.users,
            "seed": tune.seed,
            "sampler": tune.sampler,
            **({"every": tune.every} if tune.watches else {}),
            **({"patience": tune.patience} if tune.patience is not None else {}),
            **({"pruning": tune.pruning} if tune.pruning != "none" else {}),
            **({"first": plain(self.first)} if self.first else {}),
        }

    @property
    def first(self) -> dict[str, Any]:
        """Settings of the first trial: the model's defaults, unless the benchmark has them drawn.

        Of those that the space has; a default that is made later (None, or a factory's) is drawn.
        """
        if self.tune.first == "drawn" or self.tune.sampler == "grid":
            return {}
        made = fields(find("model", self.model.name))
        return {f.name: f.default for f in made if f.name in self.space and _is_plain(f.default)}

    @property
    def key(self) -> str:
        """Name of the search in the store."""
        return key_of(self.about)

    @property
    def budget(self) -> int | None:
        """Trials, or None for a budget in seconds."""
        return self.model.trials or self.tune.trials

    def next_trial(self, trials: Sequence[Mapping[str, Any]]) -> int | None:
        """Number of the trial to run next: the first that is missing; None if none is open.

        A budget in seconds, and a grid, also end when every point of a finite space has been tried.
        """
        if not self.space:
            return None
        done = {trial["number"] for trial in trials}
        number = next(n for n in range(len(done) + 1) if n not in done)
        size = size_of(distributions(self.space, self.model.title))
        if self.tune.sampler == "grid":
            if size is None:
                raise SpecError(
                    f"model {self.model.title!r}: a grid needs a finite space; give each range a "
                    'step, or a list of choices, or take sampler = "tpe"'
                )
            if number >= size:
                return None
        if self.budget is not None:
            return number if number < self.budget else None
        assert self.tune.seconds is not None
        used: float = sum(trial["resources"]["trial_seconds"] for trial in trials)
        tried = {key_of(trial["settings"]) for trial in trials}
        exhausted = size is not None and len(tried) >= size
        return None if used >= self.tune.seconds or exhausted else number

    def run_trial(self, number: int, trials: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Run a trial; settings that the model refuses make a failed trial.

        Args:
            number: of the trial.
            trials: finished ones; those of higher numbers are not looked at, so that a trial
                whose file was lost comes out as it was.
        """
        before = [trial for trial in trials if trial["number"] < number]
        resources: dict[str, float | None] = {}
        trial: dict[str, Any] = {"number": number, "value": None, "error": None}
        with measured(resources, "trial"):
            trial["settings"] = propose(
                distributions(self.space, f"model {self.model.title!r}"),
                before,
                number=number,
                seed=self.tune.seed,
                sampler=self.tune.sampler,
                maximise=self.metric.higher_is_better,
                first=self.first,
            )
            same = [t for t in before if t["settings"] == trial["settings"]]
            if same:  # fits repeat on one machine: a second fit would only cost time
                trial |= {k: v for k, v in same[0].items() if k in _OUTCOME}
            else:
                with blamed(self.model):
                    trial |= self._outcome(trial["settings"], before)
        return {**trial, "resources": resources}

    def _outcome(
        self, chosen: Mapping[str, Any], before: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Value of some settings, or why there is none."""
        queries = self.fold.valid_queries  # without any, the search can't be: raised, not recorded
        rows = self.fold.split.fit_rows("train")
        try:
            settings = {**self.model.settings, **chosen}
            settings = located(self.model.name, settings, self.fold.base)
            model = build("model", self.model.name, settings)
            watch = self._watch(before)
            fit_whole(model, rows, rng=self.tune.seed, monitor=watch, progress=False)
            watched = _watched(watch) if watch is not None and watch.curve else {}
            if watched.get("pruned"):
                return watched
            values = self._values(model)  # of the best epoch's weights, where a fit was watched
        except REFUSALS as error:
            name = "" if isinstance(error, FullrankError) else f"{type(error).__name__}: "
            return {"error": f"{name}{error}"}
        value = values[self.metric]
        if isnan(value):
            raise SpecError(
                f"{self.fold.title}: {self.metric} has no value on the {len(queries):,} validation "
                "queries (none has a relevant target); tune by another metric"
            )
        kept = {str(m): None if isnan(found) else found for m, found in values.items()}
        return {"value": value, "values": kept, **watched}

    def _watch(self, before: Sequence[Mapping[str, Any]]) -> EarlyStop | None:
        """What evaluates a fit in epochs, if the benchmark asks for it."""
        tune, fold = self.tune, self.fold
        if not tune.watches or self.metric.source == "predictions":
            return None
        prune = None
        if tune.pruning == "halving":
            maximise = self.metric.higher_is_better
            prune = partial(prunes, before, maximise=maximise)
        return EarlyStop(
            fold.valid_queries,
            self.metric,
            patience=tune.patience,
            every=tune.every,
            catalogue=fold.catalogue(fold.split.fit_rows("train"), fold.valid_queries),
            prune=prune,
        )

    def _values(self, model: Recommender) -> dict[Metric, float]:
        """The metric, and every other one of the benchmark, over the validation part."""
        fold, queries = self.fold, self.fold.valid_queries
        wanted = dict.fromkeys([self.metric, *parse_many(fold.spec.metrics)])
        by_rank = [metric for metric in wanted if metric.source == "ranks"]
        by_rating = [metric for metric in wanted if metric.source == "predictions"]
        out: dict[Metric, float] = {}
        if by_rating and (model.predicts_ratings or self.metric in by_rating):
            found = predict_rows(model, queries.without_targets(), fold.split.valid)
            out |= {metric: float(metric.value(found)) for metric in by_rating}
        if by_rank:
            catalogue = fold.catalogue(fold.split.fit_rows("train"), queries)
            ranked = rank(model, queries, catalogue=catalogue).targets
            out |= {metric: float(metric.value(ranked)) for metric in by_rank}
        return out

    def best(self, trials: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """The best finished trial; the earliest of equals.

        Raises:
            SpecError: every trial failed; quotes the first reason.
        """
        done = [trial for trial in trials if trial["value"] is not None]
        if not done:
            reason = trials[0]["error"] if trials else "no trial fitted into the budget"
            raise SpecError(
                f"{self.fold.title}: all {len(trials)} trials of {self.model.title!r} failed; the "
                f"first said: {reason}"
            )
        sign = 1 if self.metric.higher_is_better else -1
        return max(done, key=lambda trial: (sign * trial["value"], -trial["number"]))


@dataclass(frozen=True)
class Chosen:
    """What a search settles on.

    Attributes:
        settings: of the final fit.
        tuning: summary of the search, or None for fixed settings.
    """

    settings: Mapping[str, Any]
    tuning: Mapping[str, Any] | None


def choose(
    job: Search, store: Store, progress: Callable[[str], None], *, wait: bool = True
) -> Chosen | None:
    """Finish a search.

    Args:
        job: the search.
        store: where its trials lie.
        progress: called after each trial with what it was.
        wait: for another process that is at work on it; None is returned otherwise.
    """
    if job.model.search is None or not job.space:
        return Chosen(dict(job.model.settings), None)
    with store.lock(job.key, wait=wait) as mine:
        if not mine:
            return None
        store.put_search(job.key, job.about)
        trials = store.trials(job.key)
        while (number := job.next_trial(trials)) is not None:
            trial = job.run_trial(number, trials)
            store.put_trial(job.key, number, trial)
            trials = sorted([*trials, trial], key=lambda t: int(t["number"]))
            progress(f"{job.fold.title}: {job.model.title}, trial {number + 1}")
    trials = trials[: job.budget]
    best = job.best(trials)
    pruned = sum(bool(trial.get("pruned")) for trial in trials)
    summary = {
        "key": job.key,
        "trials": len(trials),
        "failed": sum(trial["value"] is None for trial in trials) - pruned,
        "pruned": pruned,
        "best": best["number"],
        "value": best["value"],
        "seconds": sum(trial["resources"]["trial_seconds"] for trial in trials),
    }
    trains_for = best.get("epochs") if _has_epochs(job.model.name) else None
    epochs = {"epochs": trains_for} if trains_for else {}
    return Chosen({**job.model.settings, **best["settings"], **epochs}, summary)


def _is_plain(default: Any) -> bool:
    """Whether a field's default is a value that a search space can hold."""
    return isinstance(default, str | int | float | bool)


def _has_epochs(name: str) -> bool:
    """Whether a model's refit can be told for how many epochs to train."""
    return any(field.name == "epochs" for field in fields(find("model", name)) if field.init)


def _watched(watch: EarlyStop) -> dict[str, Any]:
    """What a trial that was evaluated in between leaves: its curve, and its best epoch's value."""
    assert watch.best_epoch is not None
    kept = {"curve": watch.curve, "epochs": watch.best_epoch + 1}
    if watch.pruned:
        return {"value": None, "pruned": True, **kept}
    return {"value": watch.best_value, **kept}
