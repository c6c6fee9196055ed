"""Types of settings, as the annotations of a dataclass's fields say them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from math import isfinite
from numbers import Integral, Real
from typing import Any

from fullrank.core.errors import SpecError

_SPELLED = {"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false"}

_KINDS: dict[str, tuple[type, ...]] = {
    "int": (Integral,), "float": (Real,), "str": (str,), "bool": (bool,), "None": (type(None),)
}  # fmt: skip

_LARGEST = 2**63 - 1
"""What an array of whole numbers holds; float64 holds more, but no loop counts to it."""


def check_types(where: str, target: Any, settings: Mapping[str, Any]) -> None:
    """Refuse values of the wrong type, for fields annotated with plain types only.

    Args:
        where: what has the settings, for messages.
        target: a dataclass or one of its objects.
        settings: values of its fields, by name.

    Raises:
        SpecError: a value of another type, a whole number beyond 64 bits, NaN or an infinity.
    """
    for f in fields(target):
        # A Literal's alias can't be read from the text: its default says that it's text.
        parts = ["str"] if isinstance(f.default, str) else _parts(f.type)
        if f.name not in settings or not set(parts) <= set(_KINDS):
            continue
        value = settings[f.name]
        fits = isinstance(value, tuple(kind for part in parts for kind in _KINDS[part]))
        if not fits or (isinstance(value, bool) and "bool" not in parts):
            expected = " or ".join(_SPELLED[part] for part in parts if part != "None")
            raise SpecError(f"{where}: {f.name} must be {expected}, got {value!r}")
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise SpecError(f"{where}: {f.name} must be at most {_LARGEST}, got {value!r}")
        if isinstance(value, float) and not isfinite(value):
            raise SpecError(f"{where}: {f.name} must be a finite number, got {value!r}")


def _parts(annotation: Any) -> list[str]:
    """The types of an annotation by name: it's text under ``from __future__``, else a class."""
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return text.split(" | ")
