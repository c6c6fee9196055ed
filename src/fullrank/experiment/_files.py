"""Files that settings of models name: relative to the benchmark file, told apart by content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fullrank.core.errors import SpecError
from fullrank.core.registry import find


def located(name: str, settings: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Settings whose files are named from where the process is.

    Args:
        name: of a model in a benchmark file.
        settings: its settings, with paths relative to ``base``.
        base: folder of the benchmark file.
    """
    files = _names(name)
    return {
        key: str(base / value) if key in files and isinstance(value, str) and value else value
        for key, value in settings.items()
    }


def files_of(
    name: str, settings: Mapping[str, Any], base: Path, space: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What a key must hold beside the settings of a model: ``{"files": {path: hash}}``, or nothing.

    Args:
        name: of the model.
        settings: its settings.
        base: folder that paths are relative to.
        space: a search, whose choices may be files too.

    Raises:
        SpecError: a file is not there.
    """
    found = {path: _digest(base / path) for _, path in named(name, settings, space)}
    return {"files": found} if found else {}


def named(
    name: str, settings: Mapping[str, Any], space: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, str]]:
    """Each setting of a model that names a file, and the path."""
    for key in _names(name):
        choices = (space or {}).get(key)
        values = [settings.get(key), *(choices if isinstance(choices, list) else ())]
        yield from ((key, value) for value in values if isinstance(value, str) and value)


def _names(name: str) -> tuple[str, ...]:
    return tuple(getattr(find("model", name), "file_settings", ()))


def _digest(path: Path) -> str:
    """Hash of a file's bytes."""
    if not path.is_file():
        raise SpecError(f"there is no file {path}; paths are relative to the benchmark file")
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
