"""Rounding: the one place where values, p-values, times and sizes become text."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from fullrank.core.brief import duration

UNDEFINED = "–"
"""What a table shows where there is no value."""


def known(value: float | None) -> bool:
    """True for a finite number: None, NaN and infinities are undefined."""
    return value is not None and isfinite(value)


def decimals_for(values: Iterable[float | None]) -> int:
    """Decimals that suit a column: four up to 10, then fewer as the values grow."""
    largest = max((abs(v) for v in values if v is not None and isfinite(v)), default=0.0)
    for limit, decimals in ((10, 4), (100, 2), (10_000, 1)):
        if largest < limit:
            return decimals
    return 0


def value_text(value: float | None, decimals: int = 4, *, sign: bool = False) -> str:
    """A value at fixed decimals; never ``-0.0000``.

    Args:
        value: None or NaN where undefined.
        decimals: digits after the point.
        sign: put ``+`` before what is above 0.
    """
    if value is None or not isfinite(value):
        return UNDEFINED
    text = f"{value:,.{decimals}f}"
    if float(text.replace(",", "")) == 0:
        return text.removeprefix("-")
    return text.replace("-", "−") if value < 0 else f"+{text}" if sign else text


def interval_text(low: float | None, high: float | None, decimals: int = 4) -> str:
    """``[low, high]``, or nothing where there is no interval."""
    if not (known(low) and known(high)):
        return ""
    return f"[{value_text(low, decimals)}, {value_text(high, decimals)}]"


def spread_text(spread: float | None, decimals: int = 4) -> str:
    """``±0.0123``; nothing without a spread, or where it rounds to 0."""
    if spread is None or not isfinite(spread) or round(spread, decimals) == 0:
        return ""
    return f"±{value_text(spread, decimals)}"


def p_text(p: float | None) -> str:
    """``p = 0.012`` or ``p < 0.001``; a dash where no test could be made."""
    if p is None or not isfinite(p):
        return f"p {UNDEFINED}"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def percent_text(share: float) -> str:
    """A share in per cent, without needless decimals."""
    return f"{share * 100:.3g} %"


def seconds_text(seconds: float | None) -> str:
    """A time span in ms, s, min or h, three digits."""
    if seconds is None or not isfinite(seconds):
        return UNDEFINED
    return duration(seconds)


def size_text(mib: float | None) -> str:
    """Memory in MiB or GiB."""
    if mib is None or not isfinite(mib):
        return UNDEFINED
    return f"{mib:,.0f} MiB" if mib < 1024 else f"{mib / 1024:,.2f} GiB"


def joules_text(joules: float | None) -> str:
    """Energy in J or kJ."""
    if joules is None or not isfinite(joules):
        return UNDEFINED
    return f"{joules:,.3g} J" if joules < 1000 else f"{joules / 1000:,.3g} kJ"


def significant(value: float | None, digits: int = 5) -> float | None:
    """A number cut to some digits, so that charts carry no more than the eye can see."""
    if value is None or not isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def plain_text(value: object) -> str:
    """Any setting as a reader would write it: floats to four digits, lists with commas."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {plain_text(v)}" for name, v in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(plain_text(v) for v in value) or "none"
    return str(value)
