"""Stratified: the same share of every user's rows, at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._draws import evenly, places_within_users, row_draws


@dataclass(frozen=True)
class Stratified(Sampler):
    """Keep about the same share of each user's interactions, drawn at random.

    Of ``n_u`` rows a user keeps ``p n_u`` rounded up or down, by an offset that is drawn once for
    each user, so that the sample has the size asked for and each row is in it with chance p.

    Where sizes are ``faithful`` the published code's rule stands (``freq_user_rns``): of each
    user ``ceil(q n_u)`` rows are removed, so that short histories lose nearly everything, and
    the sample is far smaller than asked.
    """

    published: ClassVar[bool] = True

    def order(self, train: Interactions, seed: int, rows: int) -> Order:
        """See ``Sampler.order``."""
        return Order(evenly(train, self._places(train, seed), seed))

    def as_published(
        self, train: Interactions, removed: Fraction, seed: int
    ) -> tuple[NDArray[np.bool_], Mapping[str, Any]]:
        """See ``Sampler.as_published``."""
        return first_of_users(train, self._places(train, seed), removed), {}

    def _places(self, train: Interactions, seed: int) -> NDArray[np.int32]:
        """Place of each row within its user, from 0, in the order in which they are kept."""
        return places_within_users(train, row_draws(train, seed, "Stratified"))


def first_of_users(
    train: Interactions, places: NDArray[np.int32], removed: Fraction
) -> NDArray[np.bool_]:
    """The first ``n_u - ceil(removed n_u)`` rows of each user, by place: bool ``[n]``."""
    above = -(-removed.numerator * train.user_counts // removed.denominator)
    return np.asarray(places < (train.user_counts - above)[train.users])
