"""Data sets by name: where they are looked for, their published counts, terms and citation.

A family of sets is one module with ``ENTRIES``; adding a set is adding an entry.
"""

from __future__ import annotations

from fullrank.core.dataset import Dataset
from fullrank.core.errors import DataError, suggest
from fullrank.data.sources import amazon, movielens, others, retail, sessions
from fullrank.data.sources._base import SideTable, SourceInfo, load

__all__ = [
    "SideTable",
    "SourceInfo",
    "is_source",
    "list_sources",
    "read_source",
    "source_info",
]

_ENTRIES: dict[str, SourceInfo] = {
    entry.name: entry
    for family in (amazon, movielens, others, retail, sessions)
    for entry in sorted(family.ENTRIES, key=lambda entry: entry.name)
}


def list_sources() -> list[SourceInfo]:
    """All entries, by name; ``available`` says whether the files are at hand."""
    return [_ENTRIES[name] for name in sorted(_ENTRIES)]


def is_source(name: str) -> bool:
    """True if a data set has this name."""
    return name in _ENTRIES


def source_info(name: str) -> SourceInfo:
    """The entry of a data set.

    Raises:
        DataError: no such name; suggests the nearest.
    """
    if name not in _ENTRIES:
        raise DataError(
            f"there is no data set {name!r}{suggest(name, _ENTRIES)} (and no file of this name)"
        )
    return _ENTRIES[name]


def read_source(name: str) -> Dataset:
    """Read a data set by name: rows, tables of users and items, terms and citation.

    Raises:
        DataError: no such name, its files aren't at hand, or their counts aren't the published.
    """
    return load(source_info(name))
