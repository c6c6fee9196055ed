"""Labels as text for people: a label must not break a line, a table or a terminal."""

from __future__ import annotations


def one_line(text: str) -> str:
    r"""Text with line breaks and control characters escaped as in Python, such as ``\n``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
