"""Where in a TOML file a value stands, for messages: the parser keeps no line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Loc = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_KEY = re.compile(rf"^\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")


def line_of(text: str, loc: Sequence[str | int]) -> int | None:
    """Line (from 1) of the value at a place such as ``("model", 1, "trials")``.

    Falls back to what encloses it: the key whose inline value holds it, or the table's header; or
    to the first of several tables where one was looked for.
    """
    wanted = tuple(loc)
    places = list(_places(text))
    for n in range(len(wanted), 0, -1):
        for j, (number, path) in enumerate(places):
            if path == wanted[:n]:
                end = places[j + 1][0] if j + 1 < len(places) else None
                return _inside(text, number, end, wanted[n:])
    return next((number for number, path in places if path[:1] == wanted[:1]), None)


def _places(text: str) -> Iterator[tuple[int, Loc]]:
    """Line and path of each header and key."""
    table: Loc = ()
    seen: dict[Loc, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header:
            table = _resolve(_split(header[2]), seen)
            if header[1] == "[[":
                seen[table] = seen.get(table, -1) + 1
                table = (*table, seen[table])
            yield number, table
        elif key:
            yield number, (*table, *_split(key[1]))


def _resolve(names: Loc, seen: dict[Loc, int]) -> Loc:
    """Put the number of the latest element behind each name of an array of tables but the last."""
    out: Loc = ()
    for name in names[:-1]:
        out = (*out, name)
        if out in seen:
            out = (*out, seen[out])
    return (*out, *names[-1:])


def _split(key: str) -> Loc:
    return tuple(part.strip().strip("\"'") for part in key.split("."))


def _inside(text: str, start: int, end: int | None, rest: Loc) -> int:
    """Line of the innermost key of ``rest`` within a value that may span lines."""
    lines = text.splitlines()[start - 1 : None if end is None else end - 1]
    for key in reversed([part for part in rest if isinstance(part, str)]):
        pattern = re.compile(rf"(^|[{{,\s\"'])({re.escape(key)})[\"']?\s*[=.]")
        for j, line in enumerate(lines):
            if pattern.search(line):
                return start + j
    return start
