"""scikit-learn, or an error that says how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fullrank.core.errors import SpecError


def sklearn(module: str) -> Any:
    """A module of it.

    Args:
        module: such as ``"linear_model"``.

    Raises:
        SpecError: it is not installed.
    """
    try:
        return import_module(f"sklearn.{module}")
    except ModuleNotFoundError as error:
        raise SpecError(
            "this learner needs scikit-learn, which is not installed; pip install "
            "'fullrank[advise]'"
        ) from error
