"""The store: a folder with one sub-folder per finished cell, written aside and renamed into place.

Killing the process at any moment loses at most the cell or trial in flight; what is half written
lies under ``tmp/`` and is swept by the next run. Several processes may share a store: each cell
is worked on under a file lock that the system releases when its holder dies.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from datetime import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullrank.core.errors import StoreError
from fullrank.core.paths import check_folder_place

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
"""Raised when an older version could misread a store."""


def key_of(content: Mapping[str, Any]) -> str:
    """A name for a JSON value: 128 bits of its canonical text, in hex."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def plain(value: Any) -> Any:
    """What JSON knows, of tuples, NumPy scalars, and the dates of TOML."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, date | clock):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value


def write_json(path: Path, content: Any) -> None:
    """Write JSON aside and rename it into place."""
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    _dump(aside, content)
    _flush(aside)
    aside.replace(path)


def _dump(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False)
    path.write_text(text, encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read JSON; damaged files are an error that names them."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} is damaged ({error}); {_way_to_mend(path)}") from error


def _trial(path: Path) -> dict[str, Any]:
    """A finished trial."""
    trial = read_json(path)
    if not isinstance(trial, dict) or not isinstance(trial.get("settings"), dict):
        raise StoreError(f"{path} is damaged (it has no settings); {_way_to_mend(path)}")
    if missing := [name for name in ("number", "value") if name not in trial]:
        raise StoreError(f"{path} is damaged (it has no {missing[0]}); {_way_to_mend(path)}")
    return trial


def _way_to_mend(path: Path) -> str:
    if path.name == "store.json":
        return f'if the folder is a store of this version, write {{"format": {FORMAT}}} into it'
    what = f"the folder {path.parent}" if path.name == "cell.json" else "it"
    return f"delete {what} and run the benchmark again, which makes it anew"


@dataclass(frozen=True)
class Store:
    """A folder of results.

    Attributes:
        folder: the root; ``cells/``, ``tune/``, ``locks/`` and ``tmp/`` lie in it.
    """

    folder: Path

    @staticmethod
    def is_new(folder: str | Path) -> bool:
        """True if a store would have to be made there.

        Raises:
            StoreError: the folder holds other things.
            SpecError: it can't be a folder.
        """
        folder = Path(folder)
        check_folder_place(folder)
        if (folder / "store.json").exists():
            return False
        _refuse_taken(folder)
        return True

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Store:
        """Open a store, or make one.

        Raises:
            StoreError: no store there, one of another format, or a folder with other things.
        """
        folder = Path(folder)
        mark = folder / "store.json"
        if not mark.exists():
            if not create:
                raise StoreError(
                    f"{folder} is no store (no store.json); name the folder that "
                    "`fullrank run --store` wrote"
                )
            _claim(folder)
            _put_mark(mark)
        content = read_json(mark)
        found = content.get("format") if isinstance(content, dict) else None
        if found != FORMAT:
            raise StoreError(
                f"{folder} has store format {found!r} and this version reads {FORMAT}; run the "
                "benchmark into a new folder, or use the version that wrote it"
            )
        store = cls(folder)
        for name in ("cells", "tune", "locks", "tmp"):
            (folder / name).mkdir(exist_ok=True)
        return store

    def cell(self, key: str) -> Path:
        """Folder of a finished cell."""
        return self.folder / "cells" / key

    def has_cell(self, key: str) -> bool:
        """True if the cell is finished."""
        return (self.cell(key) / "cell.json").exists()

    def cells(self) -> list[Path]:
        """Folders of all finished cells, by key."""
        return sorted(path.parent for path in (self.folder / "cells").glob("*/cell.json"))

    def put_cell(
        self, key: str, about: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]
    ) -> None:
        """Write a cell: ``cell.json`` and a Parquet file per table, all or nothing."""
        aside = self.folder / "tmp" / f"{key}-{uuid.uuid4().hex}"
        aside.mkdir(parents=True)
        for name, table in tables.items():
            table.write_parquet(aside / f"{name}.parquet")
        _dump(aside / "cell.json", about)
        _sync([*aside.iterdir()])
        _sync([aside])
        place = self.cell(key)
        if self.has_cell(key):  # another process was faster; its cell is the same
            shutil.rmtree(aside)
            return
        if place.exists():  # someone deleted a damaged cell.json and left the tables
            shutil.rmtree(place)
        aside.rename(place)
        _sync([self.folder / "cells"])

    def failure(self, key: str) -> str | None:
        """Why a cell could not be made when it was last tried; None if nothing is kept of it."""
        path = self.folder / "failures" / f"{key}.json"
        if not path.exists():
            return None
        found = read_json(path)
        if not isinstance(found, dict) or not isinstance(found.get("error"), str):
            raise StoreError(f"{path} is damaged (it has no error); {_way_to_mend(path)}")
        return str(found["error"])

    def put_failure(self, key: str, model: str, error: str) -> None:
        """Keep why a cell could not be made."""
        folder = self.folder / "failures"
        folder.mkdir(exist_ok=True)
        write_json(folder / f"{key}.json", {"model": model, "error": error})

    def trials(self, key: str) -> list[dict[str, Any]]:
        """Finished trials of a search, by number (one may be missing, if its file was deleted)."""
        found = sorted((self.folder / "tune" / key).glob("trial-*.json"))
        return [_trial(path) for path in found]

    def count_trials(self, key: str, below: int | None = None) -> int:
        """How many trials of a search are finished, those of a number below a budget."""
        found = (self.folder / "tune" / key).glob("trial-*.json")
        numbers = [int(path.stem.removeprefix("trial-")) for path in found]
        return sum(below is None or number < below for number in numbers)

    def put_trial(self, key: str, number: int, trial: Mapping[str, Any]) -> None:
        """Write a finished trial."""
        folder = self.folder / "tune" / key
        folder.mkdir(exist_ok=True)
        write_json(folder / f"trial-{number:06d}.json", trial)

    def put_search(self, key: str, about: Mapping[str, Any]) -> None:
        """Write what a search is (once)."""
        folder = self.folder / "tune" / key
        folder.mkdir(exist_ok=True)
        if not (folder / "search.json").exists():
            write_json(folder / "search.json", about)

    @contextmanager
    def lock(self, key: str, *, wait: bool) -> Iterator[bool]:
        """Hold the lock of a cell or search; yields False if another process has it.

        Args:
            key: of the cell or search.
            wait: block until it is free, so that it yields True.
        """
        path = self.folder / "locks" / key
        with path.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True

    @contextmanager
    def session(self) -> Iterator[None]:
        """Mark this process as at work; the first one sweeps what killed processes left."""
        with (self.folder / "locks" / "alive").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for path in (self.folder / "tmp").iterdir():
                    shutil.rmtree(path, ignore_errors=True)
                for path in self.folder.rglob(".*.json.*"):
                    path.unlink(missing_ok=True)
            except BlockingIOError:
                pass  # another process is at work: nothing of its own may be swept
            fcntl.flock(file, fcntl.LOCK_SH)
            yield


def _claim(folder: Path) -> None:
    """Make the folder of a new store."""
    check_folder_place(folder)
    _refuse_taken(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _put_mark(mark: Path) -> None:
    try:
        write_json(mark, {"format": FORMAT})
    except FileNotFoundError:
        # Another process made the store meanwhile, and swept what it took for left behind.
        if not mark.exists():
            raise


def _refuse_taken(folder: Path) -> None:
    """Refuse a folder with other things in it.

    Another process may be making the same store: what it writes aside is no other thing, and it
    puts ``store.json`` in place before anything else.
    """
    others = folder.exists() and [p for p in folder.iterdir() if p.name[:7] != ".store."]
    if others and not (folder / "store.json").exists():
        raise StoreError(f"{folder} holds other things; name a new or empty folder")


def _sync(paths: Sequence[Path]) -> None:
    """Flush files or folders, so that a power cut can't leave a name without its content.

    At once, so that the file system can write its journal once for all of them: one after another
    they took a tenth of the time of a grid of small cells.
    """
    if len(paths) == 1:
        _flush(paths[0])
        return
    with ThreadPoolExecutor(len(paths)) as pool:
        list(pool.map(_flush, paths))


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
