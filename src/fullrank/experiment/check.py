"""Check a benchmark before any work: names, settings, spaces and files that it speaks of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fullrank.core.errors import SpecError
from fullrank.core.registry import build, check_settings, construct, find, not_finite
from fullrank.data._options import ReadOptions
from fullrank.data.filters import parse_filter
from fullrank.experiment._files import named
from fullrank.experiment._lines import Loc
from fullrank.experiment._own import check_module, importable
from fullrank.experiment._remarks import check_graded
from fullrank.experiment.search import distributions
from fullrank.experiment.spec import BenchSpec, Locate, ModelSpec, SplitSpec, nearest, nowhere
from fullrank.metrics import Metric, parse, parse_many
from fullrank.models import Recommender
from fullrank.models._published import PUBLISHED

Check = tuple[Loc, Callable[[], object]]


def check(
    spec: BenchSpec, base: Path | None = None, locate: Locate = nowhere
) -> tuple[Metric, ...]:
    """Build every metric, strategy, filter, model and space once.

    Args:
        spec: the benchmark.
        base: folder that paths are relative to; None leaves files alone.
        locate: names file and line of a place.

    Returns:
        The metrics of the benchmark, each once.

    Raises:
        SpecError: the first thing that can't be understood, and where it stands.
    """
    with importable(base):
        for loc, test in _checks(spec, base):
            try:
                test()
            except SpecError as error:
                raise SpecError(f"{locate(loc)}{error}") from error
    return parse_many(spec.metrics)


def wants_ratings(spec: BenchSpec) -> bool:
    """True if a metric of predicted values is asked for."""
    return any(metric.source == "predictions" for metric in parse_many(spec.metrics))


def _checks(spec: BenchSpec, base: Path | None) -> Iterator[Check]:
    for loc, value in not_finite(spec.model_dump()):
        yield loc, partial(_refuse_number, loc, value)
    for j, text in enumerate(spec.metrics):
        yield ("metrics", j), partial(_check_metric, text, spec)
    yield from _checks_of_rows(spec)
    for j, model in enumerate(spec.model):
        if base is not None:
            yield ("model", j), partial(check_module, model.name, base)
        yield ("model", j), partial(_check_model, model)
    yield ("metrics",), partial(_check_ratings, spec)
    if spec.tune is not None:
        yield ("tune", "metric"), partial(_check_tuning, spec)
    if base is not None:
        for loc, name in _files(spec):
            yield loc, partial(_check_file, base / name)


def _checks_of_rows(spec: BenchSpec) -> Iterator[Check]:
    """How rows are read, filtered and split."""
    for j, data in enumerate(spec.data):
        for name, option in data.read.options.items():
            test = partial(construct, f"data {data.name!r}", ReadOptions, {name: option})
            yield ("data", j, "read", name), test
    yield ("split", "strategy"), partial(find, "split", spec.split.strategy)
    for key in spec.split.settings:
        yield ("split", key), partial(_check_key_of_split, spec.split, key)
    settings = {**spec.split.settings, "repeats": spec.split.repeats}
    yield ("split", "strategy"), partial(build, "split", spec.split.strategy, settings)
    for when in ("before", "train"):
        for j, step in enumerate(getattr(spec.filters, when)):
            yield ("filters", when, j, *step), partial(parse_filter, step)


def _check_key_of_split(split: SplitSpec, key: str) -> None:
    """Settings of a strategy stand beside the table's own keys: one may belong elsewhere."""
    target = find("split", split.strategy)
    known = [f.name for f in fields(target)] if is_dataclass(target) else [key]
    if key not in known:
        raise SpecError(f"split {split.strategy!r} has no setting {key!r}{nearest(key, known)}")


def _refuse_number(loc: Loc, value: float) -> None:
    name = [part for part in loc if isinstance(part, str)][-1]
    raise SpecError(f"{name} must hold finite numbers, got {value}; write a number")


def _check_metric(text: str, spec: BenchSpec) -> None:
    metrics = parse_many(text)
    for metric in metrics:
        metric.check()
    for data in spec.data:
        check_graded(metrics, data.grade)


def _check_model(model: ModelSpec) -> None:
    where = f"model {model.title!r}"
    target = model_class(model)
    space = distributions(space_of(model), where)
    check_settings(where, target, [*model.settings, *space])
    for settings in _corners(space):
        try:
            build("model", model.name, {**model.settings, **settings})
        except SpecError as error:
            raise SpecError(
                f"{error}{f' (search offers {settings})' if settings else ''}"
            ) from error


def _corners(space: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Settings of a space: the first of each, and each other end or choice beside those."""
    ends = {
        name: getattr(entry, "choices", None) or (entry.low, entry.high)
        for name, entry in space.items()
    }
    first = {name: values[0] for name, values in ends.items()}
    yield first
    for name, values in ends.items():
        yield from ({**first, name: value} for value in values[1:])


def model_class(model: ModelSpec) -> type[Recommender]:
    """The class of a model.

    Raises:
        SpecError: no such name, or it is no recommender.
    """
    target = find("model", model.name)
    if not (isinstance(target, type) and issubclass(target, Recommender)):
        raise SpecError(f"{model.name!r} is no model; name a subclass of fullrank.Recommender")
    return target


def space_of(model: ModelSpec) -> dict[str, Any]:
    """The search space of a model, its own for ``"default"``; empty without a search.

    Raises:
        SpecError: a published space that has none for this model.
    """
    if not isinstance(model.search, str):
        return dict(model.search or {})
    space = find("model", model.name).search_space
    if model.search != "default":
        published = PUBLISHED[model.search]
        if model.name not in published:
            raise SpecError(
                f"model {model.title!r}: the search space {model.search!r} has none for "
                f'{model.name} (it has {", ".join(sorted(published))}); take "default" or a table'
            )
        space = published[model.name]
    return {name: entry for name, entry in space.items() if name not in model.settings}


def _check_ratings(spec: BenchSpec) -> None:
    if wants_ratings(spec) and not any(model_class(m).predicts_ratings for m in spec.model):
        raise SpecError(
            "a metric of predicted ratings (rmse, mae) needs a model that predicts ratings, such "
            "as BiasOnly, and there is none"
        )


def _check_tuning(spec: BenchSpec) -> None:
    assert spec.tune is not None
    metric = parse(spec.tune.metric)
    _check_metric(spec.tune.metric, spec)
    if metric.source != "predictions":
        return
    for model in spec.model:
        if space_of(model) and not model_class(model).predicts_ratings:
            raise SpecError(
                f"{metric} can't choose settings of {model.title!r}, which predicts no ratings; "
                "tune by a ranking metric, such as ndcg@10"
            )


def _files(spec: BenchSpec) -> Iterator[tuple[Loc, str]]:
    for j, model in enumerate(spec.model):
        for key, path in named(model.name, model.settings, space_of(model)):
            where = "settings" if model.settings.get(key) == path else "search"
            yield ("model", j, where, key), path
    for j, data in enumerate(spec.data):
        if data.path is not None:
            yield ("data", j, "path"), data.path
    if spec.ranking.catalogue not in ("fit", "all"):
        yield ("ranking", "catalogue"), spec.ranking.catalogue
    if spec.ranking.eligible is not None:
        yield ("ranking", "eligible"), spec.ranking.eligible


def _check_file(path: Path) -> None:
    if not path.exists():
        raise SpecError(f"there is no file {path}; paths are relative to the benchmark file")
