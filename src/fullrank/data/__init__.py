"""Read and write data of any kind; filters, named sources, what is in a data set.

Submodules load Polars; importing this package alone doesn't.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullrank.data._frames import to_frame
    from fullrank.data._reader import read
    from fullrank.data._tables import read_table
    from fullrank.data.encode import encode_column, encode_columns
    from fullrank.data.sources import SourceInfo, list_sources, source_info
    from fullrank.data.summary import Summary, describe
    from fullrank.data.writing import write_interactions, write_table

__all__ = [
    "SourceInfo",
    "Summary",
    "describe",
    "encode_column",
    "encode_columns",
    "list_sources",
    "read",
    "read_table",
    "source_info",
    "to_frame",
    "write_interactions",
    "write_table",
]

_HOMES = {
    "SourceInfo": "sources",
    "Summary": "summary",
    "describe": "summary",
    "encode_column": "encode",
    "encode_columns": "encode",
    "list_sources": "sources",
    "read": "_reader",
    "read_table": "_tables",
    "source_info": "sources",
    "to_frame": "_frames",
    "write_interactions": "writing",
    "write_table": "writing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
