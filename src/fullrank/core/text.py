"""Labels as text for people: a label must not break a line, a table or a terminal."""

from __future__ import annotations

from typing import Any

LONGEST = 60
"""Signs of a quoted value in a message; the rest of a longer one says nothing more."""


def quoted(value: Any) -> str:
    """A value of a table as Python writes it, cut where it is too long for a message."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]}…{text[-1]}"


def one_line(text: str) -> str:
    r"""Text with line breaks and control characters escaped as in Python, such as ``\n``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
