"""Libraries of the extra ``advise``, or an error that says how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fullrank.core.errors import SpecError


def sklearn(module: str) -> Any:
    """A module of scikit-learn.

    Args:
        module: such as ``"linear_model"``.

    Raises:
        SpecError: it is not installed.
    """
    return _found(f"sklearn.{module}", "scikit-learn")


def xgboost() -> Any:
    """XGBoost.

    Raises:
        SpecError: it is not installed.
    """
    return _found("xgboost", "XGBoost")


def _found(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise SpecError(
            f"this learner needs {name}, which is not installed; pip install 'fullrank[advise]'"
        ) from error
