"""Samplers as texts: ``RandomUsers``, ``SVPCF(unit=user, proxy=EASE(reg=300))``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullrank.core.call import Call, plain, read_call
from fullrank.core.errors import SpecError, suggest
from fullrank.core.registry import construct, find, names
from fullrank.subsample._base import Sampler


def parse_sampler(text: str, settings: Mapping[str, Any] | None = None) -> Sampler:
    """Read a strategy.

    Args:
        text: a name as ``fullrank list subsamplers`` has it (case, ``-`` and ``_`` don't matter),
            with settings in brackets if wanted; a plug-in as ``package.module:Name``.
        settings: further ones, by name.

    Raises:
        SpecError: an unknown name or setting, or a value that doesn't fit.

    Example:
        >>> parse_sampler("head_users"), str(parse_sampler("stratified"))
        (HeadUsers(), 'Stratified')
    """
    call = read_call(text, "strategy")
    if call.parts:
        raise SpecError(
            f"the strategy {call.name!r} takes settings by name only, name=value; got "
            f"{call.parts[0]!r}"
        )
    given = {key: _value(value) for key, value in (call.options or {}).items()}
    twice = sorted(set(given) & set(settings or {}))
    if twice:
        raise SpecError(f"the strategy {call.name!r} has the setting {twice[0]!r} twice")
    target = find("subsampler", _registered(call.name))
    built = construct(f"strategy {call.name!r}", target, {**given, **(settings or {})})
    if not isinstance(built, Sampler):
        raise SpecError(f"{call.name!r} is no strategy but {type(built).__name__}")
    return built


def _registered(name: str) -> str:
    if ":" in name:
        return name
    known = {plain(one): one for one in names("subsampler")}
    if plain(name) not in known:
        raise SpecError(f"unknown strategy {name!r}{suggest(name, known.values())}")
    return known[plain(name)]


def _value(value: Any) -> Any:
    """A setting as its class takes it: words and nested values stay text."""
    return call_text(value) if isinstance(value, Call) else value


def call_text(call: Call) -> str:
    """The text that a call was read from, up to blanks."""
    parts = [str(_value(part)) for part in call.parts]
    parts += [f"{key}={_plain(_value(value))}" for key, value in (call.options or {}).items()]
    return f"{call.name}({', '.join(parts)})" if parts else call.name


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
