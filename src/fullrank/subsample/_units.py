"""Whole users and items: in which order they are kept, and how the published code drops them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Sampler
from fullrank.subsample._draws import Side, codes_of, side_draws


def ranked_units(
    train: Interactions, side: Side, scores: NDArray[Any], seed: int
) -> NDArray[np.int64]:
    """Keys ``[n]`` that keep users or items by ascending score, equal ones in a drawn order."""
    draws = side_draws(train, side, seed, "ties")
    places = np.empty(len(scores), np.int64)
    places[np.lexsort((draws, scores))] = np.arange(len(scores))
    return np.asarray(places[codes_of(train, side)])


def drop_from_the_end(keys: NDArray[Any], removed: Fraction) -> NDArray[np.bool_]:
    """Drop units of the largest keys, whole, until the removed rows reach the share asked for.

    Returns:
        bool ``[n]``: the rows that stay; the unit that reaches the share goes too.
    """
    least = ceil(removed * len(keys))
    ordered = np.sort(keys)
    bound = ordered[len(keys) - least] if least > 0 else None
    return np.ones(len(keys), bool) if bound is None else np.asarray(keys < bound)


@dataclass(frozen=True)
class WholeUsers(Sampler):
    """Base of the strategies that keep users with all their rows, and that the code has too."""

    published: ClassVar[bool] = True

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``Sampler.as_published``."""
        return drop_from_the_end(self.order(train, seed, len(train)).keys, removed), {}

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return "users"
