"""Run the application; every error becomes one message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from fullrank.core.errors import FullrankError

OK, FAILED, BAD_INPUT, BUG, STOPPED = 0, 1, 2, 3, 130


def run(arguments: Sequence[str]) -> int:
    """Run one command line.

    Returns:
        0 success; 1 a check that was asked for failed; 2 bad usage or input; 3 a bug of fullrank;
        130 stopped from the keyboard.
    """
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    from fullrank.cli._app import app

    try:
        result = app(args=list(arguments), prog_name="fullrank", standalone_mode=False)
        return result if isinstance(result, int) else OK
    except KeyboardInterrupt:
        say("stopped; what was finished is kept, and the same command goes on from there")
        return STOPPED
    except BrokenPipeError:  # the reader of our output has left (`| head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        if debug:
            raise
        return _explain(error)


def _explain(error: Exception) -> int:
    """Print one message and choose the exit code."""
    if isinstance(error, FullrankError):
        say(str(error))
        return BAD_INPUT
    if hasattr(error, "exit_code") and hasattr(error, "format_message"):  # a usage error
        say(f"{error.format_message()} (see fullrank --help)")
        return BAD_INPUT
    if hasattr(error, "exit_code"):  # typer.Exit
        return int(error.exit_code)
    if type(error).__name__ == "Abort":
        return STOPPED
    if isinstance(error, OSError):
        name = f" {error.filename}" if error.filename else ""
        say(f"can't use{name}: {error.strerror or error}")
        return BAD_INPUT
    if isinstance(error, MemoryError):
        say(f"out of memory: {error or 'the data do not fit'}; sample or filter them first")
        return BAD_INPUT
    say(
        f"this is a bug in fullrank, please report it: {type(error).__name__}: {error} "
        "(--debug shows where)"
    )
    return BUG


def say(message: str) -> None:
    """One line on stderr."""
    print(f"fullrank: {message}", file=sys.stderr)  # noqa: T201
