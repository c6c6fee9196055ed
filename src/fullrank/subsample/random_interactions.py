"""RandomInteractions: a random sample of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._draws import row_draws
from fullrank.subsample._select import asked_rows, first_rows


@dataclass(frozen=True)
class RandomInteractions(Sampler):
    """Keep a simple random sample of the interactions.

    Each row's draw is a hash of seed, user, item and number of earlier rows of the pair; the rows
    with the smallest draws stay. What remains of a user with few rows is often nothing: the
    manifest counts such cold users.

    The published code (``interaction_rns``) shuffles the rows and removes the first
    ``floor(q |T|)``: the same distribution and the same size.
    """

    published: ClassVar[bool] = True

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return Order(row_draws(train, seed, "RandomInteractions"))

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``Sampler.as_published``."""
        rows = asked_rows(len(train), 1 - removed)
        return first_rows(self.order(train, seed, rows).keys, rows, train, seed), {}
