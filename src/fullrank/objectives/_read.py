"""Read an objective from its text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fullrank.core import registry
from fullrank.core.call import made, plain, read_call
from fullrank.core.errors import SpecError
from fullrank.objectives._base import Objective


def objective(
    given: str | Objective, *, model: str = "", shapes: Collection[str] | None = None
) -> Objective:
    """An objective from its text, such as ``"bpr"`` or ``"softmax(log_q=false)"``.

    Args:
        given: the text; an objective is returned as it is.
        model: who asks, for messages.
        shapes: those that the model can take; None for all.

    Raises:
        SpecError: no such objective or option, or one that the model can't take.

    Example:
        >>> objective("hinge(margin=0.5)")
        Hinge(margin=0.5)
    """
    found = given if isinstance(given, Objective) else _read(given)
    if shapes is not None and found.shape not in shapes:
        fitting = [name for name in registry.names("objective") if _shape(name) in shapes]
        raise SpecError(
            f"{model}: the objective {found} compares {_WORDS[found.shape]}, which this model "
            f"can't do; take one of {', '.join(fitting)}"
        )
    return found


_WORDS = {
    "points": "single items with 0 and 1",
    "pairs": "pairs of items",
    "list": "an item with all those drawn",
    "catalogue": "an item with the whole catalogue",
}


def _read(text: str) -> Objective:
    known: dict[str, Any] = {
        plain(name): registry.find("objective", name) for name in registry.names("objective")
    }
    found: Objective = made(read_call(text, "objective"), "objective", known)
    return found


def _shape(name: str) -> str:
    return str(registry.find("objective", name).shape)
