"""Benchmark files read; the first problem is told with its line and the nearest known key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from fullrank.core.errors import SpecError, suggest
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
    "parse_as",
    "parse_spec",
    "read_spec",
    "read_text",
]

Shape = TypeVar("Shape", bound=BaseModel)

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
    return parse_as(BenchSpec, content, locator(where, text))


def parse_as(shape: type[Shape], content: dict[str, Any], locate: Locate = nowhere) -> Shape:
    """Validate content against a shape.

    Args:
        shape: a model that forbids unknown keys.
        content: parsed TOML, or a table of values that are validated already.
        locate: names file and line of a place.

    Raises:
        SpecError: the first problem, with the key, its line, and the nearest known key.
    """
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        raise SpecError(_explain(error, locate, shape)) from error


def read_spec(path: str | Path) -> tuple[BenchSpec, Path]:
    """Read a benchmark file; returns the spec and the folder that its paths are relative to.

    Raises:
        SpecError: the file is missing, no TOML, or no benchmark.
    """
    content, text = read_text(path, "benchmark file")
    return parse_spec(content, str(path), text), Path(path).resolve().parent


def read_text(path: str | Path, what: str) -> tuple[dict[str, Any], str]:
    """Content and source of a TOML file.

    Args:
        path: of the file.
        what: it is, for messages.

    Raises:
        SpecError: the file is missing, or no TOML.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        near = [p.name for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        here = suggest(path.name, near) if near else "; check the path"
        raise SpecError(f"there is no {what} {path}{here}") from None
    except IsADirectoryError:
        raise SpecError(f"{path} is a folder; name the {what} in it") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SpecError(f"{path} line {line} is not UTF-8; save the file as UTF-8") from None
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise SpecError(
            f"{path} is not valid TOML: {error}; mend it there or just before (text stands in "
            "quotes, lists in [ ], tables in { }, each key once)"
        ) from None


def locator(where: str, text: str) -> Locate:
    """A function that names file and line of a place in a benchmark file."""

    def locate(loc: Sequence[str | int]) -> str:
        number = line_of(text, loc)
        return f"{where}{'' if number is None else f' line {number}'}: "

    return locate


def _explain(error: ValidationError, locate: Locate, root: type[BaseModel]) -> str:
    """One sentence for the first problem."""
    problem = error.errors()[0]
    context = problem.get("ctx", {})
    loc = context.get("loc") or [part for part in problem["loc"] if not _is_tag(part)]
    path, spot = _path(loc), locate(loc)
    if problem["type"] == "extra_forbidden":
        return f"{spot}unknown key {path!r}{_nearest(loc, root)}"
    if problem["type"] == "missing":
        return f"{spot}the key {path!r} is missing; {_way_to_add(loc, root)}"
    message = re.sub(r" or instance of \w+", "", problem["msg"].removeprefix("Value error, "))
    for theirs, ours in _PLAIN_WORDS:
        message = message.replace(theirs, ours)
    if problem["type"] == "inconsistent":
        return f"{spot}{message}"
    given = "" if problem["type"] == "value_error" else f", got {problem['input']!r}"
    return f"{spot}{path}: {message}{given}{_brackets(loc, problem['input'], root)}"


def _brackets(loc: Sequence[str | int], found: Any, root: type[BaseModel]) -> str:
    """Advice where a table stands in place of an array of tables, or the other way round."""
    shape, several = _field_at(loc, root)
    if shape is None:
        return ""
    if several and isinstance(found, dict):
        return f"; write [[{_header(loc)}]] with two brackets, once for each"
    if not several and isinstance(found, list):
        return f"; write [{_header(loc)}] with one bracket, once"
    return ""


_PLAIN_WORDS = (
    ("Input should be a valid tuple", "must be a list in [ ]"),
    ("Tuple should have at least 1 item after validation, not 0", "must have at least one entry"),
    ("Tuple should have at least 2 items after validation, not", "must have at least two, not"),
    ("Input should be a valid dictionary", "must be a table in { }"),
    ("Input should be a valid string", "must be text in quotes"),
    ("Input should be a valid integer", "must be a whole number"),
    ("Input should be a valid number", "must be a number"),
    ("Input should be", "must be"),
)
"""The validator speaks of Python; a benchmark file is TOML."""


def _way_to_add(loc: Sequence[str | int], root: type[BaseModel]) -> str:
    """How a missing key or table is written."""
    name, where = str(loc[-1]), _header(loc[:-1])
    shape, several = _field_at(loc, root)
    if several:
        return f"add a table [[{_header(loc)}]]"
    if shape is not None and not where:
        return f"add a table [{name}]"
    if name == "metrics":
        place = f"in the table {where}" if where else "above the first table"
        return f'add a line metrics = ["ndcg@10"] {place}'
    return f"add a line {name} = … {f'to the table {where}' if where else 'above the first table'}"


def _header(loc: Sequence[str | int]) -> str:
    """A place as the header of a table has it, without numbers."""
    return ".".join(part for part in loc if isinstance(part, str))


def _is_tag(part: str | int) -> bool:
    """True for what Pydantic adds to a place to tell the arms of a union apart."""
    return isinstance(part, str) and "[" in part


def _path(loc: Sequence[str | int]) -> str:
    """``model[1].trials``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return "".join(parts).removeprefix(".") or "the file"


def nearest(name: str, options: Iterable[str], root: type[BaseModel] = BenchSpec) -> str:
    """End of a message on an unknown key: the nearest option, and the tables that have this key.

    Args:
        name: the unknown key.
        options: known keys of the table that it was found in.
        root: shape of the whole file.
    """
    here = suggest(name, options)
    homes = [f"{name} {home}" for home, shape in _homes(root) if name in shape.model_fields]
    if "did you mean" in here:
        return f"{here.removesuffix('?')}{''.join(f', or {home}' for home in homes)}?"
    return f"; did you mean {', or '.join(homes)}?" if homes else here


def _nearest(loc: Sequence[str | int], root: type[BaseModel]) -> str:
    """``nearest`` for a key at a place; settings of a model have a table of their own."""
    name = str(loc[-1])
    shape, _ = _field_at(loc[:-1], root)
    end = nearest(name, sorted((shape or root).model_fields), root)
    settles = shape is not None and "settings" in shape.model_fields
    if "did you mean" not in end and settles:
        return f"{end}; a setting of the model itself stands in settings = {{ {name} = … }}"
    return end


def _homes(root: type[BaseModel], where: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Tables of a file, as people find them there."""
    if not where:
        yield "above the first table", root
    for name in root.model_fields:
        shape, several = _field_at([name], root)
        if shape is None:
            continue
        header = f"{where}.{name}" if where else name
        if several or not where:
            yield f"under {f'[[{header}]]' if several else f'[{header}]'}", shape
        else:
            yield f"in {name} = {{ }} under [[{where}]]", shape
        if several:
            yield from _homes(shape, header)


def _field_at(
    loc: Sequence[str | int], root: type[BaseModel]
) -> tuple[type[BaseModel] | None, bool]:
    """The shape of the table at a place, and whether it is one of several; None for no table."""
    shape: type[BaseModel] | None = root
    several = False
    for part in loc:
        if isinstance(part, int):
            several = False
        elif shape is None or part not in shape.model_fields:
            return None, False
        else:
            annotation = shape.model_fields[part].annotation
            shape = _shape_in(annotation)
            several = shape is not None and shape is not annotation and _is_tuple(annotation)
    return shape, several


def _is_tuple(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) is tuple


def _shape_in(annotation: Any) -> type[BaseModel] | None:
    """The table that an annotation speaks of, whole or as an entry of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        found = _shape_in(part)
        if found is not None:
            return found
    return None
