"""From an order to a sample: the first rows of it, cut exactly or between two units."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample._draws import row_draws


def as_fraction(keep: float) -> Fraction:
    """A share read as the decimal that it is written as, so that 0.1 is a tenth."""
    return Fraction(str(float(keep)))


def asked_rows(n: int, keep: Fraction) -> int:
    """Rows of a sample: all but ``floor((1 - keep) n)``."""
    return n - floor((1 - keep) * n)


def first_rows(keys: NDArray[Any], rows: int, train: Interactions, seed: int) -> NDArray[np.bool_]:
    """Exactly ``rows`` rows of the smallest keys: bool ``[n]``; the last unit is trimmed at random.

    Args:
        keys: ``[n]``.
        rows: 1 to n.
        train: the rows, for the draws that trim.
        seed: of these.
    """
    bound = np.partition(keys, rows - 1)[rows - 1]
    keep = keys < bound
    unit = np.flatnonzero(keys == bound)
    missing = rows - int(np.count_nonzero(keep))
    if missing < len(unit):
        draws = row_draws(train, seed, "trim")[unit]
        unit = unit[np.argsort(draws, kind="stable")[:missing]]
    keep[unit] = True
    return np.asarray(keep)


def whole_units(keys: NDArray[Any], rows: int, *, nearest: bool = False) -> NDArray[np.bool_]:
    """The first units that have at most ``rows`` rows together: bool ``[n]``, maybe none.

    Args:
        keys: ``[n]``.
        rows: 1 to n.
        nearest: take the next unit as well if that brings the size nearer to ``rows``, or if there
            would be none.
    """
    bound = np.partition(keys, rows - 1)[rows - 1]
    below, upto = keys < bound, keys <= bound
    fewer, more = int(np.count_nonzero(below)), int(np.count_nonzero(upto))
    takes = more == rows or (nearest and (not fewer or more - rows < rows - fewer))
    return np.asarray(upto if takes else below)
