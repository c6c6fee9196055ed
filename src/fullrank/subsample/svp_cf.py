"""SVPCF: the interactions, users or items that a proxy found hardest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.data.filters.amounts import check_choice
from fullrank.subsample._base import Order
from fullrank.subsample._by_importance import ByImportance
from fullrank.subsample._draws import Side, codes_of, counts_of, row_draws
from fullrank.subsample._importance import SCENARIOS, Importance, Scenario
from fullrank.subsample._proxy import proxy_model
from fullrank.subsample._units import drop_from_the_end, ranked_units

Unit = Literal["interaction", "user", "item"]
Direction = Literal["hardest", "easiest"]
UNITS = ("interaction", "user", "item")


@dataclass(frozen=True)
class SVPCF(ByImportance):
    """Keep what a cheap proxy found hardest: selection via proxy for collaborative filtering.

    Sachdeva, Wu & McAuley 2022, "On sampling collaborative filtering datasets", section 4. The
    importance of an interaction is the proxy's mean error over its epochs (see ``importance``);
    that of a user or item is the mean over its interactions. Equal ones are in a drawn order.
    Hardest-first selection keeps noise, and at small sizes it may fall behind a random sample:
    compare ``ScoreStratified``.

    Where sizes are ``faithful``, importance is estimated by one negative a row and epoch, the
    ``floor(q |T|)`` easiest interactions go, and users go whole until ``q |T|`` rows are gone.

    Attributes:
        proxy: ``mf``, ``bias_only``, or any model, such as ``EASE(reg=300)``.
        unit: ``interaction``, ``user`` or ``item`` (the last is not in the published code).
        scenario: ``implicit`` (ranking errors) or ``explicit`` (squared errors of ratings).
        direction: ``hardest`` or ``easiest`` are kept.
        importance: file that ``Importance.save`` wrote, in place of fitting a proxy.
    """

    published: ClassVar[bool] = True

    proxy: str = "mf"
    unit: Unit = "interaction"
    scenario: Scenario = "implicit"
    direction: Direction = "hardest"
    importance: str = ""

    def __post_init__(self) -> None:
        check_choice(self.name, "unit", self.unit, UNITS)
        check_choice(self.name, "scenario", self.scenario, SCENARIOS)
        check_choice(self.name, "direction", self.direction, ("hardest", "easiest"))
        proxy_model(self.proxy, self.scenario)

    def order_by(self, train: Interactions, found: Importance, seed: int) -> Order:
        """See ``ByImportance.order_by``."""
        return Order(self.keys(train, found.values, seed), found.about, found)

    def keys(
        self, train: Interactions, values: NDArray[np.float64], seed: int
    ) -> NDArray[np.int64]:
        """Keys of the rows by their importance: int64 ``[n]``, smaller ones are kept first."""
        wanted = self.weigh(train, values) * (-1.0 if self.direction == "hardest" else 1.0)
        if self.unit == "interaction":
            draws = row_draws(train, seed, "SVPCF")
            out = np.empty(len(train), np.int64)
            out[np.lexsort((draws, wanted))] = np.arange(len(train))
            return out
        side: Side = "users" if self.unit == "user" else "items"
        sums = np.bincount(codes_of(train, side), wanted, len(counts_of(train, side)))
        return ranked_units(train, side, sums / np.maximum(counts_of(train, side), 1), seed)

    def weigh(self, train: Interactions, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Importance of each row as it is compared: here as it is."""
        return values

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``Sampler.as_published``."""
        return self.published_by(train, self.learn(train, seed, "faithful"), removed, seed)

    def published_by(
        self, train: Interactions, found: Importance, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``ByImportance.published_by``."""
        keys = self.keys(train, found.values, seed)
        if self.unit == "interaction":
            return keys < len(train) - floor(removed * len(train)), found.about
        return drop_from_the_end(keys, removed), found.about

    @property
    def units(self) -> str:
        """See ``Sampler.units``."""
        return f"{self.unit}s"
