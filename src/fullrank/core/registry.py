"""Registries are the sorted ``__all__`` of packages, extended by entry points."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib.metadata import entry_points
from math import isfinite
from typing import Any

from fullrank.core.errors import SpecError, suggest
from fullrank.core.settings import check_types

GROUPS = {
    "model": "fullrank.models",
    "metric": "fullrank.metrics",
    "split": "fullrank.split",
    "filter": "fullrank.data.filters",
    "negatives": "fullrank.negatives",
    "objective": "fullrank.objectives",
    "estimator": "fullrank.estimators",
    "subsampler": "fullrank.subsample",
}


def names(kind: str) -> list[str]:
    """Names registered for a kind of plug-in: the package's own, then those of entry points."""
    package = importlib.import_module(GROUPS[kind])
    own = list(getattr(package, "REGISTRY", package.__all__))
    return sorted({*own, *(point.name for point in entry_points(group=GROUPS[kind]))})


def find(kind: str, name: str) -> Any:
    """Look a plug-in up by its registered name, or by ``package.module:Name``.

    Raises:
        SpecError: no such name; the message suggests the nearest.
    """
    package = importlib.import_module(GROUPS[kind])
    if ":" in name:
        return _import(kind, name)
    lower = {known.lower(): known for known in getattr(package, "REGISTRY", package.__all__)}
    if name.lower() in lower:
        return getattr(package, lower[name.lower()])
    for point in entry_points(group=GROUPS[kind]):
        if point.name.lower() == name.lower():
            return point.load()
    raise SpecError(f"unknown {kind} {name!r}{suggest(name, names(kind))}")


def _import(kind: str, path: str) -> Any:
    name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise SpecError(
                f"can't import {kind} {path!r}: there is no module {error.name!r}; put it beside "
                "the benchmark file, or name the folder that holds it in the environment variable "
                "PYTHONPATH"
            ) from error
        raise SpecError(
            f"can't import {kind} {path!r}: {type(error).__name__}: {error}; the fault is in its "
            "module or in what that imports"
        ) from error
    if not hasattr(module, attribute):
        own = [n for n, value in vars(module).items() if getattr(value, "__module__", "") == name]
        raise SpecError(
            f"can't import {kind} {path!r}: module {name!r} has no {attribute!r}"
            f"{suggest(attribute, own)}"
        )
    return getattr(module, attribute)


def build(kind: str, name: str, settings: dict[str, Any]) -> Any:
    """Construct a plug-in from settings; unknown or missing ones are errors with a suggestion."""
    target = find(kind, name)
    is_value = is_dataclass(target) and not isinstance(target, type)
    if is_value:
        return target(**settings)  # a metric is a value; calling it replaces options
    return construct(f"{kind} {name!r}", target, settings)


def construct(where: str, target: Any, settings: Mapping[str, Any]) -> Any:
    """Construct a dataclass from settings of a file, whose names and types are checked.

    Args:
        where: what is built, for messages.
        target: a dataclass.
        settings: its fields.

    Raises:
        SpecError: a setting that is unknown, missing or of the wrong type.
    """
    check_settings(where, target, settings)
    for loc, value in not_finite(settings):
        raise SpecError(f"{where}: {loc[0]} must hold finite numbers, got {value}")
    try:
        built = target(**settings)
    except TypeError as error:
        check_types(where, target, settings)
        raise SpecError(f"{where} can't be built from {dict(settings)!r}: {error}") from error
    check_types(where, target, settings)
    return built


def not_finite(value: Any, loc: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, float]]:
    """Place and value of each infinity and NaN in nested settings: JSON has no word for them."""
    if isinstance(value, float) and not isfinite(value):
        yield loc, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from not_finite(part, (*loc, name))
    elif isinstance(value, list | tuple):
        for j, part in enumerate(value):
            yield from not_finite(part, (*loc, j))


def check_settings(where: str, target: Any, settings: Iterable[str]) -> None:
    """Refuse settings that a dataclass doesn't have, and demand those without default."""
    if not (isinstance(target, type) and is_dataclass(target)):
        raise SpecError(f"{where} is no dataclass with settings; name a class that is a plug-in")
    settings = list(settings)
    known = {f.name: f for f in fields(target) if f.init}
    if _hides_settings(target, settings):
        raise SpecError(
            f"{where}: {target.__name__} keeps its settings to itself; make it a @dataclass, whose "
            "fields are the settings, in place of __init__"
        )
    for key in settings:
        if key not in known:
            raise SpecError(f"{where} has no setting {key!r}{suggest(key, known)}")
    for name, f in known.items():
        required = f.default is MISSING and f.default_factory is MISSING
        if required and name not in settings:
            raise SpecError(f"{where} needs the setting {name!r}; add {name} = …")


def _hides_settings(target: type, settings: Iterable[str]) -> bool:
    """True for a class without ``@dataclass`` that takes, or is given, settings of its own."""
    for part in target.__mro__:
        if "__dataclass_fields__" in vars(part):
            return False
        if "__init__" in vars(part):
            return len(inspect.signature(target).parameters) > 0
        if set(settings) & set(inspect.get_annotations(part)):
            return True
    return False
