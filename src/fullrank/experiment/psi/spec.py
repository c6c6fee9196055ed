"""A Psi file checked before any work, and the benchmark that each scenario and split of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fullrank.core.call import read_call
from fullrank.core.errors import SpecError, told
from fullrank.core.registry import find
from fullrank.experiment.cell import is_seeded
from fullrank.experiment.check import check, model_class
from fullrank.experiment.psi.shapes import PsiSpec, SamplerSpec
from fullrank.experiment.spec import (
    BenchSpec,
    Locate,
    RankingSpec,
    SplitSpec,
    locator,
    nowhere,
    parse_as,
    read_text,
)
from fullrank.metrics import parse_many
from fullrank.subsample import Floor, Sampler, parse_sampler


def read_psi(path: str | Path) -> tuple[PsiSpec, Path, Locate]:
    """Read a Psi file; returns the spec, the folder that its paths are relative to, a locator.

    Raises:
        SpecError: the file is missing, no TOML, or says something unknown.
    """
    content, text = read_text(path, "Psi file")
    locate = locator(str(path), text)
    return parse_as(PsiSpec, content, locate), Path(path).resolve().parent, locate


def parse_psi(content: dict[str, Any], where: str = "Psi file", text: str = "") -> PsiSpec:
    """Validate the content of a Psi file.

    Args:
        content: parsed TOML.
        where: file name for messages.
        text: the TOML source, to name lines.

    Raises:
        SpecError: the first problem, with the key, its line, and the nearest known key.
    """
    return parse_as(PsiSpec, content, locator(where, text))


def bench_of(spec: PsiSpec, number: int, seed: int, locate: Locate = nowhere) -> BenchSpec:
    """The benchmark that a scenario is under one seed of its split.

    Args:
        spec: the file.
        number: of the scenario.
        seed: of the split.
        locate: names file and line of a place.
    """
    scenario = spec.scenario[number]
    split = {**scenario.split.model_dump(), "seed": seed}
    tune = scenario.tune
    content = {
        "name": f"{spec.name}, {scenario.name}",
        "seeds": spec.seeds.training,
        "metrics": scenario.metrics,
        "level": spec.level,
        "data": (spec.data,),
        "filters": scenario.filters or spec.filters,
        "split": SplitSpec(**split),
        "ranking": RankingSpec(cold_users=spec.cold_users),
        "tune": None if tune is None else tune.model_copy(update={"refit": "train"}),
        "model": scenario.model,
    }
    return parse_as(BenchSpec, content, within(spec, number, locate))


def within(spec: PsiSpec, number: int, locate: Locate) -> Locate:
    """A locator of places of a scenario's benchmark in the Psi file."""

    def found(loc: Sequence[str | int]) -> str:
        table = loc[0] if loc else ""
        if table == "data":  # a benchmark has several, this file one
            return locate(("data", *loc[2:]))
        if table == "filters" and spec.scenario[number].filters is None:
            return locate(loc)
        return locate(("scenario", number, *loc))

    return found


def floor_of(spec: PsiSpec) -> Floor:
    """The least that a usable sample has."""
    return Floor(**spec.floor.model_dump())


def is_explicit(spec: PsiSpec, number: int) -> bool:
    """True if every metric of a scenario is of predicted ratings."""
    return all(m.source == "predictions" for m in parse_many(spec.scenario[number].metrics))


def sampler_of(spec: PsiSpec, sampler: SamplerSpec, number: int, base: Path) -> Sampler:
    """The strategy as a scenario uses it.

    One that learns importance takes the errors of ratings in an explicit scenario, unless its
    settings name another.

    Args:
        spec: the file.
        sampler: one of its strategies.
        number: of the scenario.
        base: folder that paths are relative to.

    Raises:
        SpecError: an unknown strategy or setting.
    """
    settings = dict(sampler.settings)
    if settings.get("importance"):
        settings["importance"] = str(base / str(settings["importance"]))
    how = parse_sampler(sampler.name, settings)
    given = {*settings, *(read_call(sampler.name, "strategy").options or {})}
    if hasattr(how, "scenario") and "scenario" not in given and is_explicit(spec, number):
        how = replace(how, scenario="explicit")  # type: ignore[call-arg]
    return how


def check_psi(spec: PsiSpec, base: Path, locate: Locate = nowhere) -> None:
    """Build every scenario's metrics, split, models and every sampler once.

    Args:
        spec: the file.
        base: folder that paths are relative to.
        locate: names file and line of a place.

    Raises:
        SpecError: the first thing that can't be understood or would say nothing.
    """
    for number in range(len(spec.scenario)):
        here = within(spec, number, locate)
        bench = bench_of(spec, number, spec.seeds.split[0], locate)
        check(bench, base, here)
        _check_ratings(bench, here)
        for j, sampler in enumerate(spec.sampler):
            with told(locate(("sampler", j))):
                how = sampler_of(spec, sampler, number, base)
                if spec.size == "faithful" and not how.published:
                    nothing: Any = None
                    how.as_published(nothing, Fraction(1, 2), 0)  # says that it isn't
    _check_seeds(spec, locate)


def _check_ratings(bench: BenchSpec, locate: Locate) -> None:
    """Every model must have a value by every metric."""
    rated = [m for m in parse_many(bench.metrics) if m.source == "predictions"]
    for j, model in enumerate(bench.model):
        if rated and not model_class(model).predicts_ratings:
            raise SpecError(
                f"{locate(('model', j))}{rated[0]} ranks all models of a scenario, and "
                f"{model.title!r} predicts no ratings; move it to a scenario with ranking metrics"
            )


def _check_seeds(spec: PsiSpec, locate: Locate) -> None:
    """Repeats that all come out alike would pass for certainty."""
    splits = [find("split", s.split.strategy).seeded for s in spec.scenario]
    if len(spec.seeds.split) > 1 and not any(splits):
        names = ", ".join(dict.fromkeys(s.split.strategy for s in spec.scenario))
        raise SpecError(
            f"{locate(('seeds', 'split'))}the split draws nothing ({names}), so that "
            f"{len(spec.seeds.split)} seeds give {len(spec.seeds.split)} times the same; name one, "
            "and repeat sampler seeds"
        )
    models = [is_seeded(model) for s in spec.scenario for model in s.model]
    if len(spec.seeds.training) > 1 and not any(models):
        raise SpecError(
            f"{locate(('seeds', 'training'))}no model here draws random numbers, so that "
            f"{len(spec.seeds.training)} seeds give the same fits; name one"
        )
