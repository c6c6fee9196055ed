"""Propensity: how likely an interaction is to be seen, from how often its user and item are."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log, log1p
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.data.filters.amounts import check_choice, check_count

Combine = Literal["published", "max", "product", "sum", "user", "item"]
COMBINE = ("published", "max", "product", "sum", "user", "item")
_LARGEST = 700.0
"""Of a power's logarithm: e^700 times the logarithm of a row count is a double still."""


@dataclass(frozen=True)
class Propensity:
    """Inverse propensities of users, items and pairs.

    Jain, Prabhu & Varma 2016, "Extreme multi-label loss functions", equation 2, as Sachdeva, Wu &
    McAuley 2022 take it over, with ``n_x`` the training rows of a user or item:

        1 / p_x = 1 + C (n_x + b)^-a,    C = (ln N - 1) (b + 1)^a

    Something seen once has ``ln N``. How well these constants, fitted to tags of Wikipedia, suit
    other data is doubtful (Schultheis, Wydmuch, Babbar & Dembczynski 2022): try several.

    Attributes:
        a: exponent, >= 0.
        b: offset, > -1.
        n: N, training rows if 0.
        combine: weight of a pair: ``max``, ``product`` or ``sum`` of the two inverses, or that of
            the ``user`` or ``item``. ``published`` is what the code does: the ``max`` for
            interactions, and for whole users the user's alone (for items the item's).
    """

    a: float = 0.55
    b: float = 1.5
    n: int = 0
    combine: Combine = "published"

    def __post_init__(self) -> None:
        if not (isfinite(self.a) and self.a >= 0):
            raise SpecError(f"propensity: a must be >= 0, got {self.a!r}")
        if not (isfinite(self.b) and self.b > -1):
            raise SpecError(f"propensity: b must be > -1, got {self.b!r}")
        if abs(self.a * log1p(self.b)) > _LARGEST:
            raise SpecError(
                f"propensity: (b + 1)^a must be a number between 1e-304 and 1e304, got a = "
                f"{self.a!r} and b = {self.b!r}; take a smaller a (the published one is 0.55)"
            )
        check_count("propensity", "n", self.n)
        check_choice("propensity", "combine", self.combine, COMBINE)
        if 0 < self.n < 3:
            raise SpecError(
                f"propensity: n must be 0 or at least 3, so that ln n > 1, got {self.n}"
            )

    def inverse(self, counts: NDArray[np.int64], rows: int) -> NDArray[np.float64]:
        """1 / p for users or items with so many rows each.

        Args:
            counts: ``[n]``.
            rows: training rows; below 3 all have 1.

        Example:
            >>> Propensity().inverse(np.array([1, 10, 1000]), rows=1000).round(6).tolist()
            [6.907755, 3.552147, 1.218742]
        """
        c = max(log(max(self.n or rows, 1)) - 1.0, 0.0) * (self.b + 1.0) ** self.a
        return np.asarray(1.0 + c * (np.maximum(counts, 0) + self.b) ** -self.a)

    def weights(self, train: Interactions, unit: str) -> NDArray[np.float64]:
        """Weight of each row ``[n]``, for samples of a unit: interaction, user or item."""
        of_user = self.inverse(train.user_counts, len(train))[train.users]
        of_item = self.inverse(train.item_counts, len(train))[train.items]
        how = self.combine
        if how == "published":
            how = {"interaction": "max", "user": "user", "item": "item"}[unit]  # type: ignore[assignment]
        if how == "max":
            return np.maximum(of_user, of_item)
        if how == "product":
            return np.asarray(of_user * of_item)
        if how == "sum":
            return np.asarray(of_user + of_item)
        return of_user if how == "user" else of_item
