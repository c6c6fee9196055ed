"""Run the application; every error becomes one message and an exit code."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from fullrank.cli._say import BAD_INPUT, BUG, OK, STOPPED, say
from fullrank.core.errors import FullrankError, nearest

_KEEPING = ("run", "demo", "psi")
"""Commands that keep what they have finished."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line.

    Returns:
        0 success; 1 a check that was asked for failed; 2 bad usage or input; 3 a bug of fullrank;
        130 stopped from the keyboard.
    """
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        result = _parser()(args=list(arguments), prog_name="fullrank", standalone_mode=False)
        sys.stdout.flush()
        if result == STOPPED:  # what Typer makes of Ctrl-C
            raise KeyboardInterrupt
        return result if isinstance(result, int) else OK
    except SystemExit:  # what Typer makes of a broken pipe
        return _pipe_closed()
    except BrokenPipeError:
        return _pipe_closed()
    except (KeyboardInterrupt, Exception) as error:
        if debug and not _is_stop(error):
            raise
        return _explain(error, keeps=bool(set(arguments[:1]) & set(_KEEPING)))


@lru_cache(maxsize=1)
def _parser() -> Any:
    """What parses a command line and calls its command.

    Made once a process: Typer reads the signatures of all commands for it, which takes longer than
    most refusals of bad input.
    """
    from typer.main import get_command

    from fullrank.cli._app import app

    return get_command(app)


def _pipe_closed() -> int:
    """The reader of our output has left (``| head``): no error, and nothing more to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _is_stop(error: BaseException) -> bool:
    """True for Ctrl-C, which older versions of Typer turn into Abort."""
    return isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort"


def _explain(error: BaseException, *, keeps: bool) -> int:
    """Print one message and choose the exit code; ``keeps``: the command resumes."""
    if _is_stop(error):
        kept = "finished trials and cells are kept, and the same command goes on from there"
        say(f"stopped; {kept if keeps else 'nothing was written'}")
        return STOPPED
    if isinstance(error, FullrankError):
        say(str(error))
        return BAD_INPUT
    if hasattr(error, "exit_code") and hasattr(error, "format_message"):  # a usage error
        say(f"{_usage(error.format_message())} (see fullrank --help)")
        return BAD_INPUT
    if hasattr(error, "exit_code"):  # typer.Exit
        return int(error.exit_code)
    if (system := _system_error(error)) is not None:
        name = f" {system.filename}" if system.filename else " a file"
        full = system.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "make room and" if full else "check the path and its permissions, then"
        say(f"can't use{name}: {system.strerror or system}; {what} give the command again")
        return BAD_INPUT
    if isinstance(error, MemoryError):
        say(f"out of memory: {error or 'the data do not fit'}; sample or filter them first")
        return BAD_INPUT
    say(
        f"this is a bug in fullrank, please report it: {type(error).__name__}: {error} "
        "(--debug shows where)"
    )
    return BUG


def _system_error(error: BaseException) -> OSError | None:
    """The error of the operating system that this is, or that Polars tells in words of its own."""
    if isinstance(error, OSError):
        return error
    if type(error).__module__.startswith("polars"):
        found = re.search(r"\(os error (\d+)\)", str(error))
        if found:
            return OSError(int(found[1]), os.strerror(int(found[1])))
    return None


def _usage(text: str) -> str:
    """The message of a usage error without Python's words, and with the nearest choice."""
    text = " ".join(text.replace("Value error, ", "").split())
    found = re.search(r"('[^']*') is not one of ('.*')", text)
    close = nearest(found[1].strip("'"), re.findall(r"'([^']*)'", found[2])) if found else None
    return text if close is None else f"{text.rstrip('.')}; did you mean {close!r}?"
