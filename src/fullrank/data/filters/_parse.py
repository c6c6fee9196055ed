"""Filters as benchmark files spell them: ``{ core = { users = 5, items = 5 } }``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullrank.core.errors import SpecError, suggest
from fullrank.core.registry import construct, find, names
from fullrank.data.filters._base import Filter


def parse_filter(spec: Mapping[str, Any]) -> Filter:
    """Build a filter from a table with one key, the filter's name.

    Args:
        spec: such as ``{"binarise": {"at": 4}}``; a plug-in as ``{"package.module:Name": {…}}``.

    Raises:
        SpecError: not one key, an unknown filter or setting (the nearest is suggested), or a
            setting that the filter refuses.
    """
    if not isinstance(spec, Mapping) or len(spec) != 1:
        raise SpecError(
            f"a filter is a table with one key, such as {{ core = {{ users = 5 }} }}, got {spec!r}"
        )
    ((name, settings),) = spec.items()
    if not isinstance(settings, Mapping):
        raise SpecError(
            f"filter {name!r} needs a table of settings (it may be empty), got {settings!r}"
        )
    target = _find(name)
    built = construct(f"filter {name!r}", target, settings)
    if not isinstance(built, Filter):
        raise SpecError(f"{name!r} is no filter but {type(built).__name__}")
    return built


def filter_names() -> dict[str, str]:
    """Spelling in benchmark files to registered name, plug-ins included."""
    return {getattr(find("filter", name), "name", name): name for name in names("filter")}


def _find(name: str) -> Any:
    if ":" in name:
        return find("filter", name)
    known = filter_names()
    by_lower = {spelling.lower(): registered for spelling, registered in known.items()}
    registered = by_lower.get(name.lower())
    if registered is None:
        raise SpecError(f"unknown filter {name!r}{suggest(name, known)}")
    return find("filter", registered)
