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


def check_folder_place(path: str | Path, *, new: bool = False) -> None:
    """Refuse a path that can't become a folder.

    Args:
        path: of the folder.
        new: nothing may be in it.

    Raises:
        SpecError: it, or something above it, is a file, or what was to be new holds something.
    """
    path = Path(path)
    if new and path.is_dir() and any(path.iterdir()):
        raise SpecError(f"{path} exists and is not an empty folder; name a new one")
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
