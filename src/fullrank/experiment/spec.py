"""Benchmark files read; the first problem is told with its line and the nearest known key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from fullrank.core.errors import SpecError, suggest
from fullrank.experiment import _shapes
from fullrank.experiment._lines import line_of
from fullrank.experiment._shapes import (
    BenchSpec,
    DataSpec,
    FilterSpec,
    ModelSpec,
    RankingSpec,
    ReadSpec,
    SplitSpec,
    TuneSpec,
)

__all__ = [
    "BenchSpec",
    "DataSpec",
    "FilterSpec",
    "Locate",
    "ModelSpec",
    "RankingSpec",
    "ReadSpec",
    "SplitSpec",
    "TuneSpec",
    "locator",
    "nearest",
    "nowhere",
    "parse_spec",
    "read_spec",
]

Locate = Callable[[Sequence[str | int]], str]
"""Gives ``"bench.toml line 7: "`` for a place in a benchmark file."""


def nowhere(loc: Sequence[str | int]) -> str:  # noqa: ARG001 - a Locate
    """The locator of a spec that no file holds."""
    return ""


def parse_spec(content: dict[str, Any], where: str = "benchmark", text: str = "") -> BenchSpec:
    """Validate the content of a benchmark file.

    Args:
        content: parsed TOML.
        where: file name for messages.
        text: the TOML source, to name lines.

    Raises:
        SpecError: the first problem, with the key, its line, and the nearest known key.
    """
    try:
        return BenchSpec.model_validate(content)
    except ValidationError as error:
        raise SpecError(_explain(error, locator(where, text))) from error


def read_spec(path: str | Path) -> tuple[BenchSpec, Path]:
    """Read a benchmark file; returns the spec and the folder that its paths are relative to.

    Raises:
        SpecError: the file is missing, no TOML, or no benchmark.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        near = [p.name for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        here = suggest(path.name, near) if near else "; check the path"
        raise SpecError(f"there is no benchmark file {path}{here}") from None
    except IsADirectoryError:
        raise SpecError(f"{path} is a folder; name the benchmark file in it") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SpecError(f"{path} line {line} is not UTF-8; save the file as UTF-8") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(
            f"{path} is not valid TOML: {error}; mend it there or just before (text stands in "
            "quotes, lists in [ ], tables in { }, each key once)"
        ) from None
    return parse_spec(content, str(path), text), path.resolve().parent


def locator(where: str, text: str) -> Locate:
    """A function that names file and line of a place in a benchmark file."""

    def locate(loc: Sequence[str | int]) -> str:
        number = line_of(text, loc)
        return f"{where}{'' if number is None else f' line {number}'}: "

    return locate


def _explain(error: ValidationError, locate: Locate) -> str:
    """One sentence for the first problem."""
    problem = error.errors()[0]
    context = problem.get("ctx", {})
    loc = context.get("loc") or [part for part in problem["loc"] if not _is_tag(part)]
    path, spot = _path(loc), locate(loc)
    if problem["type"] == "extra_forbidden":
        return f"{spot}unknown key {path!r}{_nearest(loc)}"
    if problem["type"] == "missing":
        return f"{spot}the key {path!r} is missing; {_way_to_add(loc)}"
    message = problem["msg"].removeprefix("Value error, ")
    for theirs, ours in _PLAIN_WORDS:
        message = message.replace(theirs, ours)
    if problem["type"] == "inconsistent":
        return f"{spot}{message}"
    given = "" if problem["type"] == "value_error" else f", got {problem['input']!r}"
    if loc in (["data"], ["model"]) and isinstance(problem["input"], dict):
        given += f"; write [[{loc[0]}]] with two brackets, once for each"
    return f"{spot}{path}: {message}{given}"


_PLAIN_WORDS = (
    ("Input should be a valid tuple", "must be a list in [ ]"),
    ("Tuple should have at least 1 item after validation, not 0", "must have at least one entry"),
    ("Input should be a valid dictionary", "must be a table in { }"),
    ("Input should be a valid string", "must be text in quotes"),
    ("Input should be a valid integer", "must be a whole number"),
    ("Input should be a valid number", "must be a number"),
    ("Input should be", "must be"),
)
"""The validator speaks of Python; a benchmark file is TOML."""


def _way_to_add(loc: Sequence[str | int]) -> str:
    """How a missing key or table is written."""
    name = str(loc[-1])
    if name == "metrics":
        return 'add a line metrics = ["ndcg@10"] above the first table'
    if len(loc) == 1:
        return f"add a table {f'[[{name}]]' if name in ('data', 'model') else f'[{name}]'}"
    return f"add a line {name} = … to the table {loc[0]}"


def _is_tag(part: str | int) -> bool:
    """True for what Pydantic adds to a place to tell the arms of a union apart."""
    return isinstance(part, str) and "[" in part


def _path(loc: Sequence[str | int]) -> str:
    """``model[1].trials``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return "".join(parts).removeprefix(".") or "the file"


def nearest(name: str, options: Iterable[str]) -> str:
    """End of a message on an unknown key: the nearest option, and the tables that have this key.

    Args:
        name: the unknown key.
        options: known keys of the table that it was found in.
    """
    here = suggest(name, options)
    homes = [f"{name} {home}" for home, shape in _HOMES.items() if name in shape.model_fields]
    if "did you mean" in here:
        return f"{here.removesuffix('?')}{''.join(f', or {home}' for home in homes)}?"
    return f"; did you mean {', or '.join(homes)}?" if homes else here


def _nearest(loc: Sequence[str | int]) -> str:
    """``nearest`` for a key at a place; settings of a model have a table of their own."""
    name = str(loc[-1])
    end = nearest(name, _keys_at(list(loc[:-1])))
    if "did you mean" not in end and loc[0] == "model" and len(loc) == 3:
        return f"{end}; a setting of the model itself stands in settings = {{ {name} = … }}"
    return end


_HOMES: dict[str, type[BaseModel]] = {
    "above the first table": BenchSpec,
    "under [[data]]": DataSpec,
    "in read = { } under [[data]]": ReadSpec,
    "under [filters]": FilterSpec,
    "under [split]": SplitSpec,
    "under [ranking]": RankingSpec,
    "under [tune]": TuneSpec,
    "under [[model]]": ModelSpec,
}
"""Tables of a benchmark file, as people find them there."""


def _keys_at(loc: list[Any]) -> list[str]:
    """Known keys of the table at a place."""
    model: Any = BenchSpec
    for part in loc:
        if isinstance(part, str):
            field = model.model_fields[part]
            found = re.findall(r"(\w+Spec)", str(field.annotation))
            if not found:
                return []
            model = getattr(_shapes, found[0])
    return sorted(model.model_fields)
