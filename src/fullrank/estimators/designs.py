"""Adaptive designs: whom to draw more candidates for, by what was found so far.

All keep their draws, and none looks at more than the hits so far and coins: the likelihood of a
sampled rank is then that of a fixed size, and the fits take these samples as they are. Sizes count
the target, as in the papers: a first size of 100 is 99 candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.text import quoted
from fullrank.negatives import Negatives, Uniform
from fullrank.rank import Adaptive

_SCREEN = 1  # hits that a target may have to go on below the size of 100
_FULL = 100
_MOST = np.iinfo(np.int32).max


@dataclass(frozen=True, kw_only=True)
class Doubling(Adaptive):
    """Twice as many while no candidate precedes the target (Jin et al. 2023), as published.

    Attributes:
        first: size of the first sample.
        n_max: largest size; the default of the paper. About an eighth of the catalogue is usual.
        replacement: the papers draw with replacement; without is better, and exact at the end.
    """

    first: int = 100
    n_max: int = 3200
    replacement: bool = False

    def __post_init__(self) -> None:
        _whole("Doubling: first", self.first, 2)
        _whole("Doubling: n_max", self.n_max, self.first)

    @property
    def negatives(self) -> Negatives:
        """Uniform draws."""
        return Uniform(m=self.first - 1, replacement=self.replacement)

    def more(
        self,
        stage: int,
        drawn: NDArray[np.int64],
        hits: NDArray[np.int64],
        pool: NDArray[np.int64],
        coins: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """Double while the rank is 1 and the size stays within ``n_max``."""
        size = drawn + 1
        return np.where((hits == 0) & (2 * size <= self.n_max), 2 * size - 1, drawn)


@dataclass(frozen=True, kw_only=True)
class Screened(Adaptive):
    """25 first, 50 and 100 with at most one hit, then twice as many while there is none.

    Hopeless targets cost 25 candidates: where they stand is of no consequence for the head. The
    ceiling is a share of the catalogue; nobody is ranked in full.

    Attributes:
        first: size of the first sample.
        ceiling: largest size, as a share of the catalogue.
    """

    first: int = 25
    ceiling: float = 1 / 8

    keep = 1.0

    def __post_init__(self) -> None:
        name = type(self).__name__
        _whole(f"{name}: first", self.first, 2)
        share(f"{name}: ceiling", self.ceiling, "a share of the catalogue, above 0 and up to 1")

    @property
    def negatives(self) -> Negatives:
        """Uniform draws without replacement: the whole catalogue is exact."""
        return Uniform(m=self.first - 1)

    def more(
        self,
        stage: int,
        drawn: NDArray[np.int64],
        hits: NDArray[np.int64],
        pool: NDArray[np.int64],
        coins: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """Go on below 100 with at most one hit, above with none and by the coin."""
        size, top = drawn + 1, np.maximum((pool + 1) * self.ceiling, self.first).astype(np.int64)
        small = size < _FULL
        on = np.where(small, hits <= _SCREEN, (hits == 0) & (coins < self.keep))
        return np.where(on & (size < top), np.minimum(2 * size, top) - 1, drawn)


@dataclass(frozen=True, kw_only=True)
class Thinned(Screened):
    """As ``Screened``, to the whole catalogue, each target going on by a coin: the default.

    The few that are ranked in full tell the shape of the head that no sample of a fixed size can
    see, so that intervals cover, a point mass at rank 1 included.

    Attributes:
        first: size of the first sample.
        ceiling: largest size, as a share of the catalogue.
        keep: probability of going on at each stage from 100.
    """

    ceiling: float = 1.0
    keep: float = 0.7

    def __post_init__(self) -> None:
        super().__post_init__()
        share(f"{type(self).__name__}: keep", self.keep, "a probability above 0")


@dataclass(frozen=True, kw_only=True)
class Unthinned(Screened):
    """As ``Screened``, to the whole catalogue for every target without a hit.

    Rank 1 is then known exactly: the most accurate, and the most expensive.
    """

    ceiling: float = 1.0


def _whole(what: str, value: Any, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= value <= _MOST:
        raise SpecError(f"{what} must be a whole number >= {least} and < 2^31, got {quoted(value)}")


def share(what: str, value: Any, expected: str) -> None:
    """Refuse what is no number above 0 and up to 1.

    Raises:
        SpecError: says what was expected.
    """
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0.0 < value <= 1.0:
        raise SpecError(f"{what} must be {expected}, got {value!r}")
