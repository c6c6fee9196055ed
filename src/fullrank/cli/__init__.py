"""The command line: parse, call, print."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    from fullrank.cli._run import run

    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
