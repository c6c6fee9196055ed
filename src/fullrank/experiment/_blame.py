"""Errors of somebody else's model are told as such, and not as a bug of fullrank."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fullrank.core.errors import FullrankError
from fullrank.experiment.spec import ModelSpec


class ModelError(FullrankError, RuntimeError):
    """A plug-in model raised what it should not have."""


@contextmanager
def blamed(model: ModelSpec) -> Iterator[None]:
    """Name the model in unexpected errors, if its code is not ours.

    Raises:
        ModelError: in place of any error that fullrank did not raise on purpose.
    """
    try:
        yield
    except FullrankError:
        raise
    except Exception as error:
        if ":" not in model.name:
            raise
        raise ModelError(
            f"model {model.title!r} ({model.name}) failed: {type(error).__name__}: {error}; "
            "the fault is in its code (--debug shows where)"
        ) from error
