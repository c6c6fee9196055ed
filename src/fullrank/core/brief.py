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
