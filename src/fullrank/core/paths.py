"""Places to write to, checked before the work whose result they shall hold."""

from __future__ import annotations

from pathlib import Path

from fullrank.core.errors import SpecError


def check_file_place(path: str | Path) -> None:
    """Refuse a path that no file can be written to.

    Raises:
        SpecError: it is a folder, or something above it is a file.
    """
    path = Path(path)
    if path.is_dir():
        raise SpecError(f"can't write {path}: it is a folder; name a file in it")
    _check_above(path)


def check_folder_place(path: str | Path) -> None:
    """Refuse a path that can't become a folder.

    Raises:
        SpecError: it, or something above it, is a file.
    """
    path = Path(path)
    if path.is_file():
        raise SpecError(f"can't use {path} as a folder: it is a file; name another place")
    _check_above(path)


def _check_above(path: Path) -> None:
    for parent in path.parents:
        if parent.is_dir():
            return
        if parent.is_file():
            raise SpecError(
                f"can't write {path}: {parent} is a file, no folder; name another place"
            )
