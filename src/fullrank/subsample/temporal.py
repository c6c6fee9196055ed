"""Temporal: the latest rows of every user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import NO_TIME, Interactions
from fullrank.subsample._draws import places_within_users, row_draws
from fullrank.subsample.stratified import Stratified


@dataclass(frozen=True)
class Temporal(Stratified):
    """Keep about the same share of each user's interactions, the latest ones.

    As ``Stratified``, but in order of time; rows of one time are in a drawn order. Where sizes are
    ``faithful`` each user loses the earliest ``ceil(q n_u)`` rows, as in the published code
    (``temporal``). Rows without a time are refused.
    """

    def _places(self, train: Interactions, seed: int) -> NDArray[np.int32]:
        """Place from the latest row of each user on."""
        times = _times(train)
        places = places_within_users(train, row_draws(train, seed, "Temporal"), times)
        return (train.user_counts[train.users] - 1 - places).astype(np.int32)


def _times(train: Interactions) -> NDArray[np.int64]:
    if train.times is None:
        raise DataError(
            "the strategy Temporal keeps the latest rows, and these data have no time column; name "
            'it (--columns timestamp=NAME; columns = { timestamp = "NAME" } under [data] of a '
            "file; columns={'timestamp': 'NAME'} in Python), or take Stratified"
        )
    missing = int(np.count_nonzero(train.times == NO_TIME))
    if missing:
        raise DataError(
            f"the strategy Temporal keeps the latest rows, and {missing:,} of {len(train):,} rows "
            "have no time; drop them by the filter drop_missing_time (--filter "
            "drop_missing_time={}, DropMissingTime() in Python), or take Stratified"
        )
    return train.times
