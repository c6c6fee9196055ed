"""Errors that say what was expected, what was found, where, and what to do.

FullrankError
├── DataError        (ValueError)   a file, frame or array that can't be used as it is
├── IdTypeError      (TypeError)    ids of two kinds that would never match
├── SpecError        (ValueError)   a setting, metric or benchmark file that can't be understood
├── SplitError       (ValueError)   a split that is empty, leaks or can't be made
├── ScoreError       (ValueError)   scores that can't be ranked
├── NotFittedError   (RuntimeError) a model used before ``fit``
├── ProtocolError    (ValueError)   numbers that are not comparable
├── TrainingError    (ArithmeticError) training that came to nothing: a loss that is no number
├── StoreError       (RuntimeError) a result folder that is damaged or of another version
└── TooLargeError    (MemoryError)  arrays that would not fit, with the figure
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class FullrankError(Exception):
    """Base of every error that fullrank raises on purpose."""


class DataError(FullrankError, ValueError):
    """A file, frame or array that can't be used as it is."""


class IdTypeError(FullrankError, TypeError):
    """Ids of two kinds (text and integers) that would never match."""


class SpecError(FullrankError, ValueError):
    """A setting, metric or benchmark file that can't be understood."""


class SplitError(FullrankError, ValueError):
    """A split that is empty, leaks, or can't be made from these data."""


class ScoreError(FullrankError, ValueError):
    """Scores that can't be ranked (NaN, +inf, wrong shape)."""


class NotFittedError(FullrankError, RuntimeError):
    """A model was asked for scores before ``fit``."""


class ProtocolError(FullrankError, ValueError):
    """Numbers measured under different protocols were put side by side."""


class EstimateError(FullrankError, ValueError):
    """Sampled ranks from which what was asked for can't be told."""


class TrainingError(FullrankError, ArithmeticError):
    """Training came to nothing: a loss that is no finite number."""


class StoreError(FullrankError, RuntimeError):
    """A result folder is damaged, foreign, or of another version."""


class TooLargeError(FullrankError, MemoryError):
    """An array that the job needs would not fit into memory."""


@contextmanager
def told(spot: str) -> Iterator[None]:
    """Put a place before the message of an error that was raised on purpose.

    Args:
        spot: such as ``"bench.toml line 7: "``; nothing changes if it is empty or the message
            names it already.
    """
    try:
        yield
    except FullrankError as error:
        if not spot or spot.rstrip(": ") in str(error):
            raise
        raise type(error)(f"{spot}{error}") from error


def suggest(name: str, options: Iterable[str], shown: Iterable[str] | None = None) -> str:
    """Return ``"; did you mean 'x'?"`` or the list of options, for the end of an error message.

    Args:
        name: what was written.
        options: what could have been.
        shown: what is listed if nothing is near, in place of all options.
    """
    options = list(options)
    close = nearest(name, options)
    if close is not None:
        return f"; did you mean {close!r}?"
    known = sorted(options if shown is None else shown, key=str.lower)
    return f"; known: {', '.join(known)}" if known else ""


def nearest(name: str, options: Iterable[str]) -> str | None:
    """The option that is spelt most alike, if any is near; case doesn't matter."""
    lower = {option.lower(): option for option in sorted(options)}
    close = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.6)
    return lower[close[0]] if close else None
