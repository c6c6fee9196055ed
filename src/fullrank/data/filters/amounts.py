"""Shares and counts: exact arithmetic for "a tenth of the rows", and checks of the settings."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError

# Shares are read as decimals of up to six digits, so that 0.1 is a tenth and not the double near it
_DENOMINATOR = 10**6


def rounded_share(n: int | NDArray[np.int64], share: float) -> Any:
    """Return ``share * n`` rounded to the nearest whole number, halves up, without float error.

    Args:
        n: a count, or int64 ``[u]`` counts.
        share: in [0, 1].
    """
    part = Fraction(str(float(share))).limit_denominator(_DENOMINATOR)
    return (2 * part.numerator * n + part.denominator) // (2 * part.denominator)


def plain_settings(settings: Any) -> dict[str, Any]:
    """Fields of a dataclass by name, tuples as lists, so that a trip through JSON changes none."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(settings).items()}


def check_share(where: str, name: str, value: object, *, zero: bool = False) -> None:
    """Refuse a setting that is no share in (0, 1), or in [0, 1) with ``zero``."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not (0 <= float(value) < 1) or (value == 0 and not zero):  # type: ignore[arg-type]
        span = "[0, 1)" if zero else "(0, 1)"
        raise SpecError(f"{where}: {name} must be a share in {span}, got {value!r}")


def check_count(where: str, name: str, value: object, *, least: int = 0) -> None:
    """Refuse a setting that is no whole number of at least ``least``."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        raise SpecError(f"{where}: {name} must be a whole number >= {least}, got {value!r}")


def check_choice(where: str, name: str, value: object, options: tuple[str, ...]) -> None:
    """Refuse a setting that is none of the options."""
    if value not in options:
        raise SpecError(f"{where}: {name} must be one of {', '.join(options)}, got {value!r}")
