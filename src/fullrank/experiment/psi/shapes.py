"""The file of ``fullrank psi``: TOML read into frozen models; unknown keys are errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fullrank.core.errors import suggest
from fullrank.experiment._shapes import (
    Count,
    DataSpec,
    FilterSpec,
    ModelSpec,
    Seed,
    SplitSpec,
    TuneSpec,
    _Part,
    _problem,
)

Share = Annotated[float, Field(gt=0, lt=1, strict=True)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1)]


class SeedsSpec(_Part):
    """What is repeated: every combination of these seeds.

    Attributes:
        split: of the splits.
        sampler: of the draws of samples.
        training: of the final fits of models that draw random numbers.
    """

    split: Seeds = (1,)
    sampler: Seeds = (1,)
    training: Seeds = (1,)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for name in type(self).model_fields:
            seeds = getattr(self, name)
            for j, seed in enumerate(seeds):
                if seed in seeds[:j]:
                    text = f"seed {seed} is used twice; write each seed once"
                    raise _problem(("seeds", name, j), text)
        return self


class FloorSpec(_Part):
    """The least that a usable sample has; below it terms are missing, and listed.

    Attributes:
        rows: training rows.
        users: users that have any.
        items: items that have any.
    """

    rows: Count = 100
    users: Count = 50
    items: Count = 50


class SamplerSpec(_Part):
    """A strategy that ``fullrank subsample`` knows.

    Attributes:
        name: of the strategy, or ``package.module:Class``; settings may stand in brackets.
        label: name in tables; the strategy's by default.
        settings: of the strategy.
    """

    name: str
    label: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        """Label, or the name."""
        return self.label or self.name.rpartition(":")[2]


class ScenarioSpec(_Part):
    """What algorithms are compared on: a split, metrics, models.

    Attributes:
        name: such as ``"explicit"``, ``"implicit"`` or ``"sequential"``.
        metrics: each gives a ranking of the models.
        filters: in place of those of the file.
        split: how rows are held out; its seeds stand in ``[seeds]``.
        tune: budget of the search on validation rows; needed if a model has a search space.
            Final fits are on training rows alone.
        model: two or more.
    """

    name: str
    metrics: Annotated[tuple[str, ...], Field(min_length=1)]
    filters: FilterSpec | None = None
    split: SplitSpec
    tune: TuneSpec | None = None
    model: Annotated[tuple[ModelSpec, ...], Field(min_length=2)]


class PsiSpec(_Part):
    """How well samplers keep the ranking of algorithms.

    Attributes:
        name: title of the report.
        keep: shares of the training rows that samples keep, in (0, 1).
        size: ``"exact"``, ``"whole"`` or ``"faithful"``, as in ``fullrank subsample``.
        catalogue: ``"full"`` ranks the items with training rows before the sampling, ``"subset"``
            those that have any left, as the published code does.
        dropped: items of a user's rows that the sample dropped: ``"candidates"`` again, as for
            anybody who has the sample alone; ``"masked"`` like the history, so that a query has
            the same candidates on the full data and on all samples (of a full catalogue).
        cold_users: those without a training row in the sample. ``"apart"`` ranks them as the
            models do, and tells Psi of the others beside; ``"fallback"`` gives every model the
            popularity ranking for them; ``"out"`` leaves them out.
        ties: ``"exact"``, or ``"intervals"``: algorithms tie if the paired interval of their
            difference holds 0.
        level: confidence level of intervals.
        resamples: of users.
        baseline: sampler that the others are compared with; every two are by default.
        seeds: what is repeated.
        floor: of usable samples.
        data: the data set.
        filters: before the split, and on training rows before the sampling.
        sampler: strategies.
        scenario: what algorithms are compared on.
    """

    name: str = "psi"
    keep: Annotated[tuple[Share, ...], Field(min_length=1)]
    size: Literal["exact", "whole", "faithful"] = "exact"
    catalogue: Literal["full", "subset"] = "full"
    dropped: Literal["candidates", "masked"] = "candidates"
    cold_users: Literal["apart", "fallback", "out"] = "apart"
    ties: Literal["exact", "intervals"] = "exact"
    level: Annotated[float, Field(gt=0.5, lt=1, strict=True)] = 0.95
    resamples: Annotated[int, Field(ge=100, strict=True)] = 1000
    baseline: str | None = None
    seeds: SeedsSpec = SeedsSpec()
    floor: FloorSpec = FloorSpec()
    data: DataSpec
    filters: FilterSpec = FilterSpec()
    sampler: Annotated[tuple[SamplerSpec, ...], Field(min_length=1)]
    scenario: Annotated[tuple[ScenarioSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        titles = [sampler.title for sampler in self.sampler]
        for key, what, values in (
            ("keep", "share", [f"{keep:g}" for keep in self.keep]),
            ("sampler", "sampler label", titles),
            ("scenario", "scenario", [scenario.name for scenario in self.scenario]),
        ):
            for j, value in enumerate(values):
                if value in values[:j]:
                    raise _problem((key, j), f"{what} {value!r} is used twice; {_REMEDIES[key]}")
        if self.baseline is not None and self.baseline not in titles:
            known = suggest(self.baseline, titles)
            raise _problem(("baseline",), f"baseline {self.baseline!r} is no sampler here{known}")
        for j, scenario in enumerate(self.scenario):
            _check_scenario(j, scenario)
        return self


_REMEDIES = {
    "keep": "write each share once",
    "sampler": "give one of them a label of its own",
    "scenario": "name each scenario differently",
}


def _check_scenario(j: int, scenario: ScenarioSpec) -> None:
    """Refuse what a benchmark file may say and Psi settles itself."""
    if "seed" in scenario.split.model_fields_set:
        text = "a split's seed stands in [seeds] here, as repeats need several: split = [1, 2, 3]"
        raise _problem(("scenario", j, "split", "seed"), text)
    tune = scenario.tune
    if tune is not None and tune.refit != "train" and "refit" in tune.model_fields_set:
        text = (
            "final fits are on training rows alone (refit = 'train'): validation rows are not "
            "sampled, and would make up for those that were dropped; leave refit out"
        )
        raise _problem(("scenario", j, "tune", "refit"), text)
