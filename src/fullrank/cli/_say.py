"""Exit codes, and one line on stderr."""

from __future__ import annotations

import sys

from fullrank.core.text import one_line

OK, FAILED, BAD_INPUT, BUG, STOPPED = 0, 1, 2, 3, 130


def say(message: str) -> None:
    """One line on stderr, even if an id or a name in it holds a line break."""
    print(f"fullrank: {one_line(' '.join(message.splitlines()))}", file=sys.stderr)  # noqa: T201
