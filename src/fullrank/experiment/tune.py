"""Choose settings on validation queries, once per split, with one budget for every model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fullrank.core.errors import FullrankError, SpecError
from fullrank.core.registry import build, find
from fullrank.core.state import State
from fullrank.experiment.bench import Fold, _plain
from fullrank.experiment.resources import measured
from fullrank.experiment.search import distributions, propose
from fullrank.experiment.spec import ModelSpec
from fullrank.experiment.store import Store, key_of
from fullrank.metrics import parse
from fullrank.rank import rank


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
    def space(self) -> Mapping[str, Any]:
        """The search space, the model's own for ``"default"``."""
        if self.model.search == "default":
            space = find("model", self.model.name).search_space
            return {k: v for k, v in space.items() if k not in self.model.settings}
        return self.model.search if isinstance(self.model.search, dict) else {}

    @property
    def about(self) -> dict[str, Any]:
        """What the key of the search covers: all but the budget, which may be raised later."""
        tune = self.fold.spec.tune
        assert tune is not None
        return {
            "protocol": self.fold.protocol_id,
            "model": self.model.name,
            "version": find("model", self.model.name).version,
            "settings": _plain(self.model.settings),
            "space": _plain(self.space),
            "metric": str(parse(tune.metric)),
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
        tune = self.fold.spec.tune
        return self.model.trials or (None if tune is None else tune.trials)

    def open(self, trials: list[dict[str, Any]]) -> bool:
        """True while the budget is not used up."""
        tune = self.fold.spec.tune
        assert tune is not None
        if not self.space:
            return False
        if self.budget is not None:
            return len(trials) < self.budget
        assert tune.seconds is not None
        used: float = sum(trial["resources"]["trial_seconds"] for trial in trials)
        return used < tune.seconds

    def run_trial(self, trials: list[dict[str, Any]]) -> dict[str, Any]:
        """Run the next trial; a refusal by the model is recorded as a failed trial."""
        tune = self.fold.spec.tune
        assert tune is not None
        number = len(trials)
        metric = parse(tune.metric)
        where = f"model {self.model.title!r}"
        chosen = propose(
            distributions(self.space, where),
            trials,
            number=number,
            seed=tune.seed,
            sampler=tune.sampler,
            maximise=metric.higher_is_better,
        )
        resources: dict[str, float | None] = {}
        trial: dict[str, Any] = {"number": number, "settings": chosen, "value": None, "error": None}
        with measured(resources, "trial"):
            same = [t for t in trials if t["settings"] == chosen]
            if same:  # fits repeat on one machine: a second fit would only cost time
                trial |= {"value": same[0]["value"], "error": same[0]["error"]}
            else:
                try:
                    trial["value"] = self._evaluate({**self.model.settings, **chosen})
                except SpecError:
                    raise
                except FullrankError as error:
                    trial["error"] = str(error)
        return {**trial, "resources": resources}

    def _evaluate(self, settings: dict[str, Any]) -> float:
        fold = self.fold
        assert fold.spec.tune is not None
        model = build("model", self.model.name, settings)
        rows = fold.split.fit_rows("train")
        model.fit(rows, rng=fold.spec.tune.seed)
        queries = fold.valid_queries
        ranked = rank(model, queries, catalogue=fold.catalogue(rows, queries)).targets
        value = State.of(parse(fold.spec.tune.metric).per_query(ranked)).value
        if value != value:
            raise SpecError(
                f"{fold.title}: {fold.spec.tune.metric} has no value on the validation queries "
                "(none has a relevant target); tune by another metric"
            )
        return value

    def best(self, trials: list[dict[str, Any]]) -> dict[str, Any]:
        """The best finished trial; the earliest of equals.

        Raises:
            SpecError: every trial failed; quotes the first reason.
        """
        tune = self.fold.spec.tune
        assert tune is not None
        done = [trial for trial in trials if trial["value"] is not None]
        if not done:
            reason = trials[0]["error"] if trials else "no trial fitted into the budget"
            raise SpecError(f"{self.model.title}: every trial failed; the first said: {reason}")
        sign = 1 if parse(tune.metric).higher_is_better else -1
        return max(done, key=lambda trial: (sign * trial["value"], -trial["number"]))


def search(
    job: Search, store: Store, progress: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Finish a search and return (settings, summary of the search or None for fixed settings)."""
    if job.model.search is None:
        return dict(job.model.settings), None
    with store.lock(job.key, wait=True):
        store.put_search(job.key, job.about)
        trials = store.trials(job.key)
        while job.open(trials):
            trial = job.run_trial(trials)
            store.put_trial(job.key, trial["number"], trial)
            trials.append(trial)
            progress(f"{job.fold.title}: {job.model.title}, trial {len(trials)}")
    if not job.space:
        return dict(job.model.settings), None
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
    return {**job.model.settings, **best["settings"]}, summary
