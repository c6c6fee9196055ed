"""Registries are the sorted ``__all__`` of packages, extended by entry points."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from importlib.metadata import entry_points
from typing import Any

from fullrank.core.errors import SpecError, suggest

GROUPS = {
    "model": "fullrank.models",
    "metric": "fullrank.metrics",
    "split": "fullrank.split",
    "filter": "fullrank.data.filters",
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
    module, _, attribute = path.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SpecError(f"can't import {kind} {path!r}: {error}") from error


def build(kind: str, name: str, settings: dict[str, Any]) -> Any:
    """Construct a plug-in from settings; unknown or missing ones are errors with a suggestion."""
    target = find(kind, name)
    if is_dataclass(target):
        check_settings(f"{kind} {name!r}", target, settings)
    try:
        return target(**settings)
    except TypeError as error:
        raise SpecError(f"{kind} {name!r} can't be built from {settings!r}: {error}") from error


def check_settings(where: str, target: Any, settings: Iterable[str]) -> None:
    """Refuse settings that a dataclass doesn't have, and demand those without default."""
    known = {f.name: f for f in fields(target) if f.init}
    for key in settings:
        if key not in known:
            raise SpecError(f"{where} has no setting {key!r}{suggest(key, known)}")
    for name, f in known.items():
        required = f.default is MISSING and f.default_factory is MISSING
        if required and name not in settings:
            raise SpecError(f"{where} needs the setting {name!r}")
