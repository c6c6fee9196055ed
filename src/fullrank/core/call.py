"""Values written as text: ``name(option=value, …)``, nested where a value is made of others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from fullrank.core.errors import SpecError, suggest
from fullrank.core.registry import construct

T = TypeVar("T")

_TOKEN = re.compile(r"\s*(?:(?P<punct>[(),=])|(?P<word>[^\s(),=]+))")
_WORDS: Mapping[str, Any] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Call:
    """A name with what stands in its brackets.

    Attributes:
        name: as written.
        parts: values without a name, in order.
        options: values by name.
    """

    name: str
    parts: tuple[Any, ...] = ()
    options: Mapping[str, Any] | None = None


def read_call(text: str, what: str) -> Call:
    """Read one value.

    Args:
        text: such as ``"bpr"``, ``"softmax(log_q=true)"`` or ``"mixture(uniform, popularity)"``.
        what: the kind of value, for messages.

    Raises:
        SpecError: text of another form.

    Example:
        >>> read_call("hinge(margin=0.5)", "objective")
        Call(name='hinge', parts=(), options={'margin': 0.5})
    """
    if not isinstance(text, str):
        raise SpecError(f"{what} is written as text, such as 'name' or 'name(option=1)'; got "
                        f"{text!r}")  # fmt: skip
    tokens = list(_tokens(text))
    place, found = _value(tokens, 0, text, what)
    if place != len(tokens) or not isinstance(found, Call):
        raise _unread(text, what)
    return found


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text.strip()):
        yield match["punct"] or match["word"]


def _unread(text: str, what: str) -> SpecError:
    return SpecError(
        f"can't read the {what} {text!r}; expected a form like name or name(option=1, other=true)"
    )


def _value(tokens: list[str], place: int, text: str, what: str) -> tuple[int, Any]:
    """A number, word or call that starts at a token, and the place after it."""
    if place >= len(tokens) or tokens[place] in "(),=":
        raise _unread(text, what)
    word = tokens[place]
    for kind in (int, float):
        try:
            return place + 1, kind(word)
        except ValueError:
            continue
    if place + 1 < len(tokens) and tokens[place + 1] == "(":
        return _brackets(tokens, place, text, what)
    if word.lower() in _WORDS:
        return place + 1, _WORDS[word.lower()]
    return place + 1, Call(word, (), {})


def _brackets(tokens: list[str], place: int, text: str, what: str) -> tuple[int, Call]:
    name, parts, options = tokens[place], [], {}
    place += 2
    while place < len(tokens) and tokens[place] != ")":
        key = None
        if place + 1 < len(tokens) and tokens[place + 1] == "=":
            key, place = tokens[place].lower(), place + 2
        place, value = _value(tokens, place, text, what)
        if key is None:
            parts.append(value)
        elif key in options:
            raise SpecError(f"the option {key!r} is given twice in the {what} {text!r}")
        else:
            options[key] = value
        if place < len(tokens) and tokens[place] == ",":
            place += 1
        elif place >= len(tokens) or tokens[place] != ")":
            raise _unread(text, what)
    if place >= len(tokens):
        raise _unread(text, what)
    return place + 1, Call(name, tuple(parts), options)


def made(call: Call, what: str, known: Mapping[str, Callable[..., T]]) -> T:
    """Construct the dataclass that a call names.

    Args:
        call: what was read; its parts must have been turned into options before.
        what: the kind of value, for messages.
        known: dataclasses by plain name (lower case, no ``-`` and ``_``).

    Raises:
        SpecError: an unknown name or option, or a value that doesn't fit.
    """
    name = plain(call.name)
    if name not in known:
        spelled = [_spelled(key, known[key]) for key in known]
        raise SpecError(f"{_unknown(what, call.name)}{suggest(name, spelled)}")
    if call.parts:
        raise SpecError(
            f"{_of(what, call.name)} takes options by name only, name=value; got {call.parts[0]!r}"
        )
    options = {
        key: value.name if isinstance(value, Call) else value
        for key, value in (call.options or {}).items()
    }
    built: T = construct(_of(what, call.name), known[name], options)
    return built


def _spelled(name: str, target: object) -> str:
    """A plain name as the documents write it: ``cross_entropy`` of the class ``CrossEntropy``."""
    shown = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", getattr(target, "__name__", name)).lower()
    return shown if plain(shown) == name else name


def _of(what: str, name: str) -> str:
    """``the metric 'ndcg'``, or ``BPRMF: negatives 'uniform'`` where a model asks."""
    return f"{what} {name!r}" if ": " in what else f"the {what} {name!r}"


def _unknown(what: str, name: str) -> str:
    """``unknown metric 'x'``, or ``BPRMF: unknown optimiser 'x'``."""
    asker, colon, kind = what.rpartition(": ")
    return f"{asker}{colon}unknown {kind} {name!r}"


def plain(name: str) -> str:
    """A name without case, ``-`` and ``_``."""
    return name.lower().replace("-", "").replace("_", "")


def written(value: Any, name: str) -> str:
    """The text of a dataclass: its name, and those options that differ from the defaults."""
    parts = []
    for f in fields(value):
        given = getattr(value, f.name)
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        if f.init and given != default:
            parts.append(f"{f.name}={_text(given)}")
    return f"{name}({', '.join(parts)})" if parts else name


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
