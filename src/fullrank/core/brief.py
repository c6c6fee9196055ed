"""What a value looks like when it is printed: a line that says how much of what it holds."""

from __future__ import annotations


def brief(value: object, *parts: str | None) -> str:
    """``Name(part, part)``; parts that are None or empty are left out."""
    return f"{type(value).__name__}({', '.join(part for part in parts if part)})"


def count(n: int, one: str, many: str | None = None) -> str:
    """Number and noun.

    Example:
        >>> count(1, "row"), count(1200, "row"), count(2, "query", "queries")
        ('1 row', '1,200 rows', '2 queries')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """A time span in ms, s, min or h, three digits.

    Example:
        >>> duration(0.0123), duration(90), duration(600), duration(9000)
        ('12.3 ms', '90 s', '10 min', '2.5 h')
    """
    for limit, size, unit in ((1, 1e-3, "ms"), (120, 1, "s"), (7200, 60, "min")):
        if seconds < limit:
            return f"{seconds / size:.3g} {unit}"
    hours = seconds / 3600
    return f"{hours:,.0f} h" if hours >= 1000 else f"{hours:.3g} h"
