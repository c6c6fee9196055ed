"""What an entry of the list of data sets says, and how it is found and read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from fullrank.core.dataset import Dataset, Source
from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.data._options import ReadOptions
from fullrank.data._tables import load_table, shape
from fullrank.data._types import guess_types

VARIABLE = "FULLRANK_DATA"
"""Environment variable with the folder (or several, joined as in PATH) that holds data sets."""


@dataclass(frozen=True)
class SideTable:
    """A table about users or items that comes with a set.

    Attributes:
        of: whom it describes.
        file: path within the set's folder.
        key: its column with the id.
        names: names of the columns of a file without header.
        options: how to read the file.
        make: reads the table from its path instead, where no option could.
    """

    of: Literal["users", "items"]
    file: str
    key: str
    names: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    make: Callable[[Path], pl.DataFrame] | None = None


@dataclass(frozen=True)
class SourceInfo:
    """An entry of the list of data sets.

    Attributes:
        name: what ``read`` is called with.
        title: what it is, in a line.
        licence: terms as published.
        citation: what to cite.
        url: home of the set.
        rows: published number of rows, None if nothing is published for this file.
        users: published number of users.
        items: published number of items.
        files: places of the interactions within the folder; the first that is there is read.
        folder: folder within ``FULLRANK_DATA``; the name if empty.
        columns: names in the file by role, where they can't be told.
        side: tables about users and items, read where they are there.
        prepare: turns the columns of the file into those of interactions.
        notes: what a user must know.
        instead: for sets that hold no interactions: what they hold and how to load it.
        bundled: comes with fullrank.
    """

    name: str
    title: str
    licence: str
    citation: str = ""
    url: str = ""
    rows: int | None = None
    users: int | None = None
    items: int | None = None
    files: tuple[str, ...] = ("interactions.parquet",)
    folder: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    side: tuple[SideTable, ...] = ()
    prepare: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    notes: str = ""
    instead: str = ""
    bundled: bool = False

    @property
    def source(self) -> Source:
        """Terms and citation, as a Dataset carries them."""
        return Source(self.name, self.licence, self.citation, self.url, self.notes)

    @property
    def available(self) -> bool:
        """True if the set's files are at hand."""
        return find_file(self, self.files) is not None


def roots() -> list[Path]:
    """The folders that ``FULLRANK_DATA`` names."""
    return [Path(p).expanduser() for p in os.environ.get(VARIABLE, "").split(os.pathsep) if p]


def find_file(info: SourceInfo, files: tuple[str, ...]) -> Path | None:
    """The first of some files that is there, in the set's folder or its ``native`` folder."""
    if info.bundled:
        bases = [Path(__file__).parents[1] / "bundled"]
    else:
        bases = [root / (info.folder or info.name) for root in roots()]
    # All places of a preferred file come before those of the next.
    places = (base / sub / name for name in files for base in bases for sub in ("", "native"))
    return next((place for place in places if place.is_file()), None)


def load(info: SourceInfo) -> Dataset:
    """Read a set, check it against its published counts, and add its tables.

    Raises:
        DataError: its files aren't at hand, it holds no interactions, or the counts differ.
    """
    # The reader itself asks for named sources.
    from fullrank.data._reader import to_interactions

    if info.instead:
        raise DataError(f"{info.name} holds no interactions: {info.instead}")
    path = find_file(info, info.files)
    if path is None:
        raise DataError(_missing(info))
    options = ReadOptions(info.columns)
    table = load_table(path, options, typed=info.prepare is None)
    if info.prepare is not None:
        table = replace(table, frame=info.prepare(table.frame))
    interactions = to_interactions(shape(table, options), options)
    _check_counts(info, interactions, path)
    step = {"step": "read", "source": info.name, "notes": interactions.recipe[0]["notes"]}
    tables = {of: _side_table(info, of) for of in ("users", "items")}
    return Dataset(replace(interactions, recipe=(step,)), **tables, source=info.source)


def _missing(info: SourceInfo) -> str:
    where = f"{info.folder or info.name}/{info.files[0]}"
    get = f"get the set from {info.url}" if info.url else "get the set"
    if not roots():
        return (
            f"{info.name} is known, but no folder with data sets is set; {get}, and set the "
            f"environment variable {VARIABLE} to the folder that holds {where}"
        )
    looked = ", ".join(str(root) for root in roots())
    return f"{info.name} is known, but {where} is not in {VARIABLE} ({looked}); {get}"


def _check_counts(info: SourceInfo, interactions: Interactions, path: Path) -> None:
    found = {
        "rows": len(interactions), "users": interactions.n_users, "items": interactions.n_items
    }  # fmt: skip
    for what, count in found.items():
        expected = getattr(info, what)
        if expected is not None and count != expected:
            raise DataError(
                f"{info.name}: expected {expected:,} {what} as published, found {count:,} in "
                f"{path}; the file is not the published set (fetch it again), or read it by its "
                "path to use it as it is"
            )


def _side_table(info: SourceInfo, of: str) -> pl.DataFrame | None:
    for side in info.side:
        path = find_file(info, (side.file,)) if side.of == of else None
        if path is None:
            continue
        if side.make is not None:
            return side.make(path)
        return _read_side(side, path)
    return None


def _read_side(side: SideTable, path: Path) -> pl.DataFrame:
    table = load_table(path, ReadOptions(header=False if side.names else None, **side.options))
    frame = table.frame
    if side.names:
        frame.columns = list(side.names)
    if not table.typed:
        frame = guess_types(replace(table, frame=frame), {})
    key = "user_id" if side.of == "users" else "item_id"
    return frame.rename({side.key: key})
