"""Choose settings on validation queries, once per split, with one budget for every model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any

from fullrank.core.errors import FullrankError, SpecError
from fullrank.core.registry import build, find
from fullrank.core.resources import measured
from fullrank.experiment._blame import blamed
from fullrank.experiment._own import code_of
from fullrank.experiment.bench import Fold
from fullrank.experiment.check import space_of
from fullrank.experiment.search import distributions, propose, size_of
from fullrank.experiment.spec import ModelSpec, TuneSpec
from fullrank.experiment.store import Store, key_of, plain
from fullrank.metrics import Metric, parse
from fullrank.models import Recommender
from fullrank.rank import predict_rows, rank

REFUSALS = (FullrankError, MemoryError, ArithmeticError, ValueError)
"""What counts as a failed trial: settings that a model refuses or that its numbers don't survive
(LinAlgError is a ValueError). Anything else is a slip in the model's code, and is raised."""


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
            "settings": plain(self.model.settings),
            "space": plain(self.space),
            "metric": str(self.metric),
            "users": tune.users,
            "seed": tune.seed,
            "sampler": tune.sampler,
        }

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

        A budget in seconds also ends when every point of a finite space has been tried.
        """
        if not self.space:
            return None
        done = {trial["number"] for trial in trials}
        number = next(n for n in range(len(done) + 1) if n not in done)
        if self.budget is not None:
            return number if number < self.budget else None
        assert self.tune.seconds is not None
        used: float = sum(trial["resources"]["trial_seconds"] for trial in trials)
        tried = {key_of(trial["settings"]) for trial in trials}
        size = size_of(distributions(self.space, self.model.title))
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
            )
            same = [t for t in before if t["settings"] == trial["settings"]]
            if same:  # fits repeat on one machine: a second fit would only cost time
                trial |= {"value": same[0]["value"], "error": same[0]["error"]}
            else:
                with blamed(self.model):
                    trial |= self._outcome(trial["settings"])
        return {**trial, "resources": resources}

    def _outcome(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Value of some settings, or why there is none."""
        queries = self.fold.valid_queries  # without any, the search can't be: raised, not recorded
        try:
            model = build("model", self.model.name, {**self.model.settings, **chosen})
            model.fit(self.fold.split.fit_rows("train"), rng=self.tune.seed)
            value = self._value(model)
        except REFUSALS as error:
            name = "" if isinstance(error, FullrankError) else f"{type(error).__name__}: "
            return {"error": f"{name}{error}"}
        if isnan(value):
            raise SpecError(
                f"{self.fold.title}: {self.metric} has no value on the {len(queries):,} validation "
                "queries (none has a relevant target); tune by another metric"
            )
        return {"value": value}

    def _value(self, model: Recommender) -> float:
        """The metric over the validation part."""
        fold, queries = self.fold, self.fold.valid_queries
        if self.metric.source == "predictions":
            held = fold.split.valid
            return self.metric.value(predict_rows(model, queries.without_targets(), held))
        catalogue = fold.catalogue(fold.split.fit_rows("train"), queries)
        return self.metric.value(rank(model, queries, catalogue=catalogue).targets)

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
    summary = {
        "key": job.key,
        "trials": len(trials),
        "failed": sum(trial["value"] is None for trial in trials),
        "best": best["number"],
        "value": best["value"],
        "seconds": sum(trial["resources"]["trial_seconds"] for trial in trials),
    }
    return Chosen({**job.model.settings, **best["settings"]}, summary)
